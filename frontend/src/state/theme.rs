//! Light, dark, or as the system has it.

use crate::api::storage;

const KEY: &str = "sheaf.theme";

/// The choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the system has it.
    #[default]
    System,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
}

impl Theme {
    /// The value of `data-theme`; none for the system's.
    pub fn attribute(self) -> Option<&'static str> {
        match self {
            Self::System => None,
            Self::Light => Some("light"),
            Self::Dark => Some("dark"),
        }
    }

    /// In words.
    pub fn title(self) -> &'static str {
        match self {
            Self::System => "as the system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// The one after it.
    pub fn next(self) -> Self {
        match self {
            Self::System => Self::Light,
            Self::Light => Self::Dark,
            Self::Dark => Self::System,
        }
    }
}

/// The choice that was kept.
pub fn kept() -> Theme {
    match storage::get(KEY).as_deref() {
        Some("light") => Theme::Light,
        Some("dark") => Theme::Dark,
        _ => Theme::System,
    }
}

/// Keeps a choice for the next load.
pub fn keep(theme: Theme) {
    match theme.attribute() {
        Some(value) => {
            storage::set(KEY, value);
        }
        None => storage::remove(KEY),
    }
}
