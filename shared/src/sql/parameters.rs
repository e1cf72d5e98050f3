//! Parameters of a statement: which values it waits for, in the order in which the database counts them.
//!
//! Invariant: the text is never changed; a name is shown as it is written. Source: SQLite documentation, "Parameters" of
//! "SQL Language Expressions"; PostgreSQL documentation, "Positional Parameters"; DuckDB documentation, "Prepared Statements"; MySQL
//! documentation, "PREPARE Statement".

use super::lexer::{TokenKind, lex};
use crate::limits::PARAMETERS_MAX;
use crate::wire::connection::EngineKind;
use std::ops::Range;

/// One name for each value, in the order of values: `?` takes the next number, `?3` and `$3` the third, `:name` the next number at
/// its first use. PostgreSQL has numbers only, MySQL question marks only. A number that no parameter uses stands as `$2` or `?2`, since a value is wanted for it
/// all the same.
pub fn parameters(text: &str, kind: EngineKind) -> Vec<String> {
    found(text, kind).0
}

/// Where values go in a text: each place in bytes, and which of [`parameters`] goes there.
pub fn parameter_places(text: &str, kind: EngineKind) -> Vec<(Range<usize>, usize)> {
    found(text, kind).1
}

fn found(text: &str, kind: EngineKind) -> (Vec<String>, Vec<(Range<usize>, usize)>) {
    if defines_something(text, kind) {
        return (Vec::new(), Vec::new());
    }
    let mut names: Vec<Option<String>> = Vec::new();
    let mut places = Vec::new();
    let mut mark = '?';
    for token in lex(text, kind).filter(|token| token.kind == TokenKind::Parameter) {
        let written = token.text(text);
        let (first, rest) = written.split_at(written.chars().next().map_or(0, char::len_utf8));
        let next = |names: &mut Vec<Option<String>>, name: Option<String>| {
            let at = names.len();
            names.push(name.or_else(|| Some(format!("?{}", at + 1))));
            at
        };
        let value = match rest.parse::<usize>() {
            _ if kind == EngineKind::Mysql && names.len() < PARAMETERS_MAX => next(&mut names, None),
            Ok(number) if matches!(first, "?" | "$") && (1..=PARAMETERS_MAX).contains(&number) => {
                mark = if first == "$" { '$' } else { '?' };
                if names.len() < number {
                    names.resize(number, None);
                }
                if let Some(name) = names.get_mut(number - 1) {
                    name.get_or_insert_with(|| written.to_owned());
                }
                number - 1
            }
            _ if names.len() >= PARAMETERS_MAX => break,
            _ if rest.is_empty() => next(&mut names, None),
            _ => match names.iter().position(|name| name.as_ref().is_some_and(|name| is_same(name, written, kind))) {
                Some(known) => known,
                None => next(&mut names, Some(written.to_owned())),
            },
        };
        places.push((token.range(), value));
    }
    let named = names.into_iter().enumerate().map(|(at, name)| name.unwrap_or_else(|| format!("{mark}{}", at + 1)));
    (named.collect(), places)
}

fn is_same(one: &str, other: &str, kind: EngineKind) -> bool {
    one == other || (kind == EngineKind::Duckdb && one.eq_ignore_ascii_case(other))
}

/// `PREPARE` and `CREATE FUNCTION` write down parameters that are for later; the statement itself takes none.
fn defines_something(text: &str, kind: EngineKind) -> bool {
    let words: &[&str] = match kind {
        EngineKind::Postgres => &["PREPARE", "CREATE"],
        EngineKind::Duckdb => &["PREPARE"],
        EngineKind::Sqlite | EngineKind::Mysql => return false,
    };
    let first = lex(text, kind).find(|token| token.is_significant(text));
    first.is_some_and(|token| words.iter().any(|word| token.is_word(text, word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_counted_as_its_database_counts() {
        let sqlite = |text| parameters(text, EngineKind::Sqlite);
        assert_eq!(sqlite("select ?, ?, :a, @b, $c, :a"), ["?1", "?2", ":a", "@b", "$c"]);
        assert_eq!(sqlite("select ?3, ?"), ["?1", "?2", "?3", "?4"]);
        let postgres = |text| parameters(text, EngineKind::Postgres);
        assert_eq!(postgres("select $2::int, $1, a::text, $2 from t where x ? 'key'"), ["$1", "$2"]);
        assert_eq!(postgres("select $3"), ["$1", "$2", "$3"]);
        assert!(postgres("-- later\nprepare p(int) as select $1").is_empty());
        let duckdb = |text| parameters(text, EngineKind::Duckdb);
        assert_eq!(duckdb("select $2, $1, $2"), ["$1", "$2"]);
        assert_eq!(duckdb("select $b, $a, $B"), ["$b", "$a"]);
        assert_eq!(duckdb("select ?::int, ? -- ?"), ["?1", "?2"]);
        assert!(duckdb("prepare p as select $1").is_empty() && !duckdb("create table t as select $1").is_empty());
    }

    #[test]
    fn each_place_knows_its_value() {
        let values = |text, kind| parameter_places(text, kind).into_iter().map(|(_, value)| value).collect::<Vec<_>>();
        assert_eq!(values("select :a, ?, :b, :a", EngineKind::Sqlite), [0, 1, 2, 0]);
        assert_eq!(values("select $2, $1, $2", EngineKind::Postgres), [1, 0, 1]);
        assert_eq!(values("select ?, '?', ?", EngineKind::Mysql), [0, 1]);
        assert_eq!(parameter_places("a = $b", EngineKind::Duckdb), [(4..6, 0)]);
    }

    #[test]
    fn mysql_has_question_marks_and_nothing_else() {
        let mysql = |text| parameters(text, EngineKind::Mysql);
        assert_eq!(mysql("select ?, a=?, '?', \"?\", `?`, :a, @b, @@c -- ?\n # ?\n /* ? */ from t limit ?"), ["?1", "?2", "?3"]);
        assert_eq!(mysql("select ?3, ?3"), ["?1", "?2"], "as many as the server will ask for, if it takes them at all");
        assert!(mysql("set @a := 1").is_empty());
    }

    #[test]
    fn what_only_looks_like_one_is_none() {
        for text in ["select ':a', \"$1\", $q$ :b $1 $q$ -- :c\n/* $2 */", "select a::int, b[1:2]"] {
            assert_eq!(parameters(text, EngineKind::Postgres), Vec::<String>::new(), "{text}");
        }
        assert_eq!(parameters("select ':a' -- ?\n/* ? */", EngineKind::Sqlite), Vec::<String>::new());
    }

    #[test]
    fn postgresql_has_numbers_and_no_names() {
        let postgres = |text: &str| parameters(text, EngineKind::Postgres);
        for text in ["a[1:n]", "a[:n]", "a[n:]", "a[lo:hi]", "a[lo :hi]", "a[1:n::int]", "a::text", "a :: text", "f(x := y)", "f(x :=y)"] {
            assert!(postgres(&format!("select {text} from t")).is_empty(), "{text}");
        }
        assert_eq!(postgres("select a[1:$1], a[$2:n]::int[] from t where x = :name"), ["$1", "$2"]);
    }

    #[test]
    fn an_absurd_number_asks_for_nothing_absurd() {
        assert!(parameters("select $4000000000", EngineKind::Postgres).len() <= 1);
        assert!(parameters(&"?,".repeat(100_000), EngineKind::Sqlite).len() <= PARAMETERS_MAX);
    }
}
