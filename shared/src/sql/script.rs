//! The text of an editor with its statements, kept up to date edit by edit.
//!
//! Invariant: after any edits the segments are those that splitting the whole text anew would give (a test says so), though an
//! edit reads again only the statements it touches. Places come from a browser, which counts UTF-16 units; the text is UTF-8.
//! Start at [`Script::edit`], [`Script::segment_at`] and [`Script::colours`].

use super::colour::{Colour, colour_of};
use super::dialects::dialect;
use super::lexer::{Lexer, Token, TokenKind};
use super::splitter::{Delimiter, next_segment, segments};
use crate::wire::connection::EngineKind;
use std::ops::Range;

/// A text and where its statements are.
#[derive(Debug)]
pub struct Script {
    text: String,
    kind: EngineKind,
    segments: Vec<Segment>,
    /// A token's start in a long segment, right before what was coloured last: reading can begin there, for tokens do not depend on
    /// those before them.
    resume: Option<Resume>,
}

#[derive(Clone, Copy, Debug)]
struct Resume {
    segment: usize,
    byte: usize,
    unit: usize,
}

/// A statement with the blanks and comments before it and its semicolon, by lengths: an edit elsewhere leaves it as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Segment {
    bytes: usize,
    units: usize,
    /// From the segment's start.
    statement: Option<Range<usize>>,
    closed: bool,
    /// What ends the statements behind it.
    delimiter: Delimiter,
}

/// A segment in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The segment's text.
    pub text: &'a str,
    /// Byte of the script at which it starts.
    pub start: usize,
    /// UTF-16 unit of the script at which it starts.
    pub start_units: usize,
    /// The asked place, in bytes from the segment's start.
    pub at: usize,
}

impl Script {
    /// Reads the whole text.
    pub fn new(text: String, kind: EngineKind) -> Self {
        let mut script = Script { text, kind, segments: Vec::new(), resume: None };
        script.segments = script.read(0, None, &|_| None).0;
        script
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Reads the text in another dialect from now on.
    pub fn set_kind(&mut self, kind: EngineKind) {
        if kind != self.kind {
            *self = Script::new(std::mem::take(&mut self.text), kind);
        }
    }

    /// Replaces `deleted` UTF-16 units at `from` by `insert`. What lies outside of the text is cut off.
    pub fn edit(&mut self, from: usize, deleted: usize, insert: &str) {
        let (first, first_start, start) = self.find(from);
        let end = self.byte_of(from.saturating_add(deleted)).max(start);
        // An edit at or before the known place may change what the tokens there are.
        self.resume = self.resume.filter(|resume| resume.byte < start);
        self.text.replace_range(start..end, insert);

        // Ends of the old segments after the edit, moved to where they are now.
        let resume = start + insert.len();
        let mut old_end = first_start;
        let mut moved: Vec<(usize, usize)> = Vec::new();
        for (index, segment) in self.segments.iter().enumerate().skip(first) {
            old_end += segment.bytes;
            if old_end > end {
                moved.push((old_end - end + resume, index));
            }
        }
        let resync = |new_end: usize| {
            let found = moved.binary_search_by_key(&new_end, |&(end, _)| end).ok()?;
            moved.get(found).map(|&(_, index)| index)
        };
        let (fresh, kept_from) = self.read(first_start, self.delimiter_of(first), &resync);
        self.segments.splice(first..kept_from.unwrap_or(self.segments.len()), fresh);
    }

    /// Segments from byte `at` on, until one ends where `resync` knows an old segment's end: then the old ones after it hold, unless
    /// another delimiter ends them now.
    fn read(&self, mut at: usize, mut delimiter: Delimiter, resync: &dyn Fn(usize) -> Option<usize>) -> (Vec<Segment>, Option<usize>) {
        let mut segments = Vec::new();
        while let Some(next) = next_segment(&self.text, at, dialect(self.kind), &delimiter) {
            let text = self.text.get(at..next.end).unwrap_or("");
            let statement = next.statement.map(|range| range.start - at..range.end - at);
            segments.push(Segment {
                bytes: text.len(),
                units: units(text),
                statement,
                closed: next.closed,
                delimiter: next.delimiter.clone(),
            });
            at = next.end;
            delimiter = next.delimiter;
            let holds = |index: &usize| next.closed && self.segments.get(*index).is_some_and(|old| old.delimiter == delimiter);
            if let Some(index) = resync(at).filter(holds) {
                return (segments, Some(index + 1));
            }
        }
        (segments, None)
    }

    /// Index and start of the segment that an edit at this UTF-16 unit touches, and the byte of the unit.
    fn find(&self, unit: usize) -> (usize, usize, usize) {
        let (mut byte, mut seen) = (0, 0);
        for (index, segment) in self.segments.iter().enumerate() {
            let last = index + 1 == self.segments.len();
            if unit < seen + segment.units || last {
                let text = self.text.get(byte..byte + segment.bytes).unwrap_or("");
                if segment.closed && unit >= seen + segment.units {
                    return (index + 1, byte + segment.bytes, byte + segment.bytes);
                }
                return (index, byte, byte + byte_of_unit(text, segment.units, unit - seen));
            }
            byte += segment.bytes;
            seen += segment.units;
        }
        (0, 0, 0)
    }

    /// The byte of a UTF-16 unit.
    pub fn byte_of(&self, unit: usize) -> usize {
        self.find(unit).2
    }

    /// The UTF-16 unit of a byte.
    pub fn unit_of(&self, byte: usize) -> usize {
        let (mut start, mut seen) = (0, 0);
        for segment in &self.segments {
            if byte < start + segment.bytes {
                let mut inside = byte - start;
                let text = self.text.get(start..start + segment.bytes).unwrap_or("");
                while !text.is_char_boundary(inside) {
                    inside -= 1;
                }
                return seen + units(text.get(..inside).unwrap_or(""));
            }
            start += segment.bytes;
            seen += segment.units;
        }
        seen
    }

    /// The segment a cursor at this UTF-16 unit writes in: right after a semicolon, the next one.
    pub fn segment_at(&self, unit: usize) -> Place<'_> {
        let (index, start, byte) = self.find(unit);
        let bytes = self.segments.get(index).map_or(0, |segment| segment.bytes);
        let start_units = self.segments.iter().take(index).map(|segment| segment.units).sum();
        Place { text: self.text.get(start..start + bytes).unwrap_or(""), start, start_units, at: byte - start }
    }

    /// What to colour between two UTF-16 units, as (from, to, [`Colour`]) one after the other, in units; statements that begin there
    /// come as [`Colour::Statement`]. Tokens that reach over an end are given whole.
    pub fn colours(&mut self, from: usize, to: usize) -> Vec<u32> {
        let mut found = Vec::new();
        let mut first = Resume { segment: 0, byte: 0, unit: 0 };
        while let Some(segment) = self.segments.get(first.segment).filter(|segment| first.unit + segment.units <= from) {
            first = Resume { segment: first.segment + 1, byte: first.byte + segment.bytes, unit: first.unit + segment.units };
        }
        let known = self.resume.filter(|resume| resume.segment == first.segment && resume.unit <= from && resume.byte >= first.byte);
        let (mut byte, mut unit) = (first.byte, first.unit);
        let mut start = known;
        for (index, segment) in self.segments.iter().enumerate().skip(first.segment) {
            if unit >= to {
                break;
            }
            let end = byte + segment.bytes;
            if let Some(statement) = &segment.statement {
                let place = |at: usize| unit + units(self.text.get(byte..byte + at).unwrap_or(""));
                if segment.bytes < LONG_SEGMENT {
                    push(&mut found, place(statement.start), place(statement.end), Colour::Statement);
                }
            }
            let begin = start.take().unwrap_or(Resume { segment: index, byte, unit });
            let text = self.text.get(..end).unwrap_or("");
            if let Some(resume) = self.colour_segment(text, begin, from..to, &mut found).filter(|_| segment.bytes >= LONG_SEGMENT) {
                self.resume = Some(resume);
            }
            byte = end;
            unit += segment.units;
        }
        found
    }

    /// Colours of a segment's tokens from `begin` on; gives the last token's start before the range.
    fn colour_segment(&self, text: &str, begin: Resume, range: Range<usize>, found: &mut Vec<u32>) -> Option<Resume> {
        let dialect = dialect(self.kind);
        let mut resume = None;
        let mut before: Option<Token> = None;
        let mut unit = begin.unit;
        let mut lexer = Lexer::new(text, dialect, begin.byte);
        while let Some(token) = lexer.next() {
            let start = unit;
            if start >= range.end {
                break;
            }
            unit += units(token.text(text));
            if start < range.start {
                resume = Some(Resume { byte: token.start, unit: start, ..begin });
            }
            if unit > range.start {
                let after = (token.kind == TokenKind::Word)
                    .then(|| lexer.clone().find(|next| next.kind != TokenKind::Space))
                    .flatten()
                    .map(|next| next.kind);
                if let Some(colour) = colour_of(text, &token, before.as_ref(), after, dialect) {
                    push(found, start, unit, colour);
                }
            }
            before = Some(token);
        }
        resume
    }

    /// The statements, as byte ranges.
    pub fn statements(&self) -> Vec<Range<usize>> {
        let mut start = 0;
        let placed = self.segments.iter().map(|segment| {
            let place = segment.statement.as_ref().map(|range| start + range.start..start + range.end);
            start += segment.bytes;
            place
        });
        placed.flatten().collect()
    }

    /// The statements of a part, given by UTF-16 units, as byte ranges of the whole; they end by what ends those around it.
    pub fn statements_between(&self, from: usize, to: usize) -> Vec<Range<usize>> {
        let (index, _, start) = self.find(from);
        let part = self.text.get(start..self.byte_of(to).max(start)).unwrap_or("");
        let found = segments(part, dialect(self.kind), self.delimiter_of(index)).filter_map(|segment| segment.statement);
        found.map(|range| start + range.start..start + range.end).collect()
    }

    /// What ends the statement of that segment.
    fn delimiter_of(&self, segment: usize) -> Delimiter {
        segment.checked_sub(1).and_then(|before| self.segments.get(before)).and_then(|before| before.delimiter.clone())
    }

    /// The statement a cursor at this UTF-16 unit means (see [`super::splitter::statement_at`], whose rule it is).
    pub fn statement_at(&self, unit: usize) -> Option<Range<usize>> {
        let cursor = self.byte_of(unit);
        let mut start = 0;
        let segments = self.segments.iter().map(|segment| {
            let statement = segment.statement.as_ref().map(|range| start + range.start..start + range.end);
            start += segment.bytes;
            super::splitter::Segment { statement, end: start, closed: segment.closed, delimiter: None }
        });
        super::splitter::statement_in(segments, &self.text, cursor)
    }
}

/// From this many bytes on a statement is read from a known place inside, not from its start.
const LONG_SEGMENT: usize = 16 * 1024;

fn push(found: &mut Vec<u32>, from: usize, to: usize, colour: Colour) {
    let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    found.extend([narrow(from), narrow(to), colour as u32]);
}

fn units(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() }
}

/// The byte at which a UTF-16 unit of the text starts; inside a pair, the pair's start.
fn byte_of_unit(text: &str, text_units: usize, unit: usize) -> usize {
    if text_units == text.len() {
        return unit.min(text.len());
    }
    let mut seen = 0;
    for (byte, character) in text.char_indices() {
        seen += character.len_utf16();
        if seen > unit {
            return byte;
        }
    }
    text.len()
}
