//! Characters that turn a line around, can't be seen or are blank and no space: which they are, and what a mark in their place says.
//!
//! Invariant: pure; a plain text costs one look at its bytes. Source: Unicode 16, `DerivedCoreProperties.txt`
//! (Default_Ignorable_Code_Point), UAX #9 for those that turn a line around, and the category Zs for those that are blank.

use std::borrow::Cow;

/// Whether the ends of lines and tabs are among the marks: where there is only one line, they would be taken for a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// There is one line.
    One,
    /// Lines end as they do in the text.
    Many,
}

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// To be shown as it is.
    Plain(&'a str),
    /// To be shown as a mark.
    Mark(&'a str, Sign),
}

/// What stands in a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sign {
    code: u32,
    short: &'static str,
    words: &'static str,
}

impl Sign {
    /// In a few letters: `RLO`; the number where there are none.
    pub fn short(self) -> Cow<'static, str> {
        if self.short.is_empty() { Cow::Owned(format!("{:04X}", self.code)) } else { Cow::Borrowed(self.short) }
    }

    /// For those who want to know: `Right-to-left override (U+202E)`.
    pub fn words(self) -> String {
        format!("{} (U+{:04X})", self.words, self.code)
    }

    /// The end of a line or a tab: nothing to be wary of.
    pub fn is_blank(self) -> bool {
        matches!(self.code, 0x09 | 0x0a | 0x0d)
    }

    /// It is blank as a space is, and is none: texts of some languages are full of them.
    pub fn is_space(self) -> bool {
        matches!(self.code, 0xa0 | 0x1680 | 0x2000..=0x200a | 0x202f | 0x205f | 0x3000)
    }
}

/// First and last character, how they are called; in the order of their numbers.
const UNSEEN: &[(u32, u32, &str, &str)] = &[
    (0x00, 0x08, "", "Control character"),
    (0x09, 0x09, "→", "Tab"),
    (0x0a, 0x0a, "↵", "Line feed"),
    (0x0b, 0x0c, "", "Control character"),
    (0x0d, 0x0d, "␍", "Carriage return"),
    (0x0e, 0x1f, "", "Control character"),
    (0x7f, 0x7f, "DEL", "Control character"),
    (0x80, 0x84, "", "Control character"),
    (0x85, 0x85, "NEL", "Next line"),
    (0x86, 0x9f, "", "Control character"),
    (0xa0, 0xa0, "NBSP", "No-break space"),
    (0xad, 0xad, "SHY", "Soft hyphen"),
    (0x34f, 0x34f, "CGJ", "Combining grapheme joiner"),
    (0x61c, 0x61c, "ALM", "Arabic letter mark"),
    (0x115f, 0x1160, "HF", "Hangul filler"),
    (0x1680, 0x1680, "", "Ogham space mark"),
    (0x17b4, 0x17b5, "KIV", "Khmer vowel that is not written"),
    (0x180b, 0x180d, "FVS", "Variation selector"),
    (0x180e, 0x180e, "MVS", "Mongolian vowel separator"),
    (0x180f, 0x180f, "FVS", "Variation selector"),
    (0x2000, 0x200a, "", "Space of a width of its own"),
    (0x200b, 0x200b, "ZWSP", "Zero width space"),
    (0x200c, 0x200c, "ZWNJ", "Zero width non-joiner"),
    (0x200d, 0x200d, "ZWJ", "Zero width joiner"),
    (0x200e, 0x200e, "LRM", "Left-to-right mark"),
    (0x200f, 0x200f, "RLM", "Right-to-left mark"),
    (0x2028, 0x2028, "LS", "Line separator"),
    (0x2029, 0x2029, "PS", "Paragraph separator"),
    (0x202a, 0x202a, "LRE", "Left-to-right embedding"),
    (0x202b, 0x202b, "RLE", "Right-to-left embedding"),
    (0x202c, 0x202c, "PDF", "Pop directional formatting"),
    (0x202d, 0x202d, "LRO", "Left-to-right override"),
    (0x202e, 0x202e, "RLO", "Right-to-left override"),
    (0x202f, 0x202f, "NNBSP", "Narrow no-break space"),
    (0x205f, 0x205f, "", "Mathematical space"),
    (0x2060, 0x2060, "WJ", "Word joiner"),
    (0x2061, 0x2065, "", "Invisible operator"),
    (0x2066, 0x2066, "LRI", "Left-to-right isolate"),
    (0x2067, 0x2067, "RLI", "Right-to-left isolate"),
    (0x2068, 0x2068, "FSI", "First strong isolate"),
    (0x2069, 0x2069, "PDI", "Pop directional isolate"),
    (0x206a, 0x206f, "", "Format character"),
    (0x3000, 0x3000, "", "Ideographic space"),
    (0x3164, 0x3164, "HF", "Hangul filler"),
    (0xfe00, 0xfe0f, "VS", "Variation selector"),
    (0xfeff, 0xfeff, "BOM", "Byte order mark"),
    (0xffa0, 0xffa0, "HF", "Hangul filler"),
    (0xfff0, 0xfffb, "", "Format character"),
    (0x1_bca0, 0x1_bca3, "", "Format character"),
    (0x1_d173, 0x1_d17a, "", "Format character"),
    (0xe_0000, 0xe_00ff, "TAG", "Tag"),
    (0xe_0100, 0xe_01ef, "VS", "Variation selector"),
    (0xe_01f0, 0xe_0fff, "", "Format character"),
];

/// The control characters by their numbers.
const CONTROLS: [&str; 32] = [
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "→", "↵", "VT", "FF", "␍", "SO", "SI", "DLE", "DC1", "DC2", "DC3", "DC4",
    "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US",
];

/// A text in parts; `None` where all of it is to be shown as it is.
pub fn parts(text: &str, lines: Lines) -> Option<Vec<Part<'_>>> {
    if text.bytes().all(|byte| is_plain(byte, lines)) {
        return None;
    }
    let mut parts = Vec::new();
    let (mut done, mut before) = (0, None);
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        if let Some(sign) = sign_of(c, lines)
            && !is_seen_by_its_effect(c, before, text.get(end..).and_then(|rest| rest.chars().next()))
        {
            parts.extend(text.get(done..at).filter(|plain| !plain.is_empty()).map(Part::Plain));
            parts.extend(text.get(at..end).map(|own| Part::Mark(own, sign)));
            done = end;
        }
        before = Some(c);
    }
    if done == 0 {
        return None;
    }
    parts.extend(text.get(done..).filter(|plain| !plain.is_empty()).map(Part::Plain));
    Some(parts)
}

/// A text for a place that has no marks, a tooltip for one: `⟨RLO⟩` stands for each.
pub fn spelled(text: &str) -> Cow<'_, str> {
    let Some(parts) = parts(text, Lines::One) else { return Cow::Borrowed(text) };
    let spelled = parts.into_iter().map(|part| match part {
        Part::Plain(plain) => Cow::Borrowed(plain),
        Part::Mark(_, sign) => Cow::Owned(format!("⟨{}⟩", sign.short())),
    });
    Cow::Owned(spelled.collect())
}

fn is_plain(byte: u8, lines: Lines) -> bool {
    matches!(byte, 0x20..=0x7e) || (lines == Lines::Many && matches!(byte, b'\t' | b'\n' | b'\r'))
}

fn sign_of(c: char, lines: Lines) -> Option<Sign> {
    let code = u32::from(c);
    let at = UNSEEN.partition_point(|(_, last, ..)| *last < code);
    let (first, _, short, words) = UNSEEN.get(at)?;
    if code < *first {
        return None;
    }
    let control = usize::try_from(code).ok().and_then(|code| CONTROLS.get(code));
    let sign = Sign { code, short: control.unwrap_or(short), words };
    (lines == Lines::One || !sign.is_blank()).then_some(sign)
}

/// Joiners between letters that join, and selectors behind what has several forms, do what they are for: emoji, Arabic and Indic
/// words are full of them. Anywhere else they only make one word look like another.
fn is_seen_by_its_effect(c: char, before: Option<char>, after: Option<char>) -> bool {
    let Some(before) = before else { return false };
    match c {
        '\u{200c}' | '\u{200d}' => (joins(before) || is_selector(before)) && after.is_some_and(joins),
        '\u{fe0f}' if matches!(before, '0'..='9' | '#' | '*') => after == Some('\u{20e3}'),
        c if is_selector(c) => !before.is_ascii() && sign_of(before, Lines::One).is_none(),
        _ => false,
    }
}

/// From Hebrew on, but for the scripts of East Asia, of which no letter joins another.
fn joins(c: char) -> bool {
    c >= '\u{590}'
        && !matches!(c, '\u{3000}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}')
        && sign_of(c, Lines::One).is_none()
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_marked_in_a_word() {
        let classes = [
            ('\0', "NUL"),
            ('\u{1}', "SOH"),
            ('\u{1b}', "ESC"),
            ('\u{7f}', "DEL"),
            ('\u{80}', "0080"),
            ('\u{85}', "NEL"),
            ('\u{9b}', "009B"),
            ('\u{a0}', "NBSP"),
            ('\u{ad}', "SHY"),
            ('\u{1680}', "1680"),
            ('\u{2000}', "2000"),
            ('\u{200a}', "200A"),
            ('\u{202f}', "NNBSP"),
            ('\u{205f}', "205F"),
            ('\u{3000}', "3000"),
            ('\u{34f}', "CGJ"),
            ('\u{61c}', "ALM"),
            ('\u{1160}', "HF"),
            ('\u{17b4}', "KIV"),
            ('\u{180e}', "MVS"),
            ('\u{200b}', "ZWSP"),
            ('\u{200c}', "ZWNJ"),
            ('\u{200d}', "ZWJ"),
            ('\u{200e}', "LRM"),
            ('\u{200f}', "RLM"),
            ('\u{2028}', "LS"),
            ('\u{202a}', "LRE"),
            ('\u{202e}', "RLO"),
            ('\u{2060}', "WJ"),
            ('\u{2063}', "2063"),
            ('\u{2066}', "LRI"),
            ('\u{2069}', "PDI"),
            ('\u{206a}', "206A"),
            ('\u{3164}', "HF"),
            ('\u{fe0f}', "VS"),
            ('\u{feff}', "BOM"),
            ('\u{fff9}', "FFF9"),
            ('\u{1d173}', "1D173"),
            ('\u{e0041}', "TAG"),
            ('\u{e0100}', "VS"),
        ];
        for (c, short) in classes {
            let text = format!("ad{c}min");
            for lines in [Lines::One, Lines::Many] {
                let found = parts(&text, lines).unwrap_or_default();
                let [Part::Plain("ad"), Part::Mark(own, sign), Part::Plain("min")] = found.as_slice() else { panic!("{c:?}: {found:?}") };
                assert_eq!((*own, sign.short().as_ref()), (c.to_string().as_str(), short));
            }
            assert_eq!(spelled(&text), format!("ad⟨{short}⟩min"));
        }
        assert_eq!(parts("\u{202e}", Lines::One).map(|parts| parts.len()), Some(1));
    }

    #[test]
    fn the_table_is_in_order() {
        assert!(UNSEEN.iter().all(|(first, last, ..)| first <= last));
        assert!(UNSEEN.windows(2).all(|pair| pair[0].1 < pair[1].0));
    }

    #[test]
    fn what_can_be_seen_stays_as_it_is() {
        let texts = [
            "",
            "plain ASCII ~",
            "Ünïcödé",
            "中文",
            "שלום",
            "مرحبا",
            "a  b ",
            "ⓐ",
            "👨\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}\u{200d}🔥",
            "1\u{fe0f}\u{20e3}",
            "می\u{200c}خواهم",
            "葛\u{e0100}",
        ];
        for text in texts {
            assert_eq!(parts(text, Lines::One), None, "{text}");
            assert_eq!(spelled(text), text);
        }
    }

    #[test]
    fn a_joiner_or_a_selector_is_marked_where_it_has_no_effect() {
        for text in [
            "中\u{200d}文",
            "é\u{200d}é",
            "א\u{200d}",
            "\u{200d}א",
            "א\u{200d}\u{200d}א",
            "\u{fe0f}",
            "a\u{fe0f}",
            "1\u{fe0f}2",
            "é\u{fe0f}\u{fe0f}",
        ] {
            assert!(parts(text, Lines::One).is_some(), "{text:?}");
        }
    }

    #[test]
    fn ends_of_lines_and_tabs_are_marked_where_there_is_one_line() {
        let text = "a\tb\r\nc";
        assert_eq!(parts(text, Lines::Many), None);
        assert_eq!(spelled(text), "a⟨→⟩b⟨␍⟩⟨↵⟩c");
        assert!(parts(text, Lines::One).into_iter().flatten().all(|part| !matches!(part, Part::Mark(_, sign) if !sign.is_blank())));
        assert_eq!(parts("a\n\u{202e}", Lines::Many).map(|parts| parts.len()), Some(2));
    }

    #[test]
    fn a_blank_that_is_no_space_is_told_from_spaces_and_from_nothing() {
        for blank in "\u{a0}\u{1680}\u{2000}\u{2003}\u{200a}\u{202f}\u{205f}\u{3000}".chars() {
            let text = blank.to_string();
            let found = parts(&text, Lines::One).unwrap_or_default();
            assert!(matches!(found.as_slice(), [Part::Mark(_, sign)] if sign.is_space()), "{blank:?}: {found:?}");
        }
        assert!(["", " ", "   "].iter().all(|text| parts(text, Lines::One).is_none()));
        assert!(parts("\u{200b}\t", Lines::One).into_iter().flatten().all(|part| !matches!(part, Part::Mark(_, sign) if sign.is_space())));
    }

    #[test]
    fn a_mark_says_what_it_stands_for() {
        let Some(Part::Mark(_, sign)) = parts("\u{202e}", Lines::One).and_then(|parts| parts.first().copied()) else { panic!("no mark") };
        assert_eq!(sign.words(), "Right-to-left override (U+202E)");
    }
}
