//! What the words and marks of a text are, for their colours in the editor.
//!
//! Invariant: the same lexer as everywhere else, so that what looks like a string is one for splitting and completion too. Costs what is
//! asked for, not the text. Start at [`colour_of`]; [`super::script::Script::colours`] walks a part of a script.

use super::dialects::Dialect;
use super::lexer::{Token, TokenKind};

/// A colour. The numbers are the editor bundle's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Colour {
    /// Not a colour: a whole statement's place.
    Statement = 0,
    /// A word of the language.
    Keyword = 1,
    /// A type's name.
    Type = 2,
    /// A routine that is called.
    Routine = 3,
    /// A text.
    Text = 4,
    /// A number.
    Number = 5,
    /// A comment.
    Comment = 6,
    /// An operator or other mark.
    Mark = 7,
    /// A parameter.
    Parameter = 8,
    /// NULL, TRUE, FALSE.
    Constant = 9,
}

/// The colour of a token, from the marks beside it; `None` for names and blanks.
pub fn colour_of(text: &str, token: &Token, before: Option<&Token>, after: Option<TokenKind>, dialect: &Dialect) -> Option<Colour> {
    match token.kind {
        TokenKind::Space | TokenKind::QuotedName => None,
        TokenKind::LineComment | TokenKind::BlockComment => Some(Colour::Comment),
        TokenKind::Text | TokenKind::DollarText => Some(Colour::Text),
        TokenKind::Number => Some(Colour::Number),
        TokenKind::Parameter => Some(Colour::Parameter),
        TokenKind::Word => word(text, token, before, after, dialect),
        _ => Some(Colour::Mark),
    }
}

fn word(text: &str, token: &Token, before: Option<&Token>, after: Option<TokenKind>, dialect: &Dialect) -> Option<Colour> {
    let called = after == Some(TokenKind::Open);
    if before.is_some_and(|before| before.kind == TokenKind::Dot && before.end == token.start) {
        return called.then_some(Colour::Routine);
    }
    let word = token.text(text).to_ascii_lowercase();
    let is_in = |words: &[&str]| words.binary_search(&word.as_str()).is_ok();
    if matches!(word.as_str(), "null" | "true" | "false") {
        Some(Colour::Constant)
    } else if dialect.is_reserved(&word) || is_in(KEYWORDS) {
        Some(Colour::Keyword)
    } else if called {
        Some(Colour::Routine)
    } else if is_in(TYPES) {
        Some(Colour::Type)
    } else {
        None
    }
}

/// Words of the language that no dialect reserves; lower case, sorted. Words that are more often a column's name are left out.
const KEYWORDS: &[&str] = &[
    "abort",
    "after",
    "always",
    "analyze",
    "asc",
    "atomic",
    "attach",
    "autoincrement",
    "before",
    "begin",
    "by",
    "call",
    "cascade",
    "cast",
    "cluster",
    "commit",
    "conflict",
    "copy",
    "cube",
    "current",
    "database",
    "deferred",
    "delete",
    "desc",
    "detach",
    "do",
    "each",
    "enable",
    "end",
    "escape",
    "exclude",
    "excluded",
    "exclusive",
    "execute",
    "exists",
    "explain",
    "extension",
    "fetch",
    "filter",
    "first",
    "following",
    "function",
    "generated",
    "glob",
    "grouping",
    "if",
    "ignore",
    "immediate",
    "immutable",
    "inherits",
    "insert",
    "instead",
    "isolation",
    "language",
    "last",
    "lateral",
    "lock",
    "matched",
    "materialized",
    "merge",
    "next",
    "no",
    "nulls",
    "of",
    "offset",
    "over",
    "overriding",
    "partition",
    "plan",
    "policy",
    "pragma",
    "preceding",
    "prepare",
    "procedure",
    "query",
    "raise",
    "range",
    "recursive",
    "refresh",
    "reindex",
    "release",
    "rename",
    "replace",
    "reset",
    "restrict",
    "return",
    "returning",
    "returns",
    "revoke",
    "rollback",
    "rollup",
    "row",
    "rows",
    "savepoint",
    "schema",
    "sequence",
    "set",
    "sets",
    "show",
    "stable",
    "start",
    "stored",
    "strict",
    "temp",
    "temporary",
    "ties",
    "transaction",
    "trigger",
    "truncate",
    "unbounded",
    "unlogged",
    "update",
    "vacuum",
    "values",
    "view",
    "virtual",
    "volatile",
    "window",
    "within",
    "without",
];

/// Names of types; lower case, sorted.
const TYPES: &[&str] = &[
    "bigint",
    "bigserial",
    "bit",
    "blob",
    "bool",
    "boolean",
    "bytea",
    "char",
    "character",
    "cidr",
    "date",
    "daterange",
    "datetime",
    "decimal",
    "double",
    "float",
    "float4",
    "float8",
    "inet",
    "int",
    "int2",
    "int4",
    "int8",
    "integer",
    "interval",
    "json",
    "jsonb",
    "money",
    "numeric",
    "oid",
    "precision",
    "real",
    "regclass",
    "serial",
    "smallint",
    "text",
    "time",
    "timestamp",
    "timestamptz",
    "timetz",
    "tinyint",
    "tsvector",
    "uuid",
    "varchar",
    "varying",
    "xml",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        for words in [KEYWORDS, TYPES] {
            let unsorted: Vec<_> = words.windows(2).filter(|pair| pair[0] >= pair[1]).collect();
            assert_eq!(unsorted, Vec::<&[&str]>::new());
        }
    }
}
