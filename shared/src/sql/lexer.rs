//! SQL text to tokens: one pass, each byte in exactly one token.
//!
//! Invariant: never fails and never loses a byte; the tokens of any text, put together, are that text. A string, comment or
//! quoted name without its end runs to the end of the text and is flagged `unfinished`. Linear in the text, whatever it holds.
//! Start at [`lex`]. Why not sqlparser's tokenizer: docs/decisions/0010-own-sql-lexer.md.

use super::dialects::{Dialect, dialect};
use crate::wire::connection::EngineKind;
use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Blanks and line ends.
    Space,
    /// `-- …` without its line end.
    LineComment,
    /// `/* … */`
    BlockComment,
    /// A keyword or an unquoted name.
    Word,
    /// `"name"`, and where the dialect has them `` `name` `` and `[name]`.
    QuotedName,
    /// `'text'` with its prefix (`E`, `B`, `X`, `N`, `U&`).
    Text,
    /// `$tag$ … $tag$`
    DollarText,
    /// A number.
    Number,
    /// `?`, `?1`, `$1`, `:name`, `@name`, `$name`, as the dialect has them.
    Parameter,
    /// `;`
    Semicolon,
    /// `,`
    Comma,
    /// `.`
    Dot,
    /// `(`
    Open,
    /// `)`
    Close,
    /// Any other mark or run of marks.
    Operator,
}

/// A token: a kind and its place. The text is the source's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// The text ended before the token did.
    pub unfinished: bool,
}

impl Token {
    /// Its bytes in the text.
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Its own text.
    pub fn text<'a>(&self, source: &'a str) -> &'a str {
        source.get(self.start..self.end).unwrap_or("")
    }

    /// Neither blank nor comment. `/*+` (hints) and `/*!` (conditional code) act on a statement, so they are part of it.
    pub fn is_significant(&self, source: &str) -> bool {
        match self.kind {
            TokenKind::Space | TokenKind::LineComment => false,
            TokenKind::BlockComment => matches!(source.as_bytes().get(self.start + 2), Some(b'+' | b'!')),
            _ => true,
        }
    }

    /// Is it this unquoted word, whatever its case?
    pub fn is_word(&self, source: &str, word: &str) -> bool {
        self.kind == TokenKind::Word && self.text(source).eq_ignore_ascii_case(word)
    }
}

/// The tokens of a text.
pub fn lex(text: &str, kind: EngineKind) -> Lexer<'_> {
    Lexer::new(text, dialect(kind), 0)
}

/// Reads one token after the other.
#[derive(Clone, Debug)]
pub struct Lexer<'a> {
    bytes: &'a [u8],
    text: &'a str,
    at: usize,
    dialect: &'static Dialect,
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let start = self.at;
        let first = *self.bytes.get(start)?;
        let (kind, end) = self.token_at(start, first);
        // A text or comment without its end reads as "ends past the text" below.
        let unfinished = end > self.bytes.len();
        self.at = end.min(self.bytes.len());
        Some(Token { kind, start, end: self.at, unfinished })
    }
}

impl<'a> Lexer<'a> {
    /// Starts at byte `at`, which must be the start of a statement (or of any token).
    pub fn new(text: &'a str, dialect: &'static Dialect, at: usize) -> Self {
        Lexer { bytes: text.as_bytes(), text, at, dialect }
    }

    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    fn end_while(&self, mut at: usize, wanted: impl Fn(u8) -> bool) -> usize {
        while self.bytes.get(at).is_some_and(|&b| wanted(b)) {
            at += 1;
        }
        at
    }

    /// The kind and the end of the token that starts here; the end is past the text's own when the token is unfinished.
    fn token_at(&self, at: usize, first: u8) -> (TokenKind, usize) {
        let second = self.byte(at + 1);
        match first {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => (TokenKind::Space, self.end_while(at, is_space)),
            b'-' if self.opens_dash_comment(at) => (TokenKind::LineComment, self.end_while(at, |b| b != b'\n' && b != b'\r')),
            b'#' if self.dialect.hash_comments => (TokenKind::LineComment, self.end_while(at, |b| b != b'\n' && b != b'\r')),
            b'/' if second == b'*' => (TokenKind::BlockComment, self.end_of_comment(at + 2)),
            b'\'' => (TokenKind::Text, self.end_of_quoted(at + 1, b'\'', self.backslash())),
            b'"' if self.dialect.backslash_strings => (TokenKind::Text, self.end_of_quoted(at + 1, b'"', Backslash::Escapes)),
            b'"' => (TokenKind::QuotedName, self.end_of_quoted(at + 1, b'"', Backslash::Plain)),
            b'`' if self.dialect.backtick_names => (TokenKind::QuotedName, self.end_of_quoted(at + 1, b'`', Backslash::Plain)),
            b'[' if self.dialect.bracket_names => (TokenKind::QuotedName, self.end_of_bracketed(at + 1)),
            b'$' => self.dollar(at),
            b'?' if self.dialect.question_parameters => (TokenKind::Parameter, self.end_while(at + 1, |b| b.is_ascii_digit())),
            b'0'..=b'9' => (TokenKind::Number, self.end_of_number(at)),
            b'.' if second.is_ascii_digit() => (TokenKind::Number, self.end_of_number(at)),
            b';' => (TokenKind::Semicolon, at + 1),
            b',' => (TokenKind::Comma, at + 1),
            b'.' => (TokenKind::Dot, at + 1),
            b'(' => (TokenKind::Open, at + 1),
            b')' => (TokenKind::Close, at + 1),
            0xef if at == 0 && self.text.starts_with('\u{feff}') => (TokenKind::Space, 3),
            _ if is_word_start(first) => self.word(at, first, second),
            _ if self.opens_parameter(at, first, second) => (TokenKind::Parameter, self.end_while(at + 1, is_word_part)),
            b':' if second == b':' || second == b'=' => (TokenKind::Operator, at + 2),
            _ if is_operator(first) => (TokenKind::Operator, self.end_of_operator(at)),
            _ => (TokenKind::Operator, at + 1),
        }
    }

    /// `5--1` is an operator behind an operator where a comment needs a blank behind its dashes.
    fn opens_dash_comment(&self, at: usize) -> bool {
        let blank = self.bytes.get(at + 2).is_none_or(|&b| b <= b' ');
        self.byte(at + 1) == b'-' && (blank || !self.dialect.hash_comments)
    }

    fn backslash(&self) -> Backslash {
        if self.dialect.backslash_strings { Backslash::Escapes } else { Backslash::Plain }
    }

    fn opens_parameter(&self, at: usize, first: u8, second: u8) -> bool {
        // The second colon of `a::b` opens nothing.
        let doubled = at > 0 && self.byte(at - 1) == first;
        self.dialect.parameter_marks.contains(&first) && is_word_start(second) && !doubled
    }

    fn word(&self, at: usize, first: u8, second: u8) -> (TokenKind, usize) {
        match (first, second) {
            (b'e' | b'E', b'\'') if self.dialect.escape_strings => (TokenKind::Text, self.end_of_quoted(at + 2, b'\'', Backslash::Escapes)),
            (b'b' | b'B' | b'n' | b'N' | b'x' | b'X', b'\'') => (TokenKind::Text, self.end_of_quoted(at + 2, b'\'', self.backslash())),
            (b'u' | b'U', b'&') if self.dialect.escape_strings && self.byte(at + 2) == b'\'' => {
                (TokenKind::Text, self.end_of_quoted(at + 3, b'\'', Backslash::Plain))
            }
            (b'u' | b'U', b'&') if self.dialect.escape_strings && self.byte(at + 2) == b'"' => {
                (TokenKind::QuotedName, self.end_of_quoted(at + 3, b'"', Backslash::Plain))
            }
            _ => (TokenKind::Word, self.end_while(at, is_word_part)),
        }
    }

    fn dollar(&self, at: usize) -> (TokenKind, usize) {
        let tag_end = self.end_while(at + 1, |b| is_word_part(b) && b != b'$');
        let numbered = tag_end > at + 1 && self.byte(at + 1).is_ascii_digit();
        if self.dialect.dollar_strings && !numbered && self.byte(tag_end) == b'$' {
            let tag = self.text.get(at..=tag_end).unwrap_or("$$");
            let body = self.text.get(tag_end + 1..).unwrap_or("");
            let end = body.find(tag).map_or(usize::MAX, |found| tag_end + 1 + found + tag.len());
            return (TokenKind::DollarText, end);
        }
        if numbered && self.dialect.dollar_number_parameters {
            return (TokenKind::Parameter, self.end_while(at + 1, |b| b.is_ascii_digit()));
        }
        if tag_end > at + 1 && self.dialect.parameter_marks.contains(&b'$') {
            return (TokenKind::Parameter, tag_end);
        }
        (TokenKind::Operator, at + 1)
    }

    fn end_of_quoted(&self, mut at: usize, quote: u8, backslash: Backslash) -> usize {
        while let Some(&byte) = self.bytes.get(at) {
            if byte == b'\\' && backslash == Backslash::Escapes {
                at += 2;
            } else if byte != quote {
                at += 1;
            } else if self.byte(at + 1) == quote {
                at += 2;
            } else {
                return at + 1;
            }
        }
        usize::MAX
    }

    fn end_of_bracketed(&self, at: usize) -> usize {
        let end = self.end_while(at, |b| b != b']');
        if end < self.bytes.len() { end + 1 } else { usize::MAX }
    }

    fn end_of_comment(&self, mut at: usize) -> usize {
        let mut depth = 1_usize;
        while let Some(&byte) = self.bytes.get(at) {
            match (byte, self.byte(at + 1)) {
                (b'*', b'/') if depth == 1 => return at + 2,
                (b'*', b'/') => {
                    depth -= 1;
                    at += 2;
                }
                (b'/', b'*') if self.dialect.nested_comments => {
                    depth += 1;
                    at += 2;
                }
                _ => at += 1,
            }
        }
        usize::MAX
    }

    /// Digits, fraction, exponent, `0x…`, underscores; a word stuck to a number belongs to it (the database will refuse it).
    fn end_of_number(&self, mut at: usize) -> usize {
        let hexadecimal = self.byte(at) == b'0' && matches!(self.byte(at + 1), b'x' | b'X');
        while let Some(&byte) = self.bytes.get(at) {
            let sign_of_exponent = matches!(byte, b'+' | b'-') && !hexadecimal && matches!(self.byte(at.wrapping_sub(1)), b'e' | b'E');
            let point = byte == b'.' && self.byte(at + 1) != b'.';
            let exponent_digit = sign_of_exponent && self.byte(at + 1).is_ascii_digit();
            if !(is_word_part(byte) || point || exponent_digit) {
                break;
            }
            at += 1;
        }
        at
    }

    /// A run of operator marks; a comment that starts inside ends it.
    fn end_of_operator(&self, at: usize) -> usize {
        let mut end = at + 1;
        while let Some(&byte) = self.bytes.get(end) {
            let comment = (byte == b'-' && self.opens_dash_comment(end))
                || (byte == b'/' && self.byte(end + 1) == b'*')
                || (byte == b'#' && self.dialect.hash_comments);
            let parameter = byte == b'?' && self.dialect.question_parameters
                || (self.dialect.parameter_marks.contains(&byte) && is_word_start(self.byte(end + 1)));
            if !is_operator(byte) || comment || parameter {
                break;
            }
            end += 1;
        }
        end
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Backslash {
    Plain,
    Escapes,
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// Both systems take every byte over 127 for a letter.
fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_word_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn is_operator(byte: u8) -> bool {
    matches!(byte, b'+' | b'-' | b'*' | b'/' | b'<' | b'>' | b'=' | b'~' | b'!' | b'@' | b'#' | b'%' | b'^' | b'&' | b'|' | b'?')
}
