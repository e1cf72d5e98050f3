//! The pass over a statement's tokens that makes its outline.
//!
//! Invariant: a frame for each open parenthesis and no other memory; each token gets exactly one state. Start at [`walk`]; the words that
//! change the clause are in `Walk::keyword`.

use super::{Clause, Cte, Outline, Scope, State, TableSource, TableUse};
use crate::sql::dialects::Dialect;
use crate::sql::lexer::{Token, TokenKind};

/// Reads the tokens once.
pub(super) fn walk(text: &str, tokens: &[Token], dialect: &'static Dialect) -> Outline {
    let mut walk = Walk { text, tokens, dialect, at: 0, outline: Outline::default(), frames: Vec::new(), frame: Frame::default() };
    walk.outline.scopes.push(Scope::default());
    while let Some(token) = tokens.get(walk.at) {
        walk.step(token);
        walk.record();
        walk.at += 1;
    }
    walk.finish_output();
    walk.outline
}

/// What a parenthesis was opened for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Opened {
    #[default]
    Statement,
    Query,
    /// A name list of the CTE of this index.
    CteColumns(usize),
    /// A name list of the table of this index.
    TableColumns(usize),
    Plain,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    opened: Opened,
    clause: Clause,
    scope: usize,
    /// The scope an INSERT began with, for what follows its query.
    target_scope: Option<usize>,
    expects_table: bool,
    expects_new_name: bool,
    /// The table that an alias may still follow.
    open_table: Option<usize>,
    /// First token of the output being read.
    pub(super) output_start: Option<usize>,
}

pub(super) struct Walk<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: &'a [Token],
    pub(super) dialect: &'static Dialect,
    pub(super) at: usize,
    outline: Outline,
    frames: Vec<Frame>,
    pub(super) frame: Frame,
}

/// Words before a table's name that are no part of it.
const BEFORE_TABLE: &[&str] = &["if", "not", "exists", "only", "lateral", "table", "concurrently"];

/// Words after a table that are no alias of it.
const NO_ALIAS: &[&str] = &[
    "left",
    "right",
    "inner",
    "outer",
    "full",
    "cross",
    "natural",
    "join",
    "on",
    "using",
    "where",
    "group",
    "order",
    "having",
    "limit",
    "offset",
    "fetch",
    "union",
    "intersect",
    "except",
    "set",
    "values",
    "select",
    "returning",
    "window",
    "for",
    "tablesample",
    "indexed",
    "not",
    "default",
    "when",
    "do",
    "add",
    "drop",
    "alter",
    "rename",
    "with",
    "as",
    "from",
    "into",
    "lateral",
    "owner",
    "enable",
    "disable",
    "begin",
    "overriding",
    "cascade",
    "restrict",
];

impl Walk<'_> {
    fn record(&mut self) {
        let Frame { clause, scope, expects_table, expects_new_name, .. } = self.frame;
        self.outline.states.push(State { clause, scope, expects_table, expects_new_name });
    }

    fn token(&self, offset: isize) -> Option<&Token> {
        self.tokens.get(self.at.checked_add_signed(offset)?)
    }

    fn is_word(&self, offset: isize, words: &[&str]) -> bool {
        self.token(offset).is_some_and(|token| words.iter().any(|word| token.is_word(self.text, word)))
    }

    fn is_kind(&self, offset: isize, kind: TokenKind) -> bool {
        self.token(offset).is_some_and(|token| token.kind == kind)
    }

    /// Right after a dot any word is a name. A dot with nothing right after it waits for one that is still to be written.
    fn follows_dot(&self, token: &Token) -> bool {
        self.token(-1).is_some_and(|before| before.kind == TokenKind::Dot && before.end == token.start)
    }

    fn follows_dot_at(&self, next: &Token) -> bool {
        self.token(0).is_some_and(|dot| dot.kind == TokenKind::Dot && dot.end == next.start)
    }

    pub(super) fn name(&self, token: &Token) -> String {
        self.dialect.name_of(token.text(self.text))
    }

    pub(super) fn scope(&mut self) -> Option<&mut Scope> {
        self.outline.scopes.get_mut(self.frame.scope)
    }

    fn new_scope(&mut self, parent: Option<usize>) -> usize {
        self.outline.scopes.push(Scope { parent, ..Scope::default() });
        self.outline.scopes.len() - 1
    }

    /// A scope beside the frame's own; a further query of a UNION sees the same CTEs, another statement none.
    fn neighbour(&mut self, keep_ctes: KeepCtes) {
        let (parent, ctes) = self.scope().map(|scope| (scope.parent, scope.ctes.clone())).unwrap_or_default();
        self.frame.scope = self.new_scope(parent);
        if let Some(scope) = self.scope().filter(|_| keep_ctes == KeepCtes::Yes) {
            scope.ctes = ctes;
        }
    }

    fn step(&mut self, token: &Token) {
        match token.kind {
            TokenKind::Open => self.open(),
            TokenKind::Close => self.close(),
            TokenKind::Comma => self.comma(),
            TokenKind::Semicolon => {
                self.enter(Clause::Start);
                self.neighbour(KeepCtes::No);
            }
            TokenKind::Word if !self.follows_dot(token) && self.keyword(token) => {}
            TokenKind::Word | TokenKind::QuotedName => self.named(token),
            TokenKind::Dot => {}
            _ => {
                self.frame.open_table = None;
                self.frame.expects_table = false;
            }
        }
    }

    /// The frame goes on in another clause.
    fn enter(&mut self, clause: Clause) {
        self.finish_output();
        self.frame.clause = clause;
        self.frame.expects_table = false;
        self.frame.expects_new_name = false;
        self.frame.open_table = None;
    }

    fn expect_table(&mut self, clause: Clause) {
        self.enter(clause);
        self.frame.expects_table = true;
    }

    /// Takes a word that changes the clause; false when it is none here.
    fn keyword(&mut self, token: &Token) -> bool {
        use Clause::*;
        let word = token.text(self.text).to_ascii_lowercase();
        let clause = self.frame.clause;
        let in_call = self.frame.opened == Opened::Plain;
        match word.as_str() {
            "select" => self.select(),
            "with" if matches!(clause, Start | Other | Into) && !in_call => {
                self.enter(With);
                self.frame.expects_new_name = true;
            }
            "recursive" if clause == With => {}
            "from" if in_call || self.is_word(-1, &["distinct"]) && self.is_word(-2, &["is", "not"]) => {}
            "from" | "join" => self.expect_table(From),
            "using" if clause == From && !self.is_kind(1, TokenKind::Open) || clause == Into => self.expect_table(From),
            "using" if clause == From => self.enter(Using),
            "on" if self.is_word(1, &["conflict"]) => {
                self.enter(Columns);
                self.return_to_target();
            }
            "on" if clause == From => self.enter(On),
            "on" if clause == Other && !in_call && !self.is_word(1, &["delete", "update"]) => self.expect_table(Other),
            "where" if !in_call => self.enter(Where),
            "group" if self.is_word(1, &["by"]) || self.token(1).is_none() => self.enter(GroupBy),
            "having" => self.enter(Having),
            "order" if self.is_word(1, &["by"]) || self.token(1).is_none() => self.enter(OrderBy),
            "limit" | "offset" | "fetch" if !in_call && clause != Other => self.enter(Limit),
            "union" | "intersect" | "except" | "minus" if !in_call && clause != Start => self.enter(Between),
            "values" if !in_call => self.enter(Values),
            "returning" => {
                self.enter(Returning);
                self.return_to_target();
                self.frame.output_start = Some(self.at + 1);
            }
            "set" if clause == Update || self.is_word(-1, &["update"]) => self.enter(Set),
            "update" if self.is_word(-1, &["do", "then"]) => self.enter(Update),
            "update" if !in_call && !self.is_word(-1, &["for", "on", "before", "after", "or", "of", "key"]) => {
                self.new_statement();
                self.expect_table(Update);
            }
            "delete" if self.is_word(1, &["from"]) => self.new_statement(),
            "insert" | "replace" | "merge" if self.is_word(1, &["into", "or"]) => self.new_statement(),
            "into" if !in_call => self.expect_table(if clause == Select { Other } else { Into }),
            "references" => self.expect_table(Other),
            "table" | "view" | "index" if !in_call && matches!(clause, Start | Other) => {
                let creates = (1..4).any(|back| self.is_word(-back, &["create"]));
                self.enter(Other);
                self.frame.expects_table = !creates && word != "index";
            }
            "truncate" | "describe" if clause == Start => self.expect_table(Other),
            "create" | "alter" | "drop" | "grant" | "revoke" | "comment" | "pragma" | "vacuum" | "copy" if clause == Start => {
                self.enter(Other)
            }
            "begin" if clause == Other || clause == From => {
                self.enter(Start);
                self.neighbour(KeepCtes::No);
            }
            _ => return false,
        }
        true
    }

    fn select(&mut self) {
        use Clause::*;
        match self.frame.clause {
            // INSERT INTO t SELECT: the query does not see the target.
            Into | Columns => {
                self.frame.target_scope = Some(self.frame.scope);
                self.neighbour(KeepCtes::Yes);
            }
            Between => self.neighbour(KeepCtes::Yes),
            Start | With | Other | Values => {}
            // A new query without a semicolon before it: another statement that is not separated yet.
            _ => self.neighbour(KeepCtes::No),
        }
        self.enter(Select);
        self.frame.output_start = Some(self.at + 1);
    }

    fn new_statement(&mut self) {
        if !matches!(self.frame.clause, Clause::Start | Clause::With | Clause::Other) {
            self.enter(Clause::Start);
            self.neighbour(KeepCtes::No);
        }
    }

    fn return_to_target(&mut self) {
        if let Some(scope) = self.frame.target_scope {
            self.frame.scope = scope;
        }
    }

    fn comma(&mut self) {
        self.frame.open_table = None;
        match self.frame.clause {
            Clause::From => self.frame.expects_table = true,
            Clause::On if self.frame.opened != Opened::Plain => self.expect_table(Clause::From),
            Clause::With => self.frame.expects_new_name = true,
            Clause::Select | Clause::Returning => {
                self.finish_output();
                self.frame.output_start = Some(self.at + 1);
            }
            _ => {}
        }
    }

    /// A word that is no keyword here, or a quoted name.
    fn named(&mut self, token: &Token) {
        let name = self.name(token);
        match self.frame.opened {
            Opened::CteColumns(cte) => {
                if let Some(cte) = self.scope().and_then(|scope| scope.ctes.get_mut(cte)) {
                    cte.columns.push(name);
                }
                return;
            }
            Opened::TableColumns(table) => {
                // The first word of each part: `AS t (a int, b text)`.
                if (self.is_kind(-1, TokenKind::Open) || self.is_kind(-1, TokenKind::Comma))
                    && let Some(table) = self.scope().and_then(|scope| scope.tables.get_mut(table))
                {
                    table.columns.push(name);
                }
                return;
            }
            _ => {}
        }
        if self.frame.expects_new_name {
            self.frame.expects_new_name = false;
            if let Some(scope) = self.scope() {
                scope.ctes.push(Cte { name, columns: Vec::new(), body: None });
            }
        } else if self.frame.expects_table {
            if token.kind == TokenKind::QuotedName || !self.is_word(0, BEFORE_TABLE) {
                self.table(name);
            }
        } else if let Some(table) = self.frame.open_table {
            self.alias(table, token, name);
        }
    }

    /// A table's name, with the schema before it.
    fn table(&mut self, first: String) {
        let mut path = vec![first];
        while self.is_kind(1, TokenKind::Dot) {
            self.record();
            self.at += 1;
            let names = |next: &&Token| matches!(next.kind, TokenKind::Word | TokenKind::QuotedName) && self.follows_dot_at(next);
            let Some(next) = self.token(1).filter(names).copied() else {
                // A schema and a dot: the name is still to come.
                self.frame.expects_table = true;
                return;
            };
            self.record();
            self.at += 1;
            path.push(self.name(&next));
        }
        self.frame.expects_table = false;
        let routine = self.frame.clause == Clause::From && self.is_kind(1, TokenKind::Open);
        let source = if routine { TableSource::Routine } else { TableSource::Named(path) };
        let writes = matches!(self.frame.clause, Clause::Update | Clause::Into);
        self.add_table(source);
        let added = self.frame.open_table;
        if let Some(scope) = self.scope().filter(|_| writes) {
            scope.target = added;
        }
    }

    fn add_table(&mut self, source: TableSource) {
        let Some(scope) = self.scope() else { return };
        scope.tables.push(TableUse { source, alias: None, columns: Vec::new() });
        let index = scope.tables.len() - 1;
        self.frame.open_table = Some(index);
        self.frame.expects_table = false;
    }

    fn alias(&mut self, table: usize, token: &Token, name: String) {
        if self.is_word(0, &["as"]) {
            return;
        }
        if token.kind == TokenKind::QuotedName || !self.is_word(0, NO_ALIAS) {
            if let Some(table) = self.scope().and_then(|scope| scope.tables.get_mut(table)) {
                table.alias = Some(name);
            }
            // A list of column names may follow the alias.
            if self.is_kind(1, TokenKind::Open) && self.frame.clause == Clause::From {
                return;
            }
        }
        self.frame.open_table = None;
    }

    fn open(&mut self) {
        let outer = self.frame;
        let query = self.is_word(1, &["select", "with", "values", "insert", "update", "delete"]);
        let mut inner = Frame { opened: Opened::Plain, clause: outer.clause, scope: outer.scope, ..Frame::default() };
        let last_cte = self.outline.scopes.get(outer.scope).map_or(0, |scope| scope.ctes.len()).checked_sub(1);
        match (outer.clause, last_cte, outer.open_table) {
            (Clause::With, Some(cte), _) if self.is_word(-1, &["as", "materialized"]) => {
                let body = self.new_scope(Some(outer.scope));
                if let Some(cte) = self.scope().and_then(|scope| scope.ctes.get_mut(cte)) {
                    cte.body = Some(body);
                }
                inner = Frame { opened: Opened::Query, scope: body, ..Frame::default() };
            }
            (Clause::With, Some(cte), _) => inner.opened = Opened::CteColumns(cte),
            _ if query => {
                let scope = self.new_scope(Some(outer.scope));
                if outer.clause == Clause::From && outer.expects_table {
                    self.add_table(TableSource::Query(scope));
                }
                inner = Frame { opened: Opened::Query, scope, ..Frame::default() };
            }
            (Clause::From, _, _) if outer.expects_table => {
                inner.opened = Opened::Query;
                inner.expects_table = true;
                self.frame.expects_table = false;
            }
            (Clause::From, _, Some(table)) if !self.after_routine_name() => inner.opened = Opened::TableColumns(table),
            (Clause::Into, ..) => inner.clause = Clause::Columns,
            (Clause::Other, _, Some(_)) => inner.clause = Clause::Columns,
            (Clause::Using | Clause::Columns | Clause::Values | Clause::Other, ..) => {}
            _ => inner.clause = if self.after_name() { Clause::Call } else { outer.clause },
        }
        self.frames.push(self.frame);
        self.frame = inner;
    }

    /// `generate_series(`: the parenthesis of a call, not of column names.
    fn after_routine_name(&self) -> bool {
        let uses = self.frame.open_table.and_then(|table| self.outline.scopes.get(self.frame.scope)?.tables.get(table));
        uses.is_some_and(|table| table.source == TableSource::Routine && table.alias.is_none())
    }

    fn after_name(&self) -> bool {
        let word = self.is_kind(-1, TokenKind::Word)
            && !self.is_word(-1, &["in", "and", "or", "not", "on", "where", "then", "when", "else", "select", "over", "by"]);
        word || self.is_kind(-1, TokenKind::QuotedName)
    }

    fn close(&mut self) {
        let Some(outer) = self.frames.pop() else { return };
        self.finish_output();
        let closed = std::mem::replace(&mut self.frame, outer);
        if let Opened::TableColumns(_) = closed.opened {
            self.frame.open_table = None;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum KeepCtes {
    Yes,
    No,
}
