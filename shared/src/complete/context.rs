//! What may stand at a cursor: the word begun there, the names before its dots, and what the grammar takes at that place.
//!
//! Invariant: the word under the cursor is no part of the statement it is completed in; inside of texts, comments, numbers and parameters
//! nothing is offered. Start at [`context_at`].

use crate::sql::dialects::Dialect;
use crate::sql::lexer::{Lexer, Token, TokenKind};
use crate::sql::outline::{Clause, Outline, State, outline};

/// What the grammar takes at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The head of a statement.
    Statement,
    /// A table.
    Relation,
    /// What follows a table: joins, the next clause.
    AfterRelation,
    /// Right after `ON`: a join condition.
    JoinCondition,
    /// A value: column, call, literal.
    Operand,
    /// What follows a value: operators, the next clause.
    AfterOperand,
    /// A column of the tables in scope, bare.
    ColumnName,
    /// A column of the table that is written to.
    TargetColumn,
    /// A type's name.
    Type,
    /// A word of the language only.
    Word,
    /// A name that is being made up.
    NewName,
}

/// A cursor's surroundings.
#[derive(Debug)]
pub struct Context {
    /// First byte of the word begun, or the cursor.
    pub from: usize,
    /// Byte after the word, or the cursor.
    pub to: usize,
    /// What was typed of it up to the cursor, quotes taken off.
    pub typed: String,
    /// It was begun with a quote.
    pub quoted: bool,
    /// The names before its dots, quotes taken off.
    pub qualifier: Vec<String>,
    /// What may stand here.
    pub place: Place,
    /// The clause.
    pub clause: Clause,
    /// The query, an index of the outline's scopes.
    pub scope: usize,
    /// The statement without the word.
    pub outline: Outline,
    /// Keywords are written in capitals here.
    pub capitals: bool,
    /// Its rules.
    pub dialect: &'static Dialect,
}

/// Words after which a value must come.
const BEFORE_OPERAND: &[&str] = &[
    "select",
    "distinct",
    "all",
    "where",
    "and",
    "or",
    "not",
    "on",
    "having",
    "by",
    "when",
    "then",
    "else",
    "case",
    "in",
    "like",
    "ilike",
    "between",
    "is",
    "limit",
    "offset",
    "returning",
    "set",
    "values",
    "similar",
    "glob",
    "match",
    "regexp",
    "any",
    "some",
    "using",
    "exists",
    "escape",
    "filter",
    "over",
];

/// The surroundings of a cursor in a statement; `None` where nothing may be completed.
pub fn context_at(text: &str, cursor: usize, dialect: &'static Dialect) -> Option<Context> {
    let mut cursor = cursor.min(text.len());
    while !text.is_char_boundary(cursor) {
        cursor -= 1;
    }
    let (tokens, word) = tokens_around(text, cursor, dialect)?;
    let before = tokens.partition_point(|token| token.start < word.from);
    let (qualifier, head) = qualifier_before(text, &tokens, before, dialect);
    let outline = outline(text, &tokens, dialect);
    let previous = head.checked_sub(1);
    let state = previous.and_then(|at| outline.states.get(at)).copied().unwrap_or_default();
    let place = place_after(text, &tokens, previous, state, &outline);
    let typed = text.get(word.inner..cursor).unwrap_or("").to_owned();
    let capitals = capitals(text, &tokens, &typed, dialect);
    Some(Context {
        from: word.from,
        to: word.to,
        typed,
        quoted: word.inner > word.from,
        qualifier,
        place,
        clause: state.clause,
        scope: state.scope,
        outline,
        capitals,
        dialect,
    })
}

/// The word under a cursor.
struct WordAt {
    from: usize,
    /// First byte after its opening quote.
    inner: usize,
    to: usize,
}

/// The significant tokens but the one under the cursor, and that one.
fn tokens_around(text: &str, cursor: usize, dialect: &'static Dialect) -> Option<(Vec<Token>, WordAt)> {
    let mut tokens = Vec::new();
    let mut word = WordAt { from: cursor, inner: cursor, to: cursor };
    let mut lexer = Lexer::new(text, dialect, 0);
    while let Some(token) = lexer.next() {
        let within = token.start < cursor && (cursor < token.end || token.unfinished);
        let touches = token.start < cursor && cursor <= token.end;
        match token.kind {
            TokenKind::LineComment | TokenKind::Number | TokenKind::Parameter if touches => return None,
            TokenKind::BlockComment | TokenKind::Text | TokenKind::DollarText if within => return None,
            TokenKind::Word if touches => word = WordAt { from: token.start, inner: token.start, to: token.end },
            TokenKind::QuotedName if within => {
                word = WordAt { from: token.start, inner: token.start + 1, to: token.end };
                let own = token.text(text);
                if token.unfinished || own.contains('\n') {
                    // The quote has no end yet: what it seems to hold is the rest of the statement.
                    word.to = cursor;
                    lexer = Lexer::new(text, dialect, cursor);
                }
            }
            _ if token.is_significant(text) => tokens.push(token),
            _ => {}
        }
    }
    Some((tokens, word))
}

/// The names joined by dots right before token `at`, and the index of the first token of them.
fn qualifier_before(text: &str, tokens: &[Token], mut at: usize, dialect: &Dialect) -> (Vec<String>, usize) {
    let mut names = Vec::new();
    let is = |at: usize, kinds: &[TokenKind]| tokens.get(at).is_some_and(|token| kinds.contains(&token.kind));
    while at >= 2 && is(at - 1, &[TokenKind::Dot]) && is(at - 2, &[TokenKind::Word, TokenKind::QuotedName]) {
        if let Some(token) = tokens.get(at - 2) {
            names.insert(0, dialect.name_of(token.text(text)));
        }
        at -= 2;
    }
    (names, at)
}

fn place_after(text: &str, tokens: &[Token], previous: Option<usize>, state: State, outline: &Outline) -> Place {
    let Some(at) = previous else { return Place::Statement };
    let Some(token) = tokens.get(at) else { return Place::Statement };
    let is = |word: &str| token.is_word(text, word);
    let is_kind = |kind: TokenKind| token.kind == kind;
    if token.text(text) == "::" {
        return Place::Type;
    }
    if is("as") {
        return match state.clause {
            Clause::Call => Place::Type,
            Clause::Other | Clause::Start => Place::Statement,
            _ => Place::NewName,
        };
    }
    if state.expects_new_name {
        return Place::NewName;
    }
    if state.expects_table {
        return Place::Relation;
    }
    let operand_next = matches!(token.kind, TokenKind::Comma | TokenKind::Open)
        || is_kind(TokenKind::Operator) && !is_star(text, tokens, at)
        || is_kind(TokenKind::Word) && BEFORE_OPERAND.iter().any(|word| is(word));
    match state.clause {
        Clause::Start if is_kind(TokenKind::Open) || is_kind(TokenKind::Semicolon) => Place::Statement,
        Clause::Start | Clause::Between | Clause::Other | Clause::With | Clause::Update => Place::Word,
        Clause::Into if outline.scopes.get(state.scope).is_some_and(|scope| scope.target.is_some()) => Place::Word,
        Clause::From | Clause::Into => Place::AfterRelation,
        Clause::On if is("on") => Place::JoinCondition,
        Clause::Using | Clause::Columns if operand_next => {
            if state.clause == Clause::Using {
                Place::ColumnName
            } else {
                Place::TargetColumn
            }
        }
        Clause::Using | Clause::Columns => Place::Word,
        Clause::Set if is("set") || is_kind(TokenKind::Comma) => Place::TargetColumn,
        Clause::Limit if operand_next => Place::Word,
        _ if operand_next => Place::Operand,
        _ => Place::AfterOperand,
    }
}

/// `*` for all columns, and not for "times".
fn is_star(text: &str, tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    let opens = before.is_some_and(|before| {
        matches!(before.kind, TokenKind::Dot | TokenKind::Comma | TokenKind::Open)
            || ["select", "distinct", "all", "returning"].iter().any(|word| before.is_word(text, word))
    });
    opens && tokens.get(at).is_some_and(|token| token.text(text) == "*")
}

/// Keywords follow the letters typed; without any, the first keyword of the statement.
fn capitals(text: &str, tokens: &[Token], typed: &str, dialect: &Dialect) -> bool {
    let letters = |word: &str| word.chars().find(char::is_ascii_alphabetic).map(|letter| letter.is_ascii_uppercase());
    let first = || tokens.iter().find(|token| token.kind == TokenKind::Word && dialect.is_reserved(token.text(text)));
    let keyword = || first().and_then(|token| letters(token.text(text)));
    // One small letter is how people type a column too: then the statement decides.
    match letters(typed) {
        Some(true) => true,
        Some(false) => keyword().unwrap_or(false),
        None => keyword().unwrap_or(true),
    }
}
