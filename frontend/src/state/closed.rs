//! Consoles that were closed: their texts stay, so that closing a tab loses nothing.

use serde::{Deserialize, Serialize};
use shared::ids::ConnectionId;

/// Where storage keeps them, oldest first.
pub const KEY: &str = "sheaf.closed";

/// As many are kept; older ones leave.
const KEPT_MAX: usize = 20;

/// One that was closed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closed {
    /// What its tab said.
    pub title: String,
    /// Its text.
    pub text: String,
    /// Where it ran.
    pub connection: Option<ConnectionId>,
    /// The name of that: one of the command line has another id with each start of the server.
    #[serde(default)]
    pub connection_name: Option<String>,
    /// What was selected, in bytes; the cursor where nothing was.
    #[serde(default)]
    pub selection: (usize, usize),
}

/// Adds one as the newest; one without a text is not worth keeping.
pub fn lay_by(all: &mut Vec<Closed>, one: Closed) {
    if one.text.trim().is_empty() {
        return;
    }
    all.push(one);
    all.drain(..all.len().saturating_sub(KEPT_MAX));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(text: &str) -> Closed {
        Closed { text: text.to_owned(), ..Closed::default() }
    }

    #[test]
    fn the_newest_twenty_with_a_text_are_kept() {
        let mut all = Vec::new();
        (0..25).for_each(|n| lay_by(&mut all, closed(&n.to_string())));
        lay_by(&mut all, closed(" \n"));
        assert_eq!(all.len(), KEPT_MAX);
        assert_eq!(all.first().map(|one| one.text.as_str()), Some("5"));
        assert_eq!(all.last().map(|one| one.text.as_str()), Some("24"));
    }
}
