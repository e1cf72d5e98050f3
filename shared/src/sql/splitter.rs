//! Where statements begin and end, and which one a cursor means.
//!
//! Invariant: a range never cuts a token; text between two ranges is blanks, comments and semicolons only. A blank line is no
//! end of a statement. Where a dialect has `DELIMITER` lines, they are no statements: they say what ends those behind them, inside a
//! word too, and are never sent; where a text may carry the data of a COPY, that is no statement either. Start at [`split`] and [`statement_at`]; `next_segment` is what both use.

use super::dialects::{Dialect, dialect};
use super::lexer::{Lexer, Token, TokenKind};
use crate::wire::connection::EngineKind;
use std::ops::Range;
use std::sync::Arc;

/// The statements of a text, each without its semicolon and without the comments around it.
pub fn split(text: &str, kind: EngineKind) -> Vec<Range<usize>> {
    segments(text, dialect(kind), None).filter_map(|segment| segment.statement).collect()
}

/// The statement a cursor means. One the cursor is in or at the end of; else the one that ends on the cursor's line; else, from
/// within the comment or the indentation right above a statement, that one; else the one before, and at last the one after.
pub fn statement_at(text: &str, cursor: usize, kind: EngineKind) -> Option<Range<usize>> {
    statement_in(segments(text, dialect(kind), None), text, cursor)
}

/// The rule of [`statement_at`] over segments that are known already.
pub(crate) fn statement_in(segments: impl Iterator<Item = Segment>, text: &str, cursor: usize) -> Option<Range<usize>> {
    let mut before: Option<Segment> = None;
    for segment in segments {
        let Some(statement) = segment.statement.clone() else { continue };
        if statement.start <= cursor {
            if cursor < segment.end {
                return Some(statement);
            }
            before = Some(segment);
            continue;
        }
        let takes_before = before.as_ref().is_some_and(|before| belongs_to_former(text, before.end, cursor, statement.start));
        return if takes_before { before.and_then(|before| before.statement) } else { Some(statement) };
    }
    before.and_then(|before| before.statement)
}

/// In the gap between two statements: does the cursor mean the former?
fn belongs_to_former(text: &str, former_end: usize, cursor: usize, next_start: usize) -> bool {
    let has_line_end = |range: Range<usize>| text.as_bytes().get(range).is_some_and(|gap| gap.contains(&b'\n'));
    if !has_line_end(former_end..cursor) {
        return true;
    }
    // From the start of the cursor's line on, is there an empty line before the next statement?
    let line_start = text.as_bytes().get(..cursor).and_then(|head| head.iter().rposition(|&b| b == b'\n')).map_or(0, |at| at + 1);
    let gap = text.as_bytes().get(line_start..next_start).unwrap_or(b"");
    let mut lines: Vec<&[u8]> = gap.split(|&b| b == b'\n').collect();
    lines.pop();
    lines.iter().any(|line| line.iter().all(u8::is_ascii_whitespace))
}

/// A statement and all that belongs to its place: blanks and comments before it, its semicolon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The statement; `None` for blanks, comments or a lone semicolon.
    pub statement: Option<Range<usize>>,
    /// Byte after the semicolon, or the end of the text.
    pub end: usize,
    /// A semicolon ended it; text added after it is no part of it.
    pub closed: bool,
    /// What ends the statements behind it.
    pub delimiter: Delimiter,
}

/// What a `DELIMITER` line has put in the semicolon's place; `None` for the semicolon.
pub(crate) type Delimiter = Option<Arc<str>>;

/// All segments of a text at whose start this delimiter holds.
pub(crate) fn segments(text: &str, dialect: &'static Dialect, mut delimiter: Delimiter) -> impl Iterator<Item = Segment> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let segment = next_segment(text, at, dialect, &delimiter)?;
        at = segment.end;
        delimiter.clone_from(&segment.delimiter);
        Some(segment)
    })
}

/// The segment that starts at byte `at`, which must be the start of the text or the end of a segment, with the delimiter of that one.
pub(crate) fn next_segment(text: &str, at: usize, dialect: &'static Dialect, delimiter: &Delimiter) -> Option<Segment> {
    let mut statement: Option<Range<usize>> = None;
    let mut body = Body::default();
    let mut copy = Copy::default();
    let mut end = None;
    let mut closed = false;
    for token in Lexer::new(text, dialect, at) {
        if let Some(mark) = delimiter
            && let Some(found) = find_in(text, &token, mark)
        {
            if found > token.start {
                statement = Some(statement.map_or(token.start, |statement| statement.start)..found);
            }
            return Some(Segment { statement, end: found + mark.len(), closed: true, delimiter: delimiter.clone() });
        }
        end = Some(token.end);
        if delimiter.is_none() && token.kind == TokenKind::Semicolon && !body.is_open() {
            if copy == Copy::TakesData {
                let (end, closed) = behind_data(text, token.end);
                return Some(Segment { statement, end, closed, delimiter: None });
            }
            closed = true;
            break;
        }
        if token.is_significant(text) {
            if dialect.delimiter_lines
                && statement.is_none()
                && let Some(line) = delimiter_line(text, &token, delimiter)
            {
                return Some(line);
            }
            body.see(text, &token, dialect);
            if dialect.copy_data && body.parentheses == 0 {
                copy = copy.then(text, &token);
            }
            statement = Some(statement.map_or(token.start, |statement| statement.start)..token.end);
        }
    }
    Some(Segment { statement, end: end?, closed, delimiter: delimiter.clone() })
}

/// Where a delimiter begins that starts in this token: anywhere but inside a text, a quoted name or a comment.
fn find_in(text: &str, token: &Token, mark: &str) -> Option<usize> {
    let whole = matches!(
        token.kind,
        TokenKind::Text | TokenKind::DollarText | TokenKind::QuotedName | TokenKind::LineComment | TokenKind::BlockComment
    );
    let last = if whole { token.start + 1 } else { token.end };
    (token.start..last).find(|&at| text.as_bytes().get(at..).is_some_and(|rest| rest.starts_with(mark.as_bytes())))
}

/// `DELIMITER` at the start of a line, with what it names, to the end of that line. With a name that the client does not take as it stands the line is a
/// statement, so that the server refuses it; without one it is a word like any other.
fn delimiter_line(text: &str, word: &Token, before: &Delimiter) -> Option<Segment> {
    let before_it = text.get(..word.start)?.trim_end_matches([' ', '\t']);
    if !word.is_word(text, "delimiter") || !(before_it.is_empty() || before_it.ends_with('\n')) {
        return None;
    }
    let rest = text.get(word.end..)?;
    let line = rest.split_inclusive('\n').next().filter(|line| line.starts_with([' ', '\t']))?;
    let name = line.split_ascii_whitespace().next()?;
    let (end, closed) = (word.end + line.len(), line.ends_with('\n'));
    if name.contains(['\\', '\'', '"', '`']) {
        let statement = Some(word.start..word.end + line.trim_ascii_end().len());
        return Some(Segment { statement, end, closed, delimiter: before.clone() });
    }
    Some(Segment { statement: None, end, closed, delimiter: (name != ";").then(|| Arc::from(name)) })
}

/// How much of `COPY … FROM STDIN` has been seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Copy {
    #[default]
    Start,
    /// It is a COPY.
    Begun,
    /// FROM was the word before.
    From,
    TakesData,
    /// It is something else.
    No,
}

impl Copy {
    fn then(self, text: &str, token: &Token) -> Self {
        match self {
            Self::Start if token.is_word(text, "copy") => Self::Begun,
            Self::Start | Self::No => Self::No,
            Self::From if token.is_word(text, "stdin") => Self::TakesData,
            Self::TakesData => Self::TakesData,
            Self::Begun | Self::From if token.is_word(text, "from") => Self::From,
            Self::Begun | Self::From => Self::Begun,
        }
    }
}

/// The end of the data that begins on the line behind a COPY's semicolon, and whether it has one: a line that is `\.`, as psql reads it.
fn behind_data(text: &str, semicolon: usize) -> (usize, bool) {
    let rest = text.get(semicolon..).unwrap_or_default();
    let mut at = semicolon;
    for (number, line) in rest.split_inclusive('\n').enumerate() {
        at += line.len();
        if number > 0 && line.trim_end_matches(['\n', '\r']) == "\\." {
            return (at, true);
        }
    }
    (at, false)
}

/// What a statement turned out to be, as far as semicolons inside it are concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Head {
    /// No word yet, or only EXPLAIN.
    #[default]
    Start,
    /// `CREATE`, and words such as `OR REPLACE TEMP` after it.
    Create,
    Trigger,
    Function,
    /// BEGIN … END with `END IF` and the like inside it.
    Routine,
    Rule,
    /// Semicolons end it.
    Plain,
}

/// Counts what must be closed before a semicolon ends the statement.
#[derive(Debug, Default)]
struct Body {
    head: Head,
    /// BEGIN … END and CASE … END inside it.
    blocks: usize,
    parentheses: usize,
    /// The word before was BEGIN, and ATOMIC must follow.
    began: bool,
    /// The word before was END; what follows tells what it closed.
    ended: bool,
    /// The word before cannot be followed by a body.
    expects_name: bool,
}

impl Body {
    fn is_open(&self) -> bool {
        self.blocks > usize::from(self.ended) || (self.head == Head::Rule && self.parentheses > 0)
    }

    fn see(&mut self, text: &str, token: &Token, dialect: &Dialect) {
        if self.closes(text, token) {
            return;
        }
        match token.kind {
            TokenKind::Word => {}
            TokenKind::Open => return self.parentheses += 1,
            TokenKind::Close => return self.parentheses = self.parentheses.saturating_sub(1),
            TokenKind::BlockComment => return,
            _ => {
                self.began = false;
                self.expects_name = token.kind == TokenKind::Dot;
                if matches!(self.head, Head::Start | Head::Create) {
                    self.head = Head::Plain;
                }
                return;
            }
        }
        let is = |word: &str| token.is_word(text, word);
        match self.head {
            Head::Start if is("create") => self.head = Head::Create,
            Head::Start if is("explain") || is("query") || is("plan") || is("analyze") || is("verbose") => {}
            Head::Create if ["or", "replace", "temp", "temporary", "constraint", "unique", "definer", "aggregate"].into_iter().any(is) => {}
            Head::Create if ["procedure", "function", "event", "trigger"].into_iter().any(is) && dialect.routine_bodies => {
                self.head = Head::Routine;
            }
            Head::Create if is("trigger") && dialect.trigger_bodies => self.head = Head::Trigger,
            Head::Create if (is("function") || is("procedure")) && dialect.atomic_bodies => self.head = Head::Function,
            Head::Create if is("rule") && dialect.rule_bodies => self.head = Head::Rule,
            Head::Start | Head::Create => self.head = Head::Plain,
            Head::Trigger | Head::Function => self.see_in_body(&is),
            Head::Routine if self.expects_name => {}
            Head::Routine if is("begin") || (self.blocks > 0 && is("case")) => self.blocks += 1,
            Head::Routine if self.blocks > 0 && is("end") => self.ended = true,
            Head::Routine | Head::Rule | Head::Plain => {}
        }
        self.expects_name = is("trigger") || is("exists") || is("function") || is("procedure");
    }

    /// Behind an END: the token that says what it closed, a block unless it is one of the words that were not counted.
    fn closes(&mut self, text: &str, token: &Token) -> bool {
        if !std::mem::take(&mut self.ended) {
            return false;
        }
        let is = |word: &str| token.is_word(text, word);
        let uncounted = ["if", "loop", "while", "repeat", "for"].into_iter().any(is);
        self.blocks = self.blocks.saturating_sub(usize::from(!uncounted));
        uncounted || is("case")
    }

    fn see_in_body(&mut self, is: &dyn Fn(&str) -> bool) {
        let began = std::mem::take(&mut self.began);
        if self.blocks > 0 {
            if is("case") {
                self.blocks += 1;
            } else if is("end") {
                self.blocks -= 1;
            }
        } else if self.expects_name {
            // CREATE TRIGGER begin …: a name.
        } else if self.head == Head::Trigger && is("begin") {
            self.blocks = 1;
        } else if self.head == Head::Function && is("begin") {
            self.began = true;
        } else if began && is("atomic") {
            self.blocks = 1;
        }
    }
}
