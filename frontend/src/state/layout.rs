//! Sizes that a person set, and what is folded away.

use crate::api::storage;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

const KEY: &str = "sheaf.layout";

/// Least and most width of the explorer, in pixels.
pub const EXPLORER_PX: (f64, f64) = (180.0, 560.0);
/// Least and most share of the editor in a console's height, in percent.
pub const EDITOR_PERCENT: (f64, f64) = (12.0, 85.0);

/// Which half a narrow screen shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Half {
    /// The text.
    #[default]
    Editor,
    /// The rows.
    Result,
}

/// The owner.
#[derive(Clone, Copy)]
pub struct Layout {
    /// Width of the explorer.
    pub explorer_px: RwSignal<f64>,
    /// The editor's share of the height.
    pub editor_percent: RwSignal<f64>,
    /// The explorer is there (on a wide screen).
    pub explorer_shown: RwSignal<bool>,
    /// The explorer is drawn out (on a narrow screen).
    pub drawer_out: RwSignal<bool>,
    /// Keys of the explorer's rows that are unfolded.
    pub unfolded: RwSignal<HashSet<String>>,
    /// They were kept by an earlier load of the page.
    pub unfolded_kept: StoredValue<bool>,
    /// What a narrow screen shows.
    pub half: RwSignal<Half>,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    explorer_px: f64,
    editor_percent: f64,
    explorer_shown: bool,
    #[serde(default)]
    unfolded: Option<HashSet<String>>,
}

impl Layout {
    /// As it was left, or as it starts.
    pub fn kept() -> Self {
        let kept = storage::get(KEY).and_then(|text| serde_json::from_str::<Kept>(&text).ok());
        let kept = kept.unwrap_or(Kept { explorer_px: 264.0, editor_percent: 38.0, explorer_shown: true, unfolded: None });
        Self {
            explorer_px: RwSignal::new(bounded(kept.explorer_px, EXPLORER_PX)),
            editor_percent: RwSignal::new(bounded(kept.editor_percent, EDITOR_PERCENT)),
            explorer_shown: RwSignal::new(kept.explorer_shown),
            unfolded_kept: StoredValue::new(kept.unfolded.is_some()),
            unfolded: RwSignal::new(kept.unfolded.unwrap_or_default()),
            drawer_out: RwSignal::new(false),
            half: RwSignal::new(Half::Editor),
        }
    }

    /// Follows what is kept, for an effect.
    pub fn track(self) {
        self.explorer_px.track();
        self.editor_percent.track();
        self.explorer_shown.track();
        self.unfolded.track();
    }

    /// Keeps it for the next load.
    pub fn keep(self) {
        let kept = Kept {
            explorer_px: self.explorer_px.get_untracked(),
            editor_percent: self.editor_percent.get_untracked(),
            explorer_shown: self.explorer_shown.get_untracked(),
            unfolded: Some(self.unfolded.get_untracked()),
        };
        if let Ok(text) = serde_json::to_string(&kept) {
            storage::set(KEY, &text);
        }
    }
}

/// `value` within `(least, most)`; what is no number is the least.
pub fn bounded(value: f64, (least, most): (f64, f64)) -> f64 {
    if value.is_finite() { value.clamp(least, most) } else { least }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_from_a_damaged_store_is_still_usable() {
        assert_eq!(bounded(f64::NAN, EXPLORER_PX), 180.0);
        assert_eq!(bounded(9e9, EXPLORER_PX), 560.0);
        assert_eq!(bounded(300.0, EXPLORER_PX), 300.0);
    }
}
