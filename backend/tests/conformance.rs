//! What every engine does alike: each behaviour is written once and runs against all of them.
//!
//! What differs from one to the next is in the table of dialects in `engines`; what only one of them does is in that engine's own tests.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "conformance/ends.rs"]
mod ends;
#[path = "conformance/engines.rs"]
mod engines;
#[path = "conformance/pages.rs"]
mod pages;
#[path = "conformance/statements.rs"]
mod statements;
#[path = "conformance/values.rs"]
mod values;

/// A test for each behaviour, in a module for each engine.
macro_rules! on_every_engine {
    ($($group:ident: $($behaviour:ident),+;)+) => {
        on_every_engine!(@engine sqlite $($group $($behaviour)+;)+);
        on_every_engine!(@engine postgres $($group $($behaviour)+;)+);
        on_every_engine!(@engine mariadb $($group $($behaviour)+;)+);
        on_every_engine!(@engine duckdb $($group $($behaviour)+;)+);
    };
    (@engine $engine:ident $($group:ident $($behaviour:ident)+;)+) => {
        mod $engine {
            $($(
                #[tokio::test]
                async fn $behaviour() {
                    for subject in crate::engines::$engine() {
                        crate::$group::$behaviour(&subject).await;
                    }
                }
            )+)+
        }
    };
}

on_every_engine! {
    values:
        names_may_repeat_and_are_kept,
        null_and_the_empty_text_differ,
        integers_keep_their_64_bits,
        decimals_keep_every_digit_and_zero,
        floats_read_back_as_they_were_and_are_no_longer_than_that_needs,
        text_of_every_script_and_length_is_itself,
        every_byte_is_itself,
        parameters_are_values_and_never_text;
    pages:
        pages_add_up_to_the_whole_in_order,
        a_page_is_full_or_the_last_and_exactly_a_page_has_no_more,
        a_page_ends_at_its_bytes_and_has_a_row,
        metadata_is_the_same_in_every_page,
        an_empty_result_has_its_columns,
        an_endless_result_is_read_only_as_far_as_asked,
        a_limit_in_the_text_is_kept;
    statements:
        rows_that_changed_are_counted,
        a_transaction_is_told_from_its_beginning_to_its_end,
        comments_and_a_semicolon_at_the_end_do_no_harm,
        an_empty_statement_is_done,
        a_second_statement_is_refused_and_the_first_has_no_effect,
        a_reset_undoes_what_was_left;
    ends:
        an_error_leaves_the_session_usable,
        an_error_behind_the_first_page_comes_with_its_page,
        an_endless_statement_is_cancelled_and_the_session_takes_the_next,
        a_cancel_where_nothing_runs_harms_nothing,
        a_cancel_while_rows_wait_meets_nothing_else,
        a_result_is_given_up_half_way;
}
