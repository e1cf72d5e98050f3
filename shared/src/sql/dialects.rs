//! What differs between the database systems in the characters of their SQL: one row each in [`DIALECTS`].
//!
//! Invariant: no code elsewhere asks which engine it is; it asks the dialect. Start at [`Dialect`].
//! Sources: sqlite.org/lang_expr.html, sqlite.org/lang_keywords.html; PostgreSQL manual, "Lexical Structure" and appendix C;
//! MySQL manual, "Language Structure";
//! DuckDB 1.5 itself (`duckdb_keywords()`, and its parser asked).

mod reserved;

use crate::wire::connection::EngineKind;
use reserved::{DUCKDB_RESERVED, MYSQL_RESERVED, POSTGRES_RESERVED, SQLITE_RESERVED};

/// How unquoted names compare and how they are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameCase {
    /// Unquoted names are lower-cased, quoted ones are exact (PostgreSQL).
    FoldsToLower,
    /// Names compare without regard to case, quoted or not (SQLite).
    Ignored,
}

/// What the lexer, the splitter and the quoting of names need to know of a database system.
#[derive(Debug)]
pub struct Dialect {
    /// Whose dialect it is.
    pub kind: EngineKind,
    /// `/* /* */ */` is one comment.
    pub nested_comments: bool,
    /// `E'\''` is one string.
    pub escape_strings: bool,
    /// `'\''` is one string, and `"text"` is one too.
    pub backslash_strings: bool,
    /// `# …` is a comment, and `--` is one only with a blank behind it.
    pub hash_comments: bool,
    /// `$tag$ … $tag$` is one string.
    pub dollar_strings: bool,
    /// `` `name` `` is a name.
    pub backtick_names: bool,
    /// `[name]` is a name.
    pub bracket_names: bool,
    /// `$1` is a parameter.
    pub dollar_number_parameters: bool,
    /// Characters that open a parameter when a name follows.
    pub parameter_marks: &'static [u8],
    /// `?` and `?1` are parameters and not operators.
    pub question_parameters: bool,
    /// `BEGIN … END` is the body of `CREATE TRIGGER`.
    pub trigger_bodies: bool,
    /// `BEGIN … END` is the body of `CREATE PROCEDURE`, `FUNCTION`, `EVENT` and `TRIGGER`, with `END IF` and the like inside.
    pub routine_bodies: bool,
    /// `BEGIN ATOMIC … END` is the body of `CREATE FUNCTION` and `CREATE PROCEDURE`.
    pub atomic_bodies: bool,
    /// `DO ( …; … )` is the body of `CREATE RULE`.
    pub rule_bodies: bool,
    /// `DELIMITER //` on a line of its own says what ends the statements behind it, as the client of MySQL has it.
    pub delimiter_lines: bool,
    /// The lines behind `COPY … FROM STDIN;` are data, up to one that is `\.`.
    pub copy_data: bool,
    /// How names compare.
    pub name_case: NameCase,
    /// What a name is written in that needs quotes.
    pub name_quote: char,
    /// Words that are no names unless quoted; lower case, sorted.
    pub reserved: &'static [&'static str],
}

/// Every dialect. A new engine adds its row here.
pub static DIALECTS: &[Dialect] = &[
    Dialect {
        kind: EngineKind::Sqlite,
        nested_comments: false,
        escape_strings: false,
        backslash_strings: false,
        hash_comments: false,
        dollar_strings: false,
        backtick_names: true,
        bracket_names: true,
        dollar_number_parameters: false,
        parameter_marks: b":@$",
        question_parameters: true,
        trigger_bodies: true,
        routine_bodies: false,
        atomic_bodies: false,
        rule_bodies: false,
        delimiter_lines: false,
        copy_data: false,
        name_case: NameCase::Ignored,
        name_quote: '\"',
        reserved: SQLITE_RESERVED,
    },
    Dialect {
        kind: EngineKind::Postgres,
        nested_comments: true,
        escape_strings: true,
        backslash_strings: false,
        hash_comments: false,
        dollar_strings: true,
        backtick_names: false,
        bracket_names: false,
        dollar_number_parameters: true,
        // `:` casts (`a::int`) and cuts arrays (`a[1:n]`); `:name` is psql's, which puts values into the text.
        parameter_marks: b"",
        question_parameters: false,
        trigger_bodies: false,
        routine_bodies: false,
        atomic_bodies: true,
        rule_bodies: true,
        delimiter_lines: false,
        copy_data: true,
        name_case: NameCase::FoldsToLower,
        name_quote: '\"',
        reserved: POSTGRES_RESERVED,
    },
    Dialect {
        kind: EngineKind::Mysql,
        nested_comments: false,
        escape_strings: false,
        backslash_strings: true,
        hash_comments: true,
        dollar_strings: false,
        backtick_names: true,
        bracket_names: false,
        dollar_number_parameters: false,
        parameter_marks: b"",
        question_parameters: true,
        trigger_bodies: false,
        routine_bodies: true,
        atomic_bodies: false,
        rule_bodies: false,
        delimiter_lines: true,
        copy_data: false,
        name_case: NameCase::Ignored,
        name_quote: '`',
        reserved: MYSQL_RESERVED,
    },
    Dialect {
        kind: EngineKind::Duckdb,
        nested_comments: false,
        escape_strings: true,
        backslash_strings: false,
        hash_comments: false,
        dollar_strings: true,
        backtick_names: false,
        bracket_names: false,
        dollar_number_parameters: true,
        parameter_marks: b"$",
        question_parameters: true,
        trigger_bodies: false,
        routine_bodies: false,
        atomic_bodies: false,
        rule_bodies: false,
        delimiter_lines: false,
        copy_data: false,
        name_case: NameCase::Ignored,
        name_quote: '"',
        reserved: DUCKDB_RESERVED,
    },
];

/// The dialect of an engine.
pub fn dialect(kind: EngineKind) -> &'static Dialect {
    DIALECTS.iter().find(|dialect| dialect.kind == kind).unwrap_or(&FALLBACK)
}

/// For an engine without a row: standard SQL and nothing else. A test sees to it that no engine needs it.
static FALLBACK: Dialect = Dialect {
    kind: EngineKind::Sqlite,
    nested_comments: false,
    escape_strings: false,
    backslash_strings: false,
    hash_comments: false,
    dollar_strings: false,
    backtick_names: false,
    bracket_names: false,
    dollar_number_parameters: false,
    parameter_marks: b":",
    question_parameters: true,
    trigger_bodies: false,
    routine_bodies: false,
    atomic_bodies: false,
    rule_bodies: false,
    delimiter_lines: false,
    copy_data: false,
    name_case: NameCase::Ignored,
    name_quote: '\"',
    reserved: SQLITE_RESERVED,
};

impl Dialect {
    /// Is the word reserved, so that it names nothing unless quoted?
    pub fn is_reserved(&self, word: &str) -> bool {
        let lower = word.to_ascii_lowercase();
        self.reserved.binary_search(&lower.as_str()).is_ok()
    }

    /// The name an identifier as written stands for: quotes taken off, folded as the database does.
    pub fn name_of(&self, written: &str) -> String {
        let mut chars = written.chars();
        let closing = match chars.next() {
            Some('"') => '"',
            Some('`') if self.backtick_names => '`',
            Some('[') if self.bracket_names => ']',
            _ if self.name_case == NameCase::FoldsToLower => return written.to_lowercase(),
            _ => return written.to_owned(),
        };
        let inner = chars.as_str();
        let inner = inner.strip_suffix(closing).unwrap_or(inner);
        if closing == ']' { inner.to_owned() } else { inner.replace(&format!("{closing}{closing}"), &closing.to_string()) }
    }

    /// Do two names (quotes taken off already) name the same thing?
    pub fn same_name(&self, a: &str, b: &str) -> bool {
        match self.name_case {
            NameCase::FoldsToLower => a == b,
            NameCase::Ignored => a.eq_ignore_ascii_case(b),
        }
    }

    /// The name as it must be written in this dialect: quoted only where it would mean something else otherwise.
    pub fn write_name(&self, name: &str) -> String {
        let quote = self.name_quote;
        if !self.needs_quotes(name) {
            return name.to_owned();
        }
        format!("{quote}{}{quote}", name.replace(quote, &format!("{quote}{quote}")))
    }

    /// Would the name, unquoted, mean something else or nothing?
    pub fn needs_quotes(&self, name: &str) -> bool {
        let mut bytes = name.bytes();
        let starts_well = bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
        let plain = starts_well && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let folded = self.name_case == NameCase::FoldsToLower && name.bytes().any(|b| b.is_ascii_uppercase());
        !plain || folded || self.is_reserved(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_has_its_row_and_sorted_words() {
        for kind in [EngineKind::Sqlite, EngineKind::Postgres, EngineKind::Mysql, EngineKind::Duckdb] {
            let found = DIALECTS.iter().find(|dialect| dialect.kind == kind).unwrap();
            assert!(found.reserved.windows(2).all(|pair| pair[0] < pair[1]), "{kind:?}");
        }
    }

    #[test]
    fn names_are_quoted_exactly_where_they_must_be() {
        let postgres = dialect(EngineKind::Postgres);
        let sqlite = dialect(EngineKind::Sqlite);
        assert_eq!(postgres.write_name("customer_id"), "customer_id");
        assert_eq!(postgres.write_name("userId"), "\"userId\"");
        assert_eq!(sqlite.write_name("userId"), "userId");
        assert_eq!(postgres.write_name("order"), "\"order\"");
        assert_eq!(sqlite.write_name("order"), "\"order\"");
        assert_eq!(postgres.write_name("a\"b"), "\"a\"\"b\"");
        assert_eq!(postgres.write_name("2nd"), "\"2nd\"");
        assert_eq!(postgres.write_name("größe"), "\"größe\"");
        assert_eq!(postgres.write_name(""), "\"\"");
        let mysql = dialect(EngineKind::Mysql);
        assert_eq!((mysql.write_name("order").as_str(), mysql.write_name("a`b").as_str()), ("`order`", "`a``b`"));
    }

    #[test]
    fn a_written_name_reads_back_as_itself() {
        for kind in [EngineKind::Sqlite, EngineKind::Postgres, EngineKind::Mysql, EngineKind::Duckdb] {
            let dialect = dialect(kind);
            for name in ["plain", "userId", "order", "a\"b", "with space", "[x]", "`q`", "ключ", "1"] {
                assert_eq!(dialect.name_of(&dialect.write_name(name)), name, "{kind:?}");
            }
        }
    }
}
