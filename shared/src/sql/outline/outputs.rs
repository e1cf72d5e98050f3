//! The names of the columns that a query gives.
//!
//! Invariant: an output whose name the database makes up is left out. Start at `Walk::finish_output`.

use super::Output;
use super::walk::Walk;
use crate::sql::lexer::{Token, TokenKind};

impl Walk<'_> {
    /// Notes what the query gives by the output that ends before this token.
    pub(super) fn finish_output(&mut self) {
        let Some(start) = self.frame.output_start.take() else { return };
        let tokens = self.tokens;
        let part = tokens.get(start..self.at.min(tokens.len())).unwrap_or(&[]);
        if let Some(output) = self.output(part)
            && let Some(scope) = self.scope()
        {
            scope.outputs.push(output);
        }
    }

    fn output(&self, part: &[Token]) -> Option<Output> {
        let (last, before) = part.split_last()?;
        let previous = before.last();
        match last.kind {
            TokenKind::Operator if last.text(self.text) == "*" => {
                let qualified = previous.is_some_and(|token| token.kind == TokenKind::Dot);
                Some(Output::All(
                    before.len().checked_sub(2).and_then(|at| before.get(at)).filter(|_| qualified).map(|token| self.name(token)),
                ))
            }
            // PostgreSQL names `x::int` by x.
            TokenKind::Word if previous.is_some_and(|token| token.text(self.text) == "::") => self.output(before.split_last()?.1),
            TokenKind::Word if last.is_word(self.text, "end") => None,
            TokenKind::Word | TokenKind::QuotedName => Some(Output::Named(self.name(last))),
            TokenKind::Close if self.dialect.dollar_strings => self.call_name(part).map(Output::Named),
            _ => None,
        }
    }

    /// PostgreSQL names a call by its routine.
    fn call_name(&self, part: &[Token]) -> Option<String> {
        let mut depth = 0_usize;
        for (at, token) in part.iter().enumerate().rev() {
            match token.kind {
                TokenKind::Close => depth += 1,
                TokenKind::Open => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                let name = part.get(at.checked_sub(1)?)?;
                return (name.kind == TokenKind::Word && !self.dialect.is_reserved(name.text(self.text))).then(|| self.name(name));
            }
        }
        None
    }
}
