//! The catalog as completion reads it: names once each, sorted, with the letters they hold as a mask.
//!
//! Invariant: immutable once built; every name is kept once, columns are numbers. Finding looks at each name's mask at most once.
//! Start at [`CatalogIndex::build`] and [`CatalogIndex::search`].

use super::rank::{self, Scored};
use super::{Effort, SuggestionKind};
use crate::wire::catalog::{Catalog, RelationKind, Schema};
use std::collections::HashMap;
use std::ops::Range;

/// More than any cheap score: the system's own names, and those that may not be used, come after a person's.
const SYSTEM_REMOTENESS: i32 = 10_000;

/// A name's number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NameId(u32);

/// Every name once, one after the other in one text.
#[derive(Debug, Default)]
struct Names {
    text: String,
    ends: Vec<u32>,
}

impl Names {
    fn get(&self, id: NameId) -> &str {
        let at = id.0 as usize;
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0) as usize;
        self.ends.get(at).and_then(|&end| self.text.get(start..end as usize)).unwrap_or("")
    }
}

/// Gives names their numbers while an index is built.
#[derive(Default)]
struct Interner<'a> {
    names: Names,
    known: HashMap<&'a str, NameId>,
}

impl<'a> Interner<'a> {
    fn id(&mut self, name: &'a str) -> NameId {
        let names = &mut self.names;
        *self.known.entry(name).or_insert_with(|| {
            names.text.push_str(name);
            names.ends.push(narrow(names.text.len()));
            NameId(narrow(names.ends.len() - 1))
        })
    }
}

/// Names and their number stay far below 4 GiB: a catalog that large does not fit a browser at all.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[derive(Debug)]
pub(super) struct SchemaEntry {
    pub name: NameId,
    pub system: bool,
    denied: bool,
    /// Only names are known of it; what else is in it must be asked for.
    partial: bool,
    /// Its place in the search path.
    pub path_place: Option<u32>,
}

impl SchemaEntry {
    /// Its names come last: it is the system's own, or may not be used.
    pub fn is_remote(&self) -> bool {
        self.system || self.denied
    }
}

#[derive(Debug)]
pub(super) struct RelationEntry {
    pub name: NameId,
    pub schema: u32,
    pub kind: RelationKind,
    columns: Range<u32>,
    keys: Range<u32>,
}

#[derive(Debug)]
pub(super) struct ColumnEntry {
    pub name: NameId,
    pub type_name: NameId,
    pub primary_key: bool,
}

#[derive(Debug)]
pub(super) struct KeyEntry {
    pub columns: Vec<NameId>,
    pub ref_schema: NameId,
    pub ref_relation: NameId,
    pub ref_columns: Vec<NameId>,
}

#[derive(Debug)]
pub(super) struct RoutineEntry {
    pub name: NameId,
    pub schema: u32,
    pub arguments: NameId,
    pub returns: NameId,
}

/// What an entry of the sorted list stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Schema(u32),
    Relation(u32),
    Routine(u32),
}

/// A name in the order of its folded form.
#[derive(Debug)]
struct Entry {
    mask: u64,
    folded: NameId,
    name: NameId,
    target: Target,
}

/// The index.
#[derive(Debug, Default)]
pub struct CatalogIndex {
    names: Names,
    schemas: Vec<SchemaEntry>,
    relations: Vec<RelationEntry>,
    columns: Vec<ColumnEntry>,
    own_columns: usize,
    keys: Vec<KeyEntry>,
    routines: Vec<RoutineEntry>,
    sorted: Sorted,
    folded: Names,
}

/// The names of each kind in order: who looks for tables does not pass by routines.
#[derive(Debug, Default)]
struct Sorted {
    schemas: Vec<Entry>,
    relations: Vec<Entry>,
    routines: Vec<Entry>,
}

/// The names of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Schemas,
    Relations,
    Routines,
}

/// What a hit of [`CatalogIndex::search`] is.
pub type HitKind = SuggestionKind;

/// A name that fits a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The schema it is in; its own name for a schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Table, view, routine or schema.
    pub kind: HitKind,
    /// Places in `name` of the characters that were typed.
    pub matched: Vec<u32>,
}

impl CatalogIndex {
    /// Reads a catalog.
    pub fn build(catalog: &Catalog) -> Self {
        let mut interner = Interner::default();
        let mut index = CatalogIndex::default();
        for schema in &catalog.schemas {
            let at = narrow(index.schemas.len());
            let path_place = catalog.search_path.iter().position(|name| *name == schema.name).map(narrow);
            let Schema { system, denied, partial, .. } = *schema;
            let entry = SchemaEntry { name: interner.id(&schema.name), system, denied, partial, path_place };
            let is_remote = entry.is_remote();
            index.schemas.push(entry);
            if denied {
                // No statement of this user can name what is in it.
                continue;
            }
            for relation in &schema.relations {
                let (first_column, first_key) = (narrow(index.columns.len()), narrow(index.keys.len()));
                index.own_columns += if is_remote { 0 } else { relation.columns.len() };
                index.columns.extend(relation.columns.iter().map(|column| ColumnEntry {
                    name: interner.id(&column.name),
                    type_name: interner.id(&column.type_name),
                    primary_key: column.primary_key > 0,
                }));
                index.keys.extend(relation.foreign_keys.iter().map(|key| KeyEntry {
                    columns: key.columns.iter().map(|name| interner.id(name)).collect(),
                    ref_schema: interner.id(&key.ref_schema),
                    ref_relation: interner.id(&key.ref_relation),
                    ref_columns: key.ref_columns.iter().map(|name| interner.id(name)).collect(),
                }));
                index.relations.push(RelationEntry {
                    name: interner.id(&relation.name),
                    schema: at,
                    kind: relation.kind,
                    columns: first_column..narrow(index.columns.len()),
                    keys: first_key..narrow(index.keys.len()),
                });
            }
            index.routines.extend(schema.routines.iter().map(|routine| RoutineEntry {
                name: interner.id(&routine.name),
                schema: at,
                arguments: interner.id(&routine.arguments),
                returns: interner.id(&routine.returns),
            }));
        }
        index.names = interner.names;
        index.sort_names();
        index
    }

    fn sort_names(&mut self) {
        let schemas = self.schemas.iter().enumerate().map(|(at, schema)| (schema.name, Target::Schema(narrow(at))));
        let relations = self.relations.iter().enumerate().map(|(at, relation)| (relation.name, Target::Relation(narrow(at))));
        let routines = self.routines.iter().enumerate().map(|(at, routine)| (routine.name, Target::Routine(narrow(at))));
        let mut all: Vec<(String, NameId, Target)> =
            schemas.chain(relations).chain(routines).map(|(name, target)| (rank::fold(self.names.get(name)), name, target)).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        for (folded, name, target) in all {
            self.folded.text.push_str(&folded);
            self.folded.ends.push(narrow(self.folded.text.len()));
            let id = NameId(narrow(self.folded.ends.len() - 1));
            let entry = Entry { mask: rank::mask(&folded), folded: id, name, target };
            match target {
                Target::Schema(_) => self.sorted.schemas.push(entry),
                Target::Relation(_) => self.sorted.relations.push(entry),
                Target::Routine(_) => self.sorted.routines.push(entry),
            }
        }
    }

    /// Names that fit, best first: for `Ctrl+P` and the explorer's speed search.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        let folded = rank::fold(query.trim());
        let mut effort = Effort::default();
        let count = limit.max(rank::RANKED_MAX);
        let mut best: Vec<(Scored, Target)> = Vec::new();
        for kind in [Kind::Relations, Kind::Routines, Kind::Schemas] {
            best.extend(self.best(kind, &folded, count, &mut effort, |_| true));
        }
        // Stable: among equals the order is that of the kinds, then of the names.
        best.sort_by_key(|(scored, _)| std::cmp::Reverse(*scored));
        best.truncate(count);
        let names = best.into_iter().map(|(scored, target)| (self.target_name(target).to_owned(), scored, target));
        rank::rank_names(&folded, names.collect(), limit).into_iter().map(|(target, matched)| self.hit(target, matched)).collect()
    }

    /// How many names it holds.
    pub fn len(&self) -> usize {
        self.sorted.schemas.len() + self.sorted.relations.len() + self.sorted.routines.len()
    }

    /// Holds it no name?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The best `count` entries by the cheap score, of those that `wanted` takes. All fit equally well when nothing was typed.
    pub(super) fn best(
        &self,
        kind: Kind,
        typed: &str,
        count: usize,
        effort: &mut Effort,
        wanted: impl Fn(Target) -> bool,
    ) -> Vec<(Scored, Target)> {
        let entries = match kind {
            Kind::Schemas => &self.sorted.schemas,
            Kind::Relations => &self.sorted.relations,
            Kind::Routines => &self.sorted.routines,
        };
        let asked = rank::mask(typed);
        let mut found: Vec<(i32, u32)> = Vec::new();
        let (mut near, own) = (0, std::cell::Cell::new(0));
        let mut look = |part: Range<usize>, found: &mut Vec<(i32, u32)>| {
            for at in part {
                let Some(entry) = entries.get(at).filter(|_| !typed.is_empty() || near < count) else { break };
                effort.scanned += 1;
                if entry.mask & asked != asked || !wanted(entry.target) {
                    continue;
                }
                effort.scored += 1;
                if let Some(score) = rank::cheap_score(typed.as_bytes(), self.folded.get(entry.folded).as_bytes()) {
                    let remoteness = self.remoteness(entry.target);
                    near += usize::from(remoteness == 0);
                    own.set(own.get() + usize::from(remoteness < SYSTEM_REMOTENESS));
                    found.push((score - remoteness, narrow(at)));
                }
            }
        };
        // A name that starts with what was typed beats every other one: where there are enough of them nothing else is looked at.
        let starting = self.starting_with(entries, typed);
        look(starting.clone(), &mut found);
        if own.get() < count || typed.len() > rank::PREFIX_WINS_MAX {
            look(0..starting.start, &mut found);
            look(starting.end..entries.len(), &mut found);
        }
        let order = |a: &(i32, u32), b: &(i32, u32)| b.0.cmp(&a.0).then(a.1.cmp(&b.1));
        if found.len() > count {
            found.select_nth_unstable_by(count, order);
            found.truncate(count);
        }
        found.sort_unstable_by(order);
        found.into_iter().filter_map(|(score, at)| Some((Scored(score), entries.get(at as usize)?.target))).collect()
    }

    /// The entries whose names start with a text: they stand together.
    fn starting_with(&self, entries: &[Entry], typed: &str) -> Range<usize> {
        let first = entries.partition_point(|entry| self.folded.get(entry.folded) < typed);
        let rest = entries.get(first..).unwrap_or(&[]);
        first..first + rest.partition_point(|entry| self.folded.get(entry.folded).starts_with(typed))
    }

    /// Names of the system's own schemas, and of those that may not be used, come after a person's.
    fn remoteness(&self, target: Target) -> i32 {
        let schema = match target {
            Target::Schema(at) => at,
            Target::Relation(at) => self.relations.get(at as usize).map_or(0, |relation| relation.schema),
            Target::Routine(at) => self.routines.get(at as usize).map_or(0, |routine| routine.schema),
        };
        self.schema(schema).map_or(0, |schema| {
            if schema.is_remote() {
                SYSTEM_REMOTENESS
            } else if schema.path_place.is_none() {
                4
            } else {
                0
            }
        })
    }

    fn hit(&self, target: Target, matched: Vec<u32>) -> Hit {
        let schema_name = |at: u32| self.schema(at).map_or("", |schema| self.name(schema.name)).to_owned();
        let (schema, kind) = match target {
            Target::Schema(at) => (schema_name(at), SuggestionKind::Schema),
            Target::Relation(at) => {
                let relation = self.relation(at);
                (
                    relation.map_or(String::new(), |relation| schema_name(relation.schema)),
                    relation.map_or(SuggestionKind::Table, |it| kind_of(it.kind)),
                )
            }
            Target::Routine(at) => (self.routine(at).map_or(String::new(), |routine| schema_name(routine.schema)), SuggestionKind::Routine),
        };
        Hit { schema, name: self.target_name(target).to_owned(), kind, matched }
    }

    pub(super) fn name(&self, id: NameId) -> &str {
        self.names.get(id)
    }

    pub(super) fn target_name(&self, target: Target) -> &str {
        let id = match target {
            Target::Schema(at) => self.schema(at).map(|schema| schema.name),
            Target::Relation(at) => self.relation(at).map(|relation| relation.name),
            Target::Routine(at) => self.routine(at).map(|routine| routine.name),
        };
        id.map_or("", |id| self.names.get(id))
    }

    pub(super) fn schema(&self, at: u32) -> Option<&SchemaEntry> {
        self.schemas.get(at as usize)
    }

    /// Naming the schema would tell nothing: there is one besides the system's own.
    pub(super) fn has_one_schema(&self) -> bool {
        self.schemas.iter().filter(|schema| !schema.system).count() <= 1
    }

    pub(super) fn relations(&self) -> &[RelationEntry] {
        &self.relations
    }

    /// Columns of tables that are a person's to use.
    pub(super) fn own_column_count(&self) -> usize {
        self.own_columns
    }

    pub(super) fn relation(&self, at: u32) -> Option<&RelationEntry> {
        self.relations.get(at as usize)
    }

    pub(super) fn routine(&self, at: u32) -> Option<&RoutineEntry> {
        self.routines.get(at as usize)
    }

    /// Of some schema only names are known.
    pub(super) fn has_partial(&self) -> bool {
        self.schemas.iter().any(|schema| schema.partial && !schema.denied)
    }

    /// Schemas of the search path of which only names are known.
    pub(super) fn partial_in_path(&self) -> impl Iterator<Item = u32> + '_ {
        let partial = |schema: &SchemaEntry| schema.partial && !schema.denied && schema.path_place.is_some();
        self.schemas.iter().enumerate().filter(move |(_, schema)| partial(schema)).map(|(at, _)| narrow(at))
    }

    /// The name of a schema of which only names are known.
    pub(super) fn partial_name(&self, at: u32) -> Option<&str> {
        self.schema(at).filter(|schema| schema.partial && !schema.denied).map(|schema| self.name(schema.name))
    }

    pub(super) fn columns_of(&self, relation: &RelationEntry) -> &[ColumnEntry] {
        self.columns.get(relation.columns.start as usize..relation.columns.end as usize).unwrap_or(&[])
    }

    pub(super) fn keys_of(&self, relation: &RelationEntry) -> &[KeyEntry] {
        self.keys.get(relation.keys.start as usize..relation.keys.end as usize).unwrap_or(&[])
    }

    /// The schema of this name.
    pub(super) fn find_schema(&self, name: &str, same: impl Fn(&str, &str) -> bool) -> Option<u32> {
        self.schemas.iter().position(|schema| same(self.name(schema.name), name)).map(narrow)
    }

    /// The relation that a name, perhaps with its schema, means: the first of the search path that has it.
    pub(super) fn find_relation(&self, path: &[String], same: impl Fn(&str, &str) -> bool) -> Option<u32> {
        let (name, schema) = match path {
            [.., schema, name] => (name, Some(schema)),
            [name] => (name, None),
            [] => return None,
        };
        let folded = rank::fold(name);
        let first = self.sorted.relations.partition_point(|entry| self.folded.get(entry.folded) < folded.as_str());
        let equal = self.sorted.relations.iter().skip(first).take_while(|entry| self.folded.get(entry.folded) == folded);
        let fitting = equal.filter_map(|entry| match entry.target {
            Target::Relation(at) if same(self.name(entry.name), name) => self.relation(at).map(|relation| (at, relation)),
            _ => None,
        });
        let wanted = fitting.filter(|(_, relation)| {
            schema.is_none_or(|wanted| self.schema(relation.schema).is_some_and(|schema| same(self.name(schema.name), wanted)))
        });
        wanted
            .min_by_key(|(_, relation)| self.schema(relation.schema).and_then(|schema| schema.path_place).unwrap_or(u32::MAX))
            .map(|(at, _)| at)
    }
}

pub(super) fn kind_of(kind: RelationKind) -> SuggestionKind {
    match kind {
        RelationKind::Table | RelationKind::ForeignTable => SuggestionKind::Table,
        RelationKind::View | RelationKind::MaterializedView => SuggestionKind::View,
    }
}
