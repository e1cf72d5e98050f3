//! How far the server may run ahead of the reader, by the statement's text alone.
//!
//! Under a row limit PostgreSQL uses no parallel workers, and without one it sends all it has. So a text that may have a parallel plan is
//! executed without a limit where that costs nothing: its rows are few, or it is a mere query whose rest can be given up by a cancel.
//! Invariant: a guess decides about speed and bytes, never about what a statement does. A text with a call that is not in [`HARMLESS`] keeps
//! its row limit, because a cancel would undo what that call did, and is asked about before its rest is given up; what acts unseen is undone, whichever way the
//! statement goes ([`super::effects`]). Figures: docs/decisions/0003-postgres-portal.md.

use shared::sql::{Token, TokenKind, dialect, lex};
use shared::wire::connection::EngineKind;

/// How a statement is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// With a row limit: it waits for the next demand on the server.
    Paged,
    /// Without, since its text says that it has a page of rows at most.
    Few,
    /// Without; what was not asked for waits in the link, and is cancelled if nobody wants it.
    Streamed,
    /// It gives no rows: nothing is waited for before its end.
    Silent,
}

/// How far one Execute goes, and what ends the statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// To a row limit; the portal waits, and a Sync ends it.
    Page,
    /// To the last row; what is not asked for waits in the link. A Sync ends it.
    End,
    /// To the last row, with the Sync right behind it.
    EndAndSync,
}

/// How far the Execute of `sql` goes. In a transaction of the user's nothing is cancelled, since that would end it.
pub fn reach_of(sql: &str, rows: usize, pooled: bool, read_only: bool, in_transaction: bool) -> Reach {
    match way_of(sql, rows) {
        _ if pooled && !in_transaction => Reach::EndAndSync,
        Way::Few => Reach::EndAndSync,
        // How a read-only connection ends one that sets something depends on how it went.
        Way::Silent if !read_only => Reach::EndAndSync,
        Way::Streamed if !in_transaction => Reach::End,
        Way::Streamed | Way::Paged | Way::Silent => Reach::Page,
    }
}

/// Aggregates: without GROUP BY, they make one row of many.
const AGGREGATES: [&str; 36] = [
    "any_value",
    "array_agg",
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "bool_and",
    "bool_or",
    "corr",
    "count",
    "covar_pop",
    "covar_samp",
    "every",
    "json_agg",
    "json_object_agg",
    "jsonb_agg",
    "jsonb_object_agg",
    "max",
    "min",
    "mode",
    "percentile_cont",
    "percentile_disc",
    "range_agg",
    "regr_avgx",
    "regr_avgy",
    "regr_count",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "string_agg",
    "sum",
    "var_pop",
    "variance",
];

/// What may stand before a parenthesis and changes nothing: words of the language, types with a length, and functions that only compute.
const HARMLESS: [&str; 115] = [
    "abs",
    "age",
    "all",
    "and",
    "any",
    "array",
    "array_length",
    "as",
    "between",
    "bit",
    "btrim",
    "by",
    "case",
    "cast",
    "ceil",
    "ceiling",
    "char",
    "char_length",
    "character",
    "coalesce",
    "concat",
    "concat_ws",
    "cube",
    "date",
    "date_bin",
    "date_part",
    "date_trunc",
    "decimal",
    "dense_rank",
    "distinct",
    "else",
    "except",
    "exists",
    "exp",
    "extract",
    "filter",
    "first_value",
    "floor",
    "format",
    "from",
    "generate_series",
    "greatest",
    "group",
    "grouping",
    "having",
    "ilike",
    "in",
    "initcap",
    "intersect",
    "interval",
    "is",
    "join",
    "lag",
    "last_value",
    "lateral",
    "lead",
    "least",
    "left",
    "length",
    "like",
    "limit",
    "ln",
    "log",
    "lower",
    "lpad",
    "ltrim",
    "make_date",
    "materialized",
    "md5",
    "mod",
    "not",
    "now",
    "ntile",
    "nullif",
    "numeric",
    "octet_length",
    "offset",
    "on",
    "or",
    "over",
    "position",
    "power",
    "random",
    "rank",
    "regexp_replace",
    "repeat",
    "replace",
    "reverse",
    "right",
    "rollup",
    "round",
    "row",
    "row_number",
    "rpad",
    "rtrim",
    "select",
    "sets",
    "sign",
    "some",
    "split_part",
    "sqrt",
    "strpos",
    "substr",
    "substring",
    "then",
    "time",
    "timestamp",
    "to_char",
    "to_date",
    "translate",
    "trim",
    "trunc",
    "union",
    "upper",
    "using",
];

/// The same, of the rest of the alphabet.
const HARMLESS_TOO: [&str; 8] = ["unnest", "values", "varchar", "when", "where", "width_bucket", "within", "to_timestamp"];

/// A plan with one of these may be worth workers; one without never is, since every row would pass through the leader.
const WORTH_WORKERS: [&str; 9] = ["where", "group", "having", "distinct", "join", "order", "union", "intersect", "except"];

/// A query has more rows than its text has SELECTs only where one of these is in it.
const SOURCES: [&str; 5] = ["from", "values", "table", "generate_series", "unnest"];

/// The statement changes, locks or keeps something.
const NO_QUERY: [&str; 5] = ["insert", "update", "delete", "merge", "into"];

/// What begins so changes rows, and gives some only with RETURNING.
const CHANGES: [&str; 4] = ["insert", "update", "delete", "merge"];
/// What begins so gives no rows. Not CALL, EXECUTE, EXPLAIN, FETCH and SHOW, which may; not COPY, which asks for data or sends it.
const SILENT: [&str; 32] = [
    "abort",
    "alter",
    "analyze",
    "begin",
    "checkpoint",
    "close",
    "cluster",
    "comment",
    "commit",
    "create",
    "deallocate",
    "discard",
    "do",
    "drop",
    "end",
    "grant",
    "listen",
    "lock",
    "notify",
    "reassign",
    "refresh",
    "reindex",
    "release",
    "reset",
    "revoke",
    "rollback",
    "savepoint",
    "security",
    "set",
    "start",
    "truncate",
    "vacuum",
];

fn is_harmless(word: &str) -> bool {
    HARMLESS.contains(&word) || HARMLESS_TOO.contains(&word)
}

/// How to execute `sql`, where a page has `rows`.
fn way_of(sql: &str, rows: usize) -> Way {
    let text = Text::of(sql);
    if text.is_silent() {
        return Way::Silent;
    }
    if text.is(0, "show") || text.is(0, "explain") {
        return Way::Few;
    }
    if !(text.is(0, "select") || text.is(0, "with")) || text.has(&NO_QUERY) || text.locks() {
        return Way::Paged;
    }
    let outline = text.outline();
    match outline {
        Outline { one_row: true, .. } => Way::Few,
        Outline { harmless: true, .. } if !text.has(&SOURCES) => Way::Few,
        Outline { limit: Some(limit), .. } if limit <= rows => Way::Few,
        Outline { harmless: true, aggregates, .. } if aggregates || text.has(&WORTH_WORKERS) => Way::Streamed,
        _ => Way::Paged,
    }
}

/// Names of what `sql` calls and is not known to compute only, as the server has them.
pub fn unknown_calls(sql: &str) -> Vec<String> {
    let text = Text::of(sql);
    let called = (0..text.tokens.len()).filter(|at| text.kind(at + 1) == Some(TokenKind::Open));
    let mut names: Vec<String> = called.filter_map(|at| text.unknown_name(at)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Whether `sql` is a query by its text: it locks, changes and keeps nothing that it names.
pub fn is_mere_query(sql: &str) -> bool {
    let text = Text::of(sql);
    let first = (0..text.tokens.len()).find(|at| text.kind(*at) != Some(TokenKind::Open)).unwrap_or_default();
    ["select", "with", "values", "table"].iter().any(|word| text.is(first, word)) && !text.has(&NO_QUERY) && !text.locks()
}

struct Text<'a> {
    sql: &'a str,
    tokens: Vec<Token>,
}

/// What the text tells of its rows.
struct Outline {
    /// Its outermost query is an aggregate without groups.
    one_row: bool,
    /// The number behind the outermost LIMIT.
    limit: Option<usize>,
    /// It calls nothing that might change something.
    harmless: bool,
    /// It calls an aggregate anywhere.
    aggregates: bool,
}

impl<'a> Text<'a> {
    fn of(sql: &'a str) -> Self {
        Self { sql, tokens: lex(sql, EngineKind::Postgres).filter(|token| token.is_significant(sql)).collect() }
    }

    fn is_silent(&self) -> bool {
        let begins = |words: &[&str]| words.iter().any(|word| self.is(0, word));
        begins(&SILENT) || (begins(&CHANGES) && !self.has(&["returning"]))
    }

    fn word(&self, at: usize) -> Option<String> {
        self.tokens.get(at).filter(|token| token.kind == TokenKind::Word).map(|token| token.text(self.sql).to_ascii_lowercase())
    }

    fn is(&self, at: usize, word: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_word(self.sql, word))
    }

    fn kind(&self, at: usize) -> Option<TokenKind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    fn has(&self, words: &[&str]) -> bool {
        (0..self.tokens.len()).any(|at| words.iter().any(|word| self.is(at, word)))
    }

    /// `FOR UPDATE` and its like; the FOR of `substring(… for …)` is none.
    fn locks(&self) -> bool {
        let kinds = ["update", "no", "share", "key"];
        (1..self.tokens.len()).any(|at| self.is(at - 1, "for") && kinds.iter().any(|kind| self.is(at, kind)))
    }

    fn outline(&self) -> Outline {
        let (mut depth, mut groups, mut counted) = (0_usize, false, false);
        let mut outline = Outline { one_row: false, limit: None, harmless: true, aggregates: false };
        for at in 0..self.tokens.len() {
            match self.kind(at) {
                Some(TokenKind::Open) => depth += 1,
                Some(TokenKind::Close) => depth = depth.saturating_sub(1),
                Some(TokenKind::Word) if depth == 0 && self.is(at, "group") => groups |= !self.is(at.wrapping_sub(1), "within"),
                Some(TokenKind::Word) if depth == 0 && self.is(at, "limit") => outline.limit = self.number(at + 1),
                _ => {}
            }
            if self.kind(at + 1) != Some(TokenKind::Open) {
                continue;
            }
            match self.word(at) {
                Some(word) if AGGREGATES.contains(&word.as_str()) => {
                    outline.aggregates = true;
                    counted |= depth == 0 && !self.is_window(at + 1);
                }
                Some(word) => outline.harmless &= is_harmless(&word),
                None => outline.harmless &= self.kind(at) != Some(TokenKind::QuotedName),
            }
        }
        outline.one_row = counted && !groups;
        outline
    }

    /// The name at a place, unless it is one that is known.
    fn unknown_name(&self, at: usize) -> Option<String> {
        match self.word(at) {
            Some(word) if is_harmless(&word) || AGGREGATES.contains(&word.as_str()) => None,
            Some(word) => Some(word),
            None if self.kind(at) == Some(TokenKind::QuotedName) => {
                Some(dialect(EngineKind::Postgres).name_of(self.tokens.get(at)?.text(self.sql)))
            }
            None => None,
        }
    }

    fn number(&self, at: usize) -> Option<usize> {
        self.tokens.get(at).filter(|token| token.kind == TokenKind::Number)?.text(self.sql).parse().ok()
    }

    /// Whether the call whose arguments begin at `open` is followed by OVER.
    fn is_window(&self, open: usize) -> bool {
        let mut at = self.behind(open);
        while self.is(at, "filter") || self.is(at, "within") || self.is(at, "group") || self.kind(at) == Some(TokenKind::Open) {
            at = if self.kind(at) == Some(TokenKind::Open) { self.behind(at) } else { at + 1 };
        }
        self.is(at, "over")
    }

    /// The place behind the parenthesis that closes the one at `open`.
    fn behind(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for at in open..self.tokens.len() {
            match self.kind(at) {
                Some(TokenKind::Open) => depth += 1,
                Some(TokenKind::Close) if depth <= 1 => return at + 1,
                Some(TokenKind::Close) => depth -= 1,
                _ => {}
            }
        }
        self.tokens.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_called_and_not_known_has_its_name() {
        let sql = "select count(*), Act(lower(a)), s.\"Act \"\"2\"\"\"(b) from t where a in (1) and f (c) -- g(x)";
        assert_eq!(unknown_calls(sql), ["Act \"2\"", "act", "f"]);
        assert!(unknown_calls("select coalesce(a, 'f(x)') from t").is_empty());
    }

    #[test]
    fn a_query_locks_and_changes_nothing() {
        for sql in ["select 1", "((select 1) union (select 2))", "with a as (select 1) table a", "table t", "values (1)"] {
            assert!(is_mere_query(sql), "{sql}");
        }
        for sql in [
            "insert into t values (1) returning a",
            "with a as (delete from t returning b) select b from a",
            "select a from t for no key update",
            "select a into u from t",
            "explain analyze select f()",
            "call p()",
            "",
        ] {
            assert!(!is_mere_query(sql), "{sql}");
        }
    }

    #[test]
    fn each_text_has_its_way() {
        let table = [
            ("select * from big", Way::Paged),
            ("table big", Way::Paged),
            ("values (1), (2)", Way::Paged),
            ("explain select count(*) from big", Way::Few),
            ("show all", Way::Few),
            ("select 1", Way::Few),
            ("select now() as a union all select 'x' order by 1", Way::Few),
            ("select book(1)", Way::Paged),
            ("select generate_series(1, 9)", Way::Paged),
            ("with a as (table big) select 1", Way::Paged),
            ("select count(*) from big", Way::Few),
            ("select 1 + sum(a) filter (where b > f(c)) from big where d", Way::Few),
            ("with x as (select * from big) select max(a) from x", Way::Few),
            ("select percentile_cont(0.5) within group (order by a) from big", Way::Few),
            ("select * from big order by a limit 10", Way::Few),
            ("select * from big order by a limit 1001", Way::Streamed),
            ("select count(*) over () from big", Way::Streamed),
            ("select a, count(*) from big group by a", Way::Streamed),
            ("select distinct a from big", Way::Streamed),
            ("select * from big where lower(code) like '%ab%'", Way::Streamed),
            ("select * from big where code in ('a') -- and f(x)", Way::Streamed),
            ("select x from (select count(*) as x from big) as s", Way::Streamed),
            ("select * from big where f(code)", Way::Paged),
            ("select * from big where \"f\"(code)", Way::Paged),
            ("select nextval('s') from big where a > 1", Way::Paged),
            ("select * from big where a > 1 for update", Way::Paged),
            ("select * into other from big where a > 1", Way::Paged),
            ("with d as (delete from big returning *) select count(*) from d", Way::Paged),
            ("insert into t values (1)", Way::Silent),
            ("UPDATE t SET a = 1", Way::Silent),
            ("insert into t values (1) returning a", Way::Paged),
            ("create table t as select 1", Way::Silent),
            ("-- x\nset search_path to a", Way::Silent),
            ("commit", Way::Silent),
            ("copy t from stdin", Way::Paged),
            ("call p()", Way::Paged),
            ("", Way::Paged),
        ];
        for (sql, way) in table {
            assert_eq!(way_of(sql, 1_000), way, "{sql}");
        }
    }
}
