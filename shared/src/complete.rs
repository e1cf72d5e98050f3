//! Completion of SQL from an index of the catalog, wholly in the client.
//!
//! Invariant: pure and synchronous; the work for one key is bounded by the index's names looked at once cheaply and [`rank::RANKED_MAX`]
//! looked at well, and [`Effort`] counts both. Start at [`suggest`]. A further source of suggestions is one row of [`sources::SOURCES`].

pub mod context;
pub mod index;
pub mod keywords;
pub mod missing;
pub mod rank;
pub mod sources;

pub use context::{Context, Place, context_at};
pub use index::{CatalogIndex, Hit, HitKind};
pub use missing::{Missing, missing};
pub use rank::pick;

use crate::sql::dialects::dialect;
use crate::wire::connection::EngineKind;
use serde::Serialize;

/// Suggestions in a list at most.
pub const LIST_MAX: usize = 100;

/// What a suggestion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SuggestionKind {
    /// A table.
    Table,
    /// A view.
    View,
    /// A column.
    Column,
    /// A column of the primary key.
    Key,
    /// A name given to a table in this statement.
    Alias,
    /// A query under a name, made by `WITH`.
    Cte,
    /// A schema.
    Schema,
    /// A routine.
    Routine,
    /// A word of the language.
    Keyword,
    /// A join condition from a foreign key.
    Join,
}

/// One suggestion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// What is shown, and matched against.
    pub label: String,
    /// What is written: the name with quotes where the dialect needs them.
    pub insert: String,
    /// What it is.
    pub kind: SuggestionKind,
    /// Type, table, arguments: one short text.
    pub detail: String,
    /// Places in `label` of the characters that were typed: in characters from [`suggest`], in UTF-16 units from [`Suggestions::at`].
    pub matched: Vec<u32>,
}

/// How the list was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// With the key for it: everything that fits is shown.
    ByKey,
    /// By typing: nothing is shown unless a word was begun, or a dot typed after a name.
    ByTyping,
}

/// What finding the list took: counts, for tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Names of the index compared by their mask only.
    pub scanned: usize,
    /// Names scored cheaply.
    pub scored: usize,
    /// Suggestions scored well.
    pub ranked: usize,
}

/// A list of suggestions, all in place of the bytes `from` to `to`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggestions {
    /// First byte that a suggestion replaces.
    pub from: usize,
    /// Byte after the last one.
    pub to: usize,
    /// Best first, at most [`LIST_MAX`].
    pub items: Vec<Suggestion>,
    /// What it took.
    pub effort: Effort,
}

/// A list in the places of a browser: UTF-16 units.
#[derive(Debug, Serialize)]
pub struct PlacedSuggestions {
    from: usize,
    to: usize,
    items: Vec<Suggestion>,
}

impl Suggestions {
    /// The same list with its places in UTF-16 units: `from` and `to` are those of the editor's text.
    pub fn at(mut self, from: usize, to: usize) -> PlacedSuggestions {
        for item in self.items.iter_mut().filter(|item| !item.label.is_ascii()) {
            let starts: Vec<u32> = item
                .label
                .chars()
                .scan(0, |unit, character| {
                    let start = *unit;
                    *unit += u32::try_from(character.len_utf16()).unwrap_or(1);
                    Some(start)
                })
                .collect();
            for at in &mut item.matched {
                *at = starts.get(*at as usize).copied().unwrap_or(*at);
            }
        }
        PlacedSuggestions { from, to, items: self.items }
    }
}

/// The suggestions for a cursor (a byte place) in a text of many statements, as if asked by key.
pub fn suggest(index: &CatalogIndex, text: &str, cursor: usize, kind: EngineKind) -> Suggestions {
    let (mut start, mut end, mut delimiter) = (0, text.len(), None);
    while let Some(segment) = crate::sql::splitter::next_segment(text, start, dialect(kind), &delimiter) {
        end = segment.end;
        if cursor < segment.end || !segment.closed {
            break;
        }
        (start, end, delimiter) = (segment.end, text.len(), segment.delimiter);
    }
    let statement = text.get(start..end).unwrap_or("");
    let mut found = suggest_in(index, statement, cursor.saturating_sub(start), kind, Asked::ByKey);
    found.from += start;
    found.to += start;
    found
}

/// The suggestions for a cursor in the text of one statement (with what stands before it and its semicolon).
pub fn suggest_in(index: &CatalogIndex, statement: &str, cursor: usize, kind: EngineKind, asked: Asked) -> Suggestions {
    let Some(context) = context_at(statement, cursor, dialect(kind)) else { return Suggestions::default() };
    let begun = !context.typed.is_empty() || !context.qualifier.is_empty() || context.quoted;
    if asked == Asked::ByTyping && !begun {
        return Suggestions::default();
    }
    let mut offers = sources::Offers::new(index, &context);
    for source in sources::SOURCES {
        (source.offer)(&mut offers);
    }
    let (items, effort) = rank::rank(offers);
    // A list whose first row stands there already would only take the Enter key.
    let written = statement.get(context.from..context.to);
    let nothing_new = asked == Asked::ByTyping && items.first().is_some_and(|first| written == Some(first.insert.as_str()));
    let items = if nothing_new { Vec::new() } else { items };
    Suggestions { from: context.from, to: context.to, items, effort }
}
