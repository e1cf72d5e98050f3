//! A key with its modifiers: what it matches, how it is written.

use web_sys::KeyboardEvent;

/// `Ctrl+Shift+P`. Ctrl is Cmd on a Mac.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chord {
    key: &'static str,
    with_ctrl: bool,
    with_shift: bool,
    with_alt: bool,
}

/// A key alone: a letter, a digit, or a name such as `Enter`.
pub const fn key(key: &'static str) -> Chord {
    Chord { key, with_ctrl: false, with_shift: false, with_alt: false }
}

impl Chord {
    /// With Ctrl (Cmd on a Mac).
    pub const fn ctrl(self) -> Self {
        Self { with_ctrl: true, ..self }
    }

    /// With Shift.
    pub const fn shift(self) -> Self {
        Self { with_shift: true, ..self }
    }

    /// With Alt.
    pub const fn alt(self) -> Self {
        Self { with_alt: true, ..self }
    }

    /// The event is this chord.
    pub fn is(self, event: &KeyboardEvent, mac: bool) -> bool {
        let (main, other) = if mac { (event.meta_key(), event.ctrl_key()) } else { (event.ctrl_key(), event.meta_key()) };
        main == self.with_ctrl
            && !other
            && event.shift_key() == self.with_shift
            && event.alt_key() == self.with_alt
            && (event.key().eq_ignore_ascii_case(self.key) || event.code() == self.code())
    }

    /// The place on the keyboard: with Alt a Mac gives another character.
    fn code(self) -> String {
        match self.key.as_bytes() {
            [letter] if letter.is_ascii_alphabetic() => format!("Key{}", self.key),
            [digit] if digit.is_ascii_digit() => format!("Digit{}", self.key),
            [b'.'] => "Period".to_owned(),
            [b','] => "Comma".to_owned(),
            [b'/'] => "Slash".to_owned(),
            _ => self.key.to_owned(),
        }
    }

    /// As the machine writes it: `Ctrl+Shift+P`, `⇧⌘P`.
    pub fn text(self, mac: bool) -> String {
        let name = match self.key {
            "Escape" => "Esc",
            "Enter" if mac => "↩",
            "ArrowLeft" => "←",
            "ArrowRight" => "→",
            "ArrowUp" => "↑",
            name => name,
        };
        let parts: [(bool, &str, &str); 3] =
            [(self.with_ctrl, "Ctrl+", "⌘"), (self.with_alt, "Alt+", "⌥"), (self.with_shift, "Shift+", "⇧")];
        let mut text: String = parts.iter().filter(|(on, _, _)| *on).map(|(_, plain, glyph)| if mac { *glyph } else { *plain }).collect();
        text.push_str(name);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chords_are_written_as_the_machine_does() {
        assert_eq!(key("P").ctrl().shift().text(false), "Ctrl+Shift+P");
        assert_eq!(key("P").ctrl().shift().text(true), "⌘⇧P");
        assert_eq!(key("Escape").text(false), "Esc");
    }
}
