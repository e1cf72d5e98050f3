//! What kind of statement a text is, by its first word: as much as the engine must know beforehand.
//!
//! Invariant: it is asked only where the server itself does not say. Read-only connections rest on the server's read-only
//! transaction; refused here are the forms that could end that transaction within themselves and go on (MariaDB's compound
//! statements, CALL, EXECUTE), what hides its first word, and what that transaction does not hold (settings of the server,
//! ANALYZE TABLE). A comment that runs is a part of the statement, and every word in it counts. Start at [`check_read_only`].

use shared::problem::{ErrorCode, Problem};

/// Statements that read, in a form that may be stopped half way without undoing anything.
const READS: [&str; 11] = ["select", "with", "values", "table", "show", "describe", "desc", "explain", "analyze", "help", "checksum"];
/// Statements whose count of changed rows is told even where it is 0.
const CHANGES: [&str; 5] = ["insert", "update", "delete", "replace", "load"];
/// Statements that hold to the transaction they begin in: they read, or the server refuses them in a read-only one.
const SIMPLE: [&str; 17] = [
    "alter", "commit", "create", "delete", "do", "drop", "grant", "insert", "load", "rename", "replace", "revoke", "rollback", "set",
    "truncate", "update", "use",
];

/// Statements that run others.
const RUNS_OTHERS: [&str; 9] = ["call", "execute", "begin", "if", "case", "loop", "while", "repeat", "for"];

/// The first word, in lower case. `None` where the text begins with anything else, a comment that the server executes among it.
pub fn first_word(sql: &str) -> Option<String> {
    let rest = skip(sql);
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    rest.get(..end).filter(|word| !word.is_empty()).map(str::to_ascii_lowercase)
}

/// White space, comments and opening parentheses, as many as there are.
fn skip(sql: &str) -> &str {
    let mut rest = sql;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '(');
        let after = if rest.starts_with('#') || is_dash_comment(rest) {
            rest.find('\n').and_then(|end| rest.get(end..))
        } else if rest.starts_with("/*") && !rest.starts_with("/*!") && !rest.starts_with("/*M!") {
            rest.find("*/").and_then(|end| rest.get(end + 2..))
        } else {
            return rest;
        };
        match after {
            Some(after) => rest = after,
            None => return "",
        }
    }
}

/// There is nothing but blanks, comments and semicolons.
pub fn is_empty(sql: &str) -> bool {
    let mut rest = skip(sql);
    while let Some(after) = rest.strip_prefix(';') {
        rest = skip(after);
    }
    rest.is_empty()
}

fn is_dash_comment(text: &str) -> bool {
    text.strip_prefix("--").is_some_and(|rest| rest.chars().next().is_none_or(|c| c.is_ascii_whitespace() || c.is_ascii_control()))
}

/// The statement only reads: its rest can be given up by stopping it.
pub fn only_reads(sql: &str) -> bool {
    first_word(sql).is_some_and(|word| READS.contains(&word.as_str()))
}

/// The statement changes rows.
pub fn changes_rows(sql: &str) -> bool {
    first_word(sql).is_some_and(|word| CHANGES.contains(&word.as_str()))
}

/// The statement runs others, and may so give several results.
pub fn runs_others(sql: &str) -> bool {
    match first_word(sql).as_deref() {
        Some("set") => second_word(sql).as_deref() == Some("statement"),
        Some(word) => RUNS_OTHERS.contains(&word),
        // What the server executes of a comment is not looked into.
        None => !is_empty(sql),
    }
}

/// Refuses what the server's read-only transaction does not hold.
pub fn check_read_only(sql: &str) -> Result<(), Problem> {
    let first = first_word(sql);
    let (shown, why) = match first.as_deref() {
        Some("set") => match never_set(sql) {
            Some(word) => (format!("SET {word}"), UNHELD),
            None => return Ok(()),
        },
        Some("analyze") if words(sql).any(|word| matches!(word.as_str(), "table" | "tables")) => ("ANALYZE TABLE".to_owned(), UNHELD),
        Some(word) if READS.contains(&word) || SIMPLE.contains(&word) => return Ok(()),
        None if skip(sql).is_empty() || skip(sql).starts_with(';') => return Ok(()),
        Some(word) => (word.to_ascii_uppercase(), LEAVES),
        None => ("a statement that begins so".to_owned(), LEAVES),
    };
    Err(Problem::new(ErrorCode::Rejected, format!("This connection is read-only: {shown} is not sent, since {why}")))
}

const LEAVES: &str = "it could leave the read-only transaction by itself";
const UNHELD: &str = "the server's read-only transaction does not hold it";

/// What a SET never has on a read-only connection: it runs another statement, is about the server or about an account.
fn never_set(sql: &str) -> Option<&'static str> {
    let has = |wanted: &str| words(sql).any(|word| word == wanted);
    let is_of_account = || has("default") && has("role");
    let found = ["STATEMENT", "GLOBAL", "PERSIST", "PERSIST_ONLY", "PASSWORD"].into_iter().find(|word| has(&word.to_ascii_lowercase()));
    found.or_else(|| is_of_account().then_some("DEFAULT ROLE"))
}

/// Every word of a text, in lower case, wherever it stands: what looks like a comment may run, and nobody but the server knows.
/// Digits in front are the version of such a comment.
fn words(sql: &str) -> impl Iterator<Item = String> {
    let apart = sql.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '$');
    apart.map(|word| word.trim_start_matches(|c: char| c.is_ascii_digit()).to_ascii_lowercase()).filter(|word| !word.is_empty())
}

fn second_word(sql: &str) -> Option<String> {
    let rest = skip(sql);
    let after = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    first_word(rest.get(after..)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_is_found_behind_comments_and_never_inside_one_that_runs() {
        for (sql, word) in [
            ("select 1", Some("select")),
            ("# it's\n-- x\n/* call */ ( SELECT 1)", Some("select")),
            ("--1", None),
            ("--\tx\nshow tables", Some("show")),
            ("/*! call p() */", None),
            ("/*M!100000 begin not atomic */", None),
            ("/* open", None),
            ("", None),
        ] {
            assert_eq!(first_word(sql).as_deref(), word, "{sql}");
        }
    }

    #[test]
    fn a_text_without_a_statement_is_known() {
        for sql in ["", " \n", ";", " ; ;; ", "-- x", "# x\n;", "/* ; */ ; -- y"] {
            assert!(is_empty(sql), "{sql}");
        }
        for sql in ["select 1", ";select 1", "/*! call p() */", "prepare s from ''"] {
            assert!(!is_empty(sql), "{sql}");
        }
    }

    #[test]
    fn what_runs_others_may_give_several_results() {
        for sql in
            ["call p()", "EXECUTE s", "begin not atomic select 1; select 2; end", "set statement a = 1 for call p()", "/*!call p()*/"]
        {
            assert!(runs_others(sql), "{sql}");
        }
        for sql in ["select 1", "insert into t values (1) returning n", "set @a = 1", "", "-- call p()", "show tables"] {
            assert!(!runs_others(sql), "{sql}");
        }
    }

    #[test]
    fn what_could_leave_a_read_only_transaction_is_refused() {
        for sql in [
            "begin not atomic commit; insert into t values (1); end",
            "call p()",
            "execute immediate 'call p()'",
            "set statement max_statement_time=1 for call p()",
            "set/**/statement max_statement_time=1 for call p()",
            "set /*!statement*/ max_statement_time=1 for call p()",
            "set /*!50000statement*/ max_statement_time=1 for call p()",
            "set /*M!100000 statement max_statement_time=1 for*/ call p()",
            "set @a = 1, global max_connections = 1",
            "set @@GLOBAL.max_connections = 1",
            "set persist_only max_connections = 1",
            "set password = password('x')",
            "set default /* my */ role r",
            "analyze local table t",
            "analyze /*!50000table*/ t",
            "if 1 then call p(); end if",
            "/*!call p()*/",
            "l: begin end",
        ] {
            assert!(check_read_only(sql).is_err(), "{sql}");
        }
        for sql in [
            "select 1",
            "with a as (select 1) select * from a",
            "insert into t values (1)",
            "set @a = 1",
            "set role r",
            "set session sql_mode = default, max_statement_time = 1",
            "analyze format = json select 1",
            "",
            "-- only words",
            ";",
        ] {
            assert!(check_read_only(sql).is_ok(), "{sql}");
        }
    }
}
