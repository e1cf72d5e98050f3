//! Where suggestions come from: one row each in [`SOURCES`].
//!
//! Invariant: a source only adds offers that may stand at the context's place; ranking is not its matter. Columns come from the tables of
//! the scopes around the cursor alone. Start at [`SOURCES`].

mod joins;

use super::context::{Context, Place};
use super::index::{CatalogIndex, ColumnEntry, Kind, SchemaEntry, Target, kind_of};
use super::{Effort, Suggestion, SuggestionKind, keywords, rank};
use crate::sql::outline::{Clause, Output, TableSource, TableUse};
use std::collections::BTreeMap;

/// A source of suggestions.
pub struct Source {
    /// Its name.
    pub name: &'static str,
    /// Adds its offers.
    pub offer: fn(&mut Offers<'_>),
}

/// Every source. A new one is a row here and a function.
pub static SOURCES: &[Source] = &[
    Source { name: "join conditions", offer: joins::join_conditions },
    Source { name: "columns", offer: columns },
    Source { name: "aliases", offer: aliases },
    Source { name: "queries by name", offer: ctes },
    Source { name: "relations", offer: relations },
    Source { name: "schemas", offer: schemas },
    Source { name: "routines", offer: routines },
    Source { name: "keywords", offer: keyword_source },
];

/// Entries a source takes of the whole catalog.
const OF_CATALOG_MAX: usize = 150;
/// Routines are many and seldom meant before a letter is typed.
const ROUTINES_UNTYPED_MAX: usize = 20;
/// A person's columns in a catalog up to which all of them are offered where no table is named yet; more would cost each key too much.
const COLUMNS_OF_ALL_MAX: usize = 2_000;
/// Characters of a system's name that show that it is meant, and not a person's name that holds the same letters.
const MEANT_CHARACTERS: usize = 3;
/// Below words of the language: which table is meant is not known yet.
const OF_ALL_WEIGHT: i32 = 12;
/// Queries within queries whose columns are followed.
const DEPTH_MAX: usize = 8;

/// An offer: a suggestion before it is known to be shown.
pub(super) struct Offer {
    pub label: String,
    pub weight: i32,
    /// It is the database system's own, or may not be used: after everything of a person's.
    pub remote: bool,
    /// Its place among equals.
    pub order: usize,
    kind: SuggestionKind,
    detail: Detail,
    insert: Insert,
}

enum Detail {
    Text(String),
    Relation(u32),
    Routine(u32),
}

enum Insert {
    /// The label as a name of the dialect.
    Name,
    /// The label as a name, after this text.
    After(String),
    /// The text itself.
    Exactly(String),
}

/// What the sources have offered so far.
pub struct Offers<'a> {
    pub(super) index: &'a CatalogIndex,
    pub(super) context: &'a Context,
    pub(super) items: Vec<Offer>,
    pub(super) effort: Effort,
    typed: String,
}

/// A column as a query sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ColumnSeen {
    name: String,
    type_name: String,
    primary_key: bool,
}

impl<'a> Offers<'a> {
    /// None yet.
    pub fn new(index: &'a CatalogIndex, context: &'a Context) -> Self {
        Offers { index, context, items: Vec::new(), effort: Effort::default(), typed: rank::fold(&context.typed) }
    }

    fn add(&mut self, label: String, kind: SuggestionKind, weight: i32, detail: Detail, insert: Insert) {
        let order = self.items.len();
        self.items.push(Offer { label, weight, remote: false, order, kind, detail, insert });
    }

    /// Adds what is in a schema: the system's own, one that may not be used, or a person's.
    fn add_of(&mut self, schema: u32, label: String, kind: SuggestionKind, weight: i32, detail: Detail, insert: Insert) {
        // Who writes the beginning of such a name means it.
        let meant = self.typed.chars().count() >= MEANT_CHARACTERS && rank::fold(&label).starts_with(&self.typed);
        let remote = self.is_remote(schema) && !meant && self.context.qualifier.is_empty();
        self.add(label, kind, weight, detail, insert);
        if let Some(offer) = self.items.last_mut() {
            offer.remote = remote;
        }
    }

    /// The suggestion an offer becomes.
    pub(super) fn finish(&self, offer: &Offer, matched: Vec<u32>) -> Suggestion {
        let detail = match &offer.detail {
            Detail::Text(text) => text.clone(),
            Detail::Relation(at) => self.relation_detail(*at),
            Detail::Routine(at) => self.routine_detail(*at),
        };
        let written = || self.written(&offer.label);
        let insert = match &offer.insert {
            Insert::Name => written(),
            Insert::After(head) => format!("{head}{}", written()),
            Insert::Exactly(text) => text.clone(),
        };
        Suggestion { label: offer.label.clone(), insert, kind: offer.kind, detail, matched }
    }

    /// Quoted where it must be, or where the person has begun with a quote.
    fn written(&self, name: &str) -> String {
        let plain = self.context.dialect.write_name(name);
        if self.context.quoted && !plain.starts_with('"') { format!("\"{plain}\"") } else { plain }
    }

    fn same(&self) -> impl Fn(&str, &str) -> bool + use<> {
        let dialect = self.context.dialect;
        move |a: &str, b: &str| dialect.same_name(a, b)
    }

    fn find(&self, path: &[String]) -> Option<u32> {
        // What was written in quotes is exact in PostgreSQL; SQLite compares without case anyway.
        self.index.find_relation(path, self.same())
    }

    fn schema_name(&self, at: u32) -> &'a str {
        self.index.schema(at).map_or("", |schema| self.index.name(schema.name))
    }

    fn is_system(&self, at: u32) -> bool {
        self.index.schema(at).is_some_and(|schema| schema.system)
    }

    fn is_remote(&self, at: u32) -> bool {
        self.index.schema(at).is_some_and(SchemaEntry::is_remote)
    }

    fn in_path(&self, at: u32) -> bool {
        self.index.schema(at).is_some_and(|schema| schema.path_place.is_some())
    }

    fn relation_detail(&self, at: u32) -> String {
        let Some(relation) = self.index.relation(at) else { return String::new() };
        if self.index.has_one_schema() {
            let columns = self.index.columns_of(relation).len();
            return if columns == 1 { "1 column".to_owned() } else { format!("{columns} columns") };
        }
        self.schema_name(relation.schema).to_owned()
    }

    fn routine_detail(&self, at: u32) -> String {
        let Some(routine) = self.index.routine(at) else { return String::new() };
        let (arguments, returns) = (self.index.name(routine.arguments), self.index.name(routine.returns));
        if returns.is_empty() { format!("({arguments})") } else { format!("({arguments}) → {returns}") }
    }

    /// `schema.` where a name outside of the search path needs it.
    fn schema_prefix(&self, schema: u32) -> Insert {
        if self.context.qualifier.is_empty() && !self.in_path(schema) {
            Insert::After(format!("{}.", self.context.dialect.write_name(self.schema_name(schema))))
        } else {
            Insert::Name
        }
    }

    /// The columns of a table in a query.
    fn columns_of(&self, table: &TableUse, scope: usize, depth: usize) -> Vec<ColumnSeen> {
        let mut columns = match &table.source {
            TableSource::Query(query) => self.outputs_of(*query, depth),
            TableSource::Routine => Vec::new(),
            TableSource::Named(path) => match (self.cte_columns(path, scope, depth), self.find(path)) {
                (Some(columns), _) => columns,
                (None, Some(relation)) => self.relation_columns(relation),
                (None, None) => Vec::new(),
            },
        };
        rename(&mut columns, &table.columns);
        columns
    }

    fn relation_columns(&self, at: u32) -> Vec<ColumnSeen> {
        let Some(relation) = self.index.relation(at) else { return Vec::new() };
        let seen = |column: &ColumnEntry| ColumnSeen {
            name: self.index.name(column.name).to_owned(),
            type_name: self.index.name(column.type_name).to_owned(),
            primary_key: column.primary_key,
        };
        self.index.columns_of(relation).iter().map(seen).collect()
    }

    /// The columns of the CTE that a bare name means in a scope; `None` when it means none.
    fn cte_columns(&self, path: &[String], scope: usize, depth: usize) -> Option<Vec<ColumnSeen>> {
        let [name] = path else { return None };
        let same = self.same();
        let outline = &self.context.outline;
        let cte = outline.scopes_from(scope).find_map(|(_, scope)| scope.ctes.iter().find(|cte| same(&cte.name, name)))?;
        let mut columns = cte.body.map_or(Vec::new(), |body| self.outputs_of(body, depth));
        rename(&mut columns, &cte.columns);
        Some(columns)
    }

    /// The columns that a query gives.
    fn outputs_of(&self, query: usize, depth: usize) -> Vec<ColumnSeen> {
        let Some(scope) = self.context.outline.scopes.get(query).filter(|_| depth < DEPTH_MAX) else { return Vec::new() };
        let same = self.same();
        let mut given = Vec::new();
        for output in &scope.outputs {
            match output {
                Output::Named(name) => {
                    let known = scope
                        .tables
                        .iter()
                        .flat_map(|table| self.columns_of(table, query, depth + 1))
                        .find(|column| same(&column.name, name));
                    given.push(ColumnSeen {
                        name: name.clone(),
                        type_name: known.map_or(String::new(), |known| known.type_name),
                        primary_key: false,
                    });
                }
                Output::All(of) => {
                    let wanted = |table: &&TableUse| of.as_ref().is_none_or(|of| table.name().is_some_and(|name| same(name, of)));
                    given.extend(scope.tables.iter().filter(wanted).flat_map(|table| self.columns_of(table, query, depth + 1)));
                }
            }
        }
        given
    }

    fn takes_values(&self) -> bool {
        matches!(self.context.place, Place::Operand | Place::JoinCondition)
    }

    /// Names of tables in scope and what they are, innermost first.
    fn tables_in_scope(&self) -> Vec<(usize, usize, &'a TableUse)> {
        let scopes = self.context.outline.scopes_from(self.context.scope).enumerate();
        scopes.flat_map(|(distance, (at, scope))| scope.tables.iter().map(move |table| (distance, at, table))).collect()
    }
}

fn rename(columns: &mut Vec<ColumnSeen>, names: &[String]) {
    for (at, name) in names.iter().enumerate() {
        match columns.get_mut(at) {
            Some(column) => column.name.clone_from(name),
            None => columns.push(ColumnSeen { name: name.clone(), type_name: String::new(), primary_key: false }),
        }
    }
}

fn add_columns(offers: &mut Offers<'_>, columns: Vec<ColumnSeen>, of: Option<&str>, weight: i32, ambiguous: impl Fn(&str) -> bool) {
    for column in columns {
        let kind = if column.primary_key { SuggestionKind::Key } else { SuggestionKind::Column };
        let detail = match of {
            Some(of) if column.type_name.is_empty() => of.to_owned(),
            Some(of) => format!("{} · {of}", column.type_name),
            None => column.type_name,
        };
        let insert = match of.filter(|_| ambiguous(&column.name)) {
            Some(of) => Insert::After(format!("{}.", offers.context.dialect.write_name(of))),
            None => Insert::Name,
        };
        offers.add(column.name, kind, weight, Detail::Text(detail), insert);
    }
}

/// Columns: of the name before the dot, of the tables in scope, of the table that is written to.
fn columns(offers: &mut Offers<'_>) {
    let context = offers.context;
    match context.place {
        _ if !context.qualifier.is_empty() => qualified_columns(offers),
        Place::TargetColumn => {
            let Some(scope) = context.outline.scopes.get(context.scope) else { return };
            let Some(table) = scope.target.and_then(|target| scope.tables.get(target)).or(scope.tables.last()) else { return };
            let columns = offers.columns_of(table, context.scope, 0);
            add_columns(offers, columns, None, 60, |_| false);
        }
        Place::ColumnName | Place::Operand | Place::JoinCondition => bare_columns(offers),
        _ => {}
    }
}

/// Columns of every table while a query has none yet: what is selected is written before what it is selected from.
fn columns_of_all(offers: &mut Offers<'_>) {
    let index = offers.index;
    if index.own_column_count() > COLUMNS_OF_ALL_MAX {
        return;
    }
    let mut scanned = 0;
    let mut by_name: BTreeMap<&str, (&ColumnEntry, Vec<&str>)> = BTreeMap::new();
    for relation in index.relations().iter().filter(|relation| !offers.is_remote(relation.schema)) {
        let columns = index.columns_of(relation);
        scanned += columns.len();
        for column in columns {
            let (_, tables) = by_name.entry(index.name(column.name)).or_insert((column, Vec::new()));
            tables.push(index.name(relation.name));
        }
    }
    offers.effort.scanned += scanned;
    for (name, (column, tables)) in by_name {
        if rank::cheap_score(offers.typed.as_bytes(), rank::fold(name).as_bytes()).is_none() {
            continue;
        }
        let detail = match tables.as_slice() {
            [only] => format!("{} · {only}", index.name(column.type_name)),
            [first, second] => format!("{first}, {second}"),
            [first, second, rest @ ..] => format!("{first}, {second} and {} more", rest.len()),
            [] => String::new(),
        };
        offers.add(name.to_owned(), SuggestionKind::Column, OF_ALL_WEIGHT, Detail::Text(detail), Insert::Name);
    }
}

fn bare_columns(offers: &mut Offers<'_>) {
    let same = offers.same();
    let tables: Vec<_> = offers.tables_in_scope();
    if tables.is_empty() && offers.context.place == Place::Operand && offers.context.clause == Clause::Select {
        return columns_of_all(offers);
    }
    let bare_only = offers.context.place == Place::ColumnName;
    let several = tables.len() > 1;
    let mut seen: Vec<(usize, Option<String>, Vec<ColumnSeen>)> = Vec::new();
    for (distance, scope, table) in tables {
        seen.push((distance, table.name().map(str::to_owned), offers.columns_of(table, scope, 0)));
    }
    // How often a name is there: one that is there twice must say whose it is.
    let mut names: Vec<String> = seen.iter().flat_map(|(_, _, columns)| columns.iter().map(|column| rank::fold(&column.name))).collect();
    names.sort_unstable();
    let twice = |name: &str| {
        let folded = rank::fold(name);
        let first = names.partition_point(|known| *known < folded);
        names.get(first + 1).is_some_and(|next| *next == folded)
    };
    for (distance, name, mut columns) in seen {
        if bare_only {
            // USING takes a name that both sides have, once.
            columns.retain(|column| !offers.items.iter().any(|item| same(&item.label, &column.name)));
            let both = columns.into_iter().filter(|column| twice(&column.name)).collect();
            add_columns(offers, both, None, 60, |_| false);
        } else {
            let weight = 60 - 12 * i32::try_from(distance.min(3)).unwrap_or(3);
            add_columns(offers, columns, name.as_deref().filter(|_| several), weight, twice);
        }
    }
}

fn qualified_columns(offers: &mut Offers<'_>) {
    if matches!(offers.context.place, Place::Relation | Place::Statement | Place::Type) {
        return;
    }
    let same = offers.same();
    let qualifier = offers.context.qualifier.clone();
    let in_scope = offers.tables_in_scope().into_iter().find(|(_, _, table)| match (qualifier.as_slice(), &table.source) {
        ([name], _) => table.name().is_some_and(|known| same(known, name)),
        ([.., schema, name], TableSource::Named(path)) => {
            table.alias.is_none() && matches!(path.as_slice(), [.., s, n] if same(s, schema) && same(n, name))
        }
        _ => false,
    });
    let target = || {
        // The new row of an upsert has its table's columns.
        let scope = offers.context.outline.scopes.get(offers.context.scope)?;
        let table = scope.target.and_then(|target| scope.tables.get(target))?;
        (qualifier.len() == 1 && qualifier.iter().all(|name| same(name, "excluded")))
            .then(|| offers.columns_of(table, offers.context.scope, 0))
    };
    let columns = match in_scope {
        Some((_, scope, table)) => offers.columns_of(table, scope, 0),
        None => match target() {
            Some(columns) => columns,
            // The table is not in FROM yet, but there is one of this name.
            None => offers.find(&qualifier).map_or(Vec::new(), |relation| offers.relation_columns(relation)),
        },
    };
    add_columns(offers, columns, None, 60, |_| false);
}

/// Names of the tables in scope, to be followed by a dot.
fn aliases(offers: &mut Offers<'_>) {
    if !offers.context.qualifier.is_empty() || !offers.takes_values() {
        return;
    }
    for (distance, _, table) in offers.tables_in_scope() {
        let Some(name) = table.name() else { continue };
        let detail = match &table.source {
            TableSource::Named(path) if table.alias.is_some() => path.last().cloned().unwrap_or_default(),
            TableSource::Query(_) => "subquery".to_owned(),
            _ => "table".to_owned(),
        };
        let weight = 44 - 12 * i32::try_from(distance.min(3)).unwrap_or(3);
        offers.add(name.to_owned(), SuggestionKind::Alias, weight, Detail::Text(detail), Insert::Name);
    }
}

fn ctes(offers: &mut Offers<'_>) {
    if !offers.context.qualifier.is_empty() || offers.context.place != Place::Relation {
        return;
    }
    let outline = &offers.context.outline;
    let names: Vec<String> =
        outline.scopes_from(offers.context.scope).flat_map(|(_, scope)| scope.ctes.iter().map(|cte| cte.name.clone())).collect();
    for name in names {
        offers.add(name, SuggestionKind::Cte, 70, Detail::Text("with".to_owned()), Insert::Name);
    }
}

/// Tables and views: where a table is expected, and after a schema's dot.
fn relations(offers: &mut Offers<'_>) {
    let context = offers.context;
    let in_schema = match context.qualifier.as_slice() {
        [] if context.place == Place::Relation => None,
        [.., schema] if matches!(context.place, Place::Relation | Place::Operand | Place::JoinCondition) => {
            let Some(schema) = offers.index.find_schema(schema, offers.same()) else { return };
            Some(schema)
        }
        _ => return,
    };
    let index = offers.index;
    let wanted = |target: Target| match target {
        Target::Relation(at) => in_schema.is_none_or(|schema| index.relation(at).is_some_and(|relation| relation.schema == schema)),
        _ => false,
    };
    let best = index.best(Kind::Relations, &offers.typed, OF_CATALOG_MAX, &mut offers.effort, wanted);
    let related = joins::related_relations(offers);
    for (_, target) in best {
        let Target::Relation(at) = target else { continue };
        let Some(relation) = index.relation(at) else { continue };
        let weight = 50 - if offers.is_remote(relation.schema) { 40 } else { 0 } + if related.contains(&at) { 20 } else { 0 };
        let insert = offers.schema_prefix(relation.schema);
        offers.add_of(relation.schema, index.name(relation.name).to_owned(), kind_of(relation.kind), weight, Detail::Relation(at), insert);
    }
}

fn schemas(offers: &mut Offers<'_>) {
    let context = offers.context;
    if !context.qualifier.is_empty() || !matches!(context.place, Place::Relation | Place::Operand) {
        return;
    }
    let index = offers.index;
    let is_value = context.place == Place::Operand;
    let best = index.best(Kind::Schemas, &offers.typed, OF_CATALOG_MAX, &mut offers.effort, |_| true);
    for (_, target) in best {
        let Target::Schema(at) = target else { continue };
        let weight = if is_value { -30 } else { 10 } - if offers.is_remote(at) { 20 } else { 0 };
        offers.add_of(
            at,
            index.target_name(target).to_owned(),
            SuggestionKind::Schema,
            weight,
            Detail::Text("schema".to_owned()),
            Insert::Name,
        );
    }
}

/// Routines where a value is expected, where a table is (they may give rows), and after a schema's dot.
fn routines(offers: &mut Offers<'_>) {
    let context = offers.context;
    let in_schema = match context.qualifier.as_slice() {
        [] => None,
        [.., schema] => {
            let Some(schema) = offers.index.find_schema(schema, offers.same()) else { return };
            Some(schema)
        }
    };
    let from = context.place == Place::Relation && context.clause == Clause::From;
    if !offers.takes_values() && !from || offers.typed.is_empty() && from {
        return;
    }
    let index = offers.index;
    let wanted = |target: Target| match target {
        Target::Routine(at) => in_schema.is_none_or(|schema| index.routine(at).is_some_and(|routine| routine.schema == schema)),
        _ => false,
    };
    let count = if offers.typed.is_empty() { ROUTINES_UNTYPED_MAX } else { OF_CATALOG_MAX };
    let best = index.best(Kind::Routines, &offers.typed, count, &mut offers.effort, wanted);
    for (_, target) in best {
        let Target::Routine(at) = target else { continue };
        let Some(routine) = index.routine(at) else { continue };
        let system = offers.is_system(routine.schema);
        // The system's routines need no schema before them in either engine.
        let insert = if system { Insert::Name } else { offers.schema_prefix(routine.schema) };
        let weight = if from { 0 } else { 10 } - if offers.is_remote(routine.schema) { 6 } else { 0 };
        // One row for all overloads of a name.
        if offers.items.last().is_some_and(|last| last.kind == SuggestionKind::Routine && last.label == index.name(routine.name)) {
            continue;
        }
        let name = index.name(routine.name).to_owned();
        if from {
            offers.add_of(routine.schema, name, SuggestionKind::Routine, weight, Detail::Routine(at), insert);
        } else {
            offers.add(name, SuggestionKind::Routine, weight, Detail::Routine(at), insert);
        }
    }
}

fn keyword_source(offers: &mut Offers<'_>) {
    let context = offers.context;
    if !context.qualifier.is_empty() || context.quoted {
        return;
    }
    let weight = match context.place {
        Place::Operand | Place::JoinCondition | Place::Relation => 16,
        _ => 40,
    };
    let mut seen: Vec<&str> = Vec::new();
    for word in keywords::words_at(context.place, context.clause, context.dialect.kind) {
        // COUNT and its like may be known as routines, with their arguments.
        let is_routine = offers.items.iter().any(|item| item.kind == SuggestionKind::Routine && item.label.eq_ignore_ascii_case(word));
        if seen.contains(&word) || is_routine {
            continue;
        }
        seen.push(word);
        let written = if context.capitals { word.to_owned() } else { word.to_ascii_lowercase() };
        offers.add(written.clone(), SuggestionKind::Keyword, weight, Detail::Text(String::new()), Insert::Exactly(written));
    }
}
