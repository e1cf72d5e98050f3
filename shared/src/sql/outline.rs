//! Which tables, aliases, subqueries and CTEs a statement names, and which clause each token is in.
//!
//! Invariant: one pass over the tokens, a stack of parentheses and nothing else; no text is refused, and unfinished text gives what
//! can be known. A query sees its own scope and its parents', never a neighbour's. Start at [`outline`].

mod outputs;
mod walk;

use super::dialects::Dialect;
use super::lexer::Token;

/// The part of a statement that a token belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clause {
    /// Nothing said yet.
    #[default]
    Start,
    /// `WITH` and the names it makes.
    With,
    /// What a query gives.
    Select,
    /// Tables and joins.
    From,
    /// The condition of a join.
    On,
    /// The columns of `USING (…)`.
    Using,
    /// A condition on rows.
    Where,
    /// `GROUP BY`
    GroupBy,
    /// `HAVING`
    Having,
    /// `ORDER BY`
    OrderBy,
    /// `LIMIT`, `OFFSET`, `FETCH`
    Limit,
    /// The table of `UPDATE`.
    Update,
    /// Assignments of `UPDATE`.
    Set,
    /// The table of `INSERT INTO` or `MERGE INTO`.
    Into,
    /// The columns of `INSERT INTO t (…)` and of `REFERENCES t (…)`.
    Columns,
    /// `VALUES`
    Values,
    /// `RETURNING`
    Returning,
    /// After `UNION` and the like, until the next query.
    Between,
    /// Inside the parentheses of a routine's call.
    Call,
    /// Statements that define or tell the system something.
    Other,
}

/// Where a token leaves the text that follows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The clause.
    pub clause: Clause,
    /// The scope, an index of [`Outline::scopes`].
    pub scope: usize,
    /// A table's name must come next.
    pub expects_table: bool,
    /// A new name must come next (of a CTE).
    pub expects_new_name: bool,
}

/// Where rows of a table in a query come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableSource {
    /// A name, perhaps with its schema before it; quotes taken off.
    Named(Vec<String>),
    /// A subquery, an index of [`Outline::scopes`].
    Query(usize),
    /// A routine that gives rows.
    Routine,
}

/// A table in a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableUse {
    /// Where its rows come from.
    pub source: TableSource,
    /// The name it is given.
    pub alias: Option<String>,
    /// Names of its columns where they are given: `AS t (a, b)`.
    pub columns: Vec<String>,
}

impl TableUse {
    /// The name its columns are qualified with.
    pub fn name(&self) -> Option<&str> {
        match (&self.alias, &self.source) {
            (Some(alias), _) => Some(alias),
            (None, TableSource::Named(path)) => path.last().map(String::as_str),
            _ => None,
        }
    }
}

/// A query made under a name by `WITH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cte {
    /// Its name.
    pub name: String,
    /// Its columns' names where they are given.
    pub columns: Vec<String>,
    /// Its query, an index of [`Outline::scopes`].
    pub body: Option<usize>,
}

/// A column a query gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// By its name.
    Named(String),
    /// `*`, or `t.*`.
    All(Option<String>),
}

/// One query: what can be named in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The query around it.
    pub parent: Option<usize>,
    /// Its tables in their order.
    pub tables: Vec<TableUse>,
    /// The CTEs made at its head.
    pub ctes: Vec<Cte>,
    /// What it gives.
    pub outputs: Vec<Output>,
    /// The table it writes to, an index of `tables`.
    pub target: Option<usize>,
}

/// A statement's outline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// One for each token it was made from.
    pub states: Vec<State>,
    /// The queries; 0 is the statement's own.
    pub scopes: Vec<Scope>,
}

impl Outline {
    /// A scope and those around it, innermost first.
    pub fn scopes_from(&self, scope: usize) -> impl Iterator<Item = (usize, &Scope)> {
        let mut next = Some(scope);
        let mut left = self.scopes.len();
        std::iter::from_fn(move || {
            let index = next.filter(|_| left > 0)?;
            left -= 1;
            let scope = self.scopes.get(index)?;
            next = scope.parent;
            Some((index, scope))
        })
    }
}

/// The outline of a statement from its significant tokens.
pub fn outline(text: &str, tokens: &[Token], dialect: &'static Dialect) -> Outline {
    walk::walk(text, tokens, dialect)
}
