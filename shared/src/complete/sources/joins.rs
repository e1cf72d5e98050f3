//! What foreign keys tell about a join: which tables go with those in the query, and on what condition.
//!
//! Invariant: a condition is offered only where both tables are known by name. Start at [`join_conditions`].

use super::{Detail, Insert, Offers};
use crate::complete::SuggestionKind;
use crate::complete::context::Place;
use crate::complete::index::RelationEntry;
use crate::sql::outline::{Clause, TableSource, TableUse};

/// Relations that a foreign key joins to those in the query already.
pub(super) fn related_relations(offers: &Offers<'_>) -> Vec<u32> {
    let Some(scope) = offers.context.outline.scopes.get(offers.context.scope).filter(|_| offers.context.clause == Clause::From) else {
        return Vec::new();
    };
    let used: Vec<u32> = scope.tables.iter().filter_map(|table| offers.named_relation(table)).collect();
    let mut related = Vec::new();
    for &at in &used {
        let Some(relation) = offers.index.relation(at) else { continue };
        for key in offers.index.keys_of(relation) {
            let path = [offers.index.name(key.ref_schema).to_owned(), offers.index.name(key.ref_relation).to_owned()];
            related.extend(offers.find(&path));
        }
    }
    related
}

impl Offers<'_> {
    fn named_relation(&self, table: &TableUse) -> Option<u32> {
        match &table.source {
            TableSource::Named(path) => self.find(path),
            _ => None,
        }
    }

    /// `a.x = b.y` for each foreign key of `from` that refers to `to`.
    fn conditions(&self, (from, from_name): (&RelationEntry, &str), (to, to_name): (&RelationEntry, &str), found: &mut Vec<String>) {
        let same = self.same();
        let index = self.index;
        let write = |name: &str| self.context.dialect.write_name(name);
        for key in index.keys_of(from) {
            let refers =
                same(index.name(key.ref_relation), index.name(to.name)) && same(index.name(key.ref_schema), self.schema_name(to.schema));
            if !refers || key.columns.len() != key.ref_columns.len() {
                continue;
            }
            let pairs = key.columns.iter().zip(&key.ref_columns).map(|(own, other)| {
                format!("{}.{} = {}.{}", write(from_name), write(index.name(*own)), write(to_name), write(index.name(*other)))
            });
            let condition = pairs.collect::<Vec<_>>().join(" AND ");
            if !condition.is_empty() && !found.contains(&condition) {
                found.push(condition);
            }
        }
    }
}

/// Conditions between the table joined last and those before it, from foreign keys in either direction.
pub(super) fn join_conditions(offers: &mut Offers<'_>) {
    if offers.context.place != Place::JoinCondition || !offers.context.qualifier.is_empty() {
        return;
    }
    let Some((last, before)) = offers.context.outline.scopes.get(offers.context.scope).and_then(|scope| scope.tables.split_last()) else {
        return;
    };
    let entry = |table: &TableUse| offers.named_relation(table).and_then(|at| offers.index.relation(at));
    let (Some(joined), Some(joined_name)) = (entry(last), last.name()) else { return };
    let mut found = Vec::new();
    for table in before.iter().rev() {
        let (Some(other), Some(other_name)) = (entry(table), table.name()) else { continue };
        offers.conditions((joined, joined_name), (other, other_name), &mut found);
        offers.conditions((other, other_name), (joined, joined_name), &mut found);
    }
    for condition in found {
        offers.add(condition.clone(), SuggestionKind::Join, 90, Detail::Text("foreign key".to_owned()), Insert::Exactly(condition));
    }
}
