//! The text of SQL: what its characters are ([`lexer`]), where statements begin and end ([`splitter`]), the same
//! kept up to date while someone types ([`script`]), and which tables a statement names ([`outline`]).
//!
//! Invariant: nothing here fails. Text that is being written is unfinished most of the time; what is unfinished is a value
//! that says so. No SQL is ever changed here, only described by byte ranges of the text it came from.

pub mod colour;
pub mod dialects;
pub mod lexer;
pub mod outline;
pub mod parameters;
pub mod script;
pub mod splitter;

pub use dialects::{Dialect, dialect};
pub use lexer::{Token, TokenKind, lex};
pub use parameters::{parameter_places, parameters};
pub use script::Script;
pub use splitter::{split, statement_at};
