//! How much of a script is still to come, for the page that this window is after it was loaded anew: nobody starts that then.

use super::say;
use crate::api::storage;
use crate::state::consoles::Console;
use crate::state::messages::Kind;
use leptos::prelude::*;
use std::cell::Cell;

const PREFIX: &str = "sheaf.left.";

thread_local! {
    /// The page goes: what breaks off now has not ended.
    static IS_LEAVING: Cell<bool> = const { Cell::new(false) };
}

/// Tells whether the page goes, so that what was still to come is kept as it is.
pub fn set_leaving(is_leaving: bool) {
    IS_LEAVING.set(is_leaving);
}

fn key(console: Console) -> String {
    format!("{PREFIX}{}", console.name())
}

/// So many statements come behind the one that is sent now.
pub fn keep(console: Console, count: usize) {
    if IS_LEAVING.get() {
        return;
    }
    let count = (count > 0).then(|| count.to_string());
    storage::keep_for_session(&key(console), count.as_deref());
}

/// Says what was not started because the page was loaded anew, once.
pub fn say_what_was_left(console: Console) {
    let left = storage::session(&key(console)).and_then(|text| text.parse::<usize>().ok()).unwrap_or_default();
    keep(console, 0);
    if left > 0 {
        say(console, Kind::Warning, &sentence(left), None);
        console.messages.shown.set(true);
    }
}

fn sentence(left: usize) -> String {
    let what = match left {
        1 => "last statement was".to_owned(),
        many => format!("last {many} statements were"),
    };
    format!("The page was loaded anew while a script ran: its {what} not started")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_many() {
        assert_eq!(sentence(1), "The page was loaded anew while a script ran: its last statement was not started");
        assert_eq!(sentence(12), "The page was loaded anew while a script ran: its last 12 statements were not started");
    }
}
