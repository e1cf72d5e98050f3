//! Which schemas a place in a statement needs that the index knows by their names only: who completes asks for them, and completes again.

use super::context::Context;
use super::{CatalogIndex, context_at};
use crate::sql::dialects::dialect;
use crate::sql::outline::TableSource;
use crate::wire::connection::EngineKind;
use std::collections::BTreeSet;

/// What is missing for a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Schemas that the statement names, by themselves or by what is in them.
    pub named: Vec<String>,
    /// Others that unqualified names are looked up in.
    pub in_path: Vec<String>,
    /// A word or a name's dot stands before the cursor: a list is wanted there.
    pub begun: bool,
}

/// The schemas that the statement names, or looks names up in, and of which more must be known to complete at the cursor.
pub fn missing(index: &CatalogIndex, statement: &str, cursor: usize, kind: EngineKind) -> Missing {
    if !index.has_partial() {
        return Missing::default();
    }
    let Some(context) = context_at(statement, cursor, dialect(kind)) else { return Missing::default() };
    let mut wanted = BTreeSet::new();
    for table in context.outline.scopes.iter().flat_map(|scope| &scope.tables) {
        if let TableSource::Named(path) = &table.source {
            wanted.extend(schema_of(index, &context, path));
            wanted.extend(path.iter().rev().nth(1).and_then(|schema| schema_named(index, &context, schema)));
        }
    }
    wanted.extend(schema_of(index, &context, &context.qualifier));
    wanted.extend(context.qualifier.iter().filter_map(|name| schema_named(index, &context, name)));
    let in_path = index.partial_in_path().filter(|at| !wanted.contains(at)).collect::<Vec<_>>();
    let names = |schemas: &mut dyn Iterator<Item = u32>| schemas.filter_map(|at| index.partial_name(at).map(str::to_owned)).collect();
    let (named, in_path) = (names(&mut wanted.into_iter()), names(&mut in_path.into_iter()));
    Missing { named, in_path, begun: !context.typed.is_empty() || !context.qualifier.is_empty() || context.quoted }
}

/// The schema of the relation that a name means.
fn schema_of(index: &CatalogIndex, context: &Context, path: &[String]) -> Option<u32> {
    let relation = index.find_relation(path, |a, b| context.dialect.same_name(a, b))?;
    index.relation(relation).map(|relation| relation.schema)
}

fn schema_named(index: &CatalogIndex, context: &Context, name: &str) -> Option<u32> {
    index.find_schema(name, |a, b| context.dialect.same_name(a, b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::catalog::{Catalog, Relation, Schema};

    fn index() -> CatalogIndex {
        let schema = |name: &str, tables: &[&str], partial| Schema {
            name: name.to_owned(),
            partial,
            denied: name == "shut",
            relations: tables.iter().map(|name| Relation { name: (*name).to_owned(), ..Relation::default() }).collect(),
            ..Schema::default()
        };
        let schemas = vec![
            schema("public", &["orders"], false),
            schema("sales", &["invoices"], true),
            schema("stock", &["parts"], true),
            schema("shut", &["secrets"], true),
            schema("here", &["rows"], true),
        ];
        CatalogIndex::build(&Catalog { search_path: vec!["public".to_owned(), "here".to_owned()], schemas, ..Catalog::default() })
    }

    fn at(text: &str) -> (Vec<String>, bool) {
        let cursor = text.find('|').unwrap();
        let found = missing(&index(), &text.replace('|', ""), cursor, EngineKind::Postgres);
        assert!(found.in_path == ["here"] || found.named.contains(&"here".to_owned()), "{text}: {found:?}");
        (found.named, found.begun)
    }

    #[test]
    fn what_a_statement_names_is_asked_for_and_nothing_else() {
        for (text, schemas, begun) in [
            ("select | from orders", &[][..], false),
            ("select x| from orders", &[], true),
            ("select x| from rows", &["here"], true),
            ("select i.| from sales.invoices i", &["sales"], true),
            ("select sales.invoices.|", &["sales"], true),
            ("select * from stock.|", &["stock"], true),
            ("select * from sales.invoices i join stock.parts p on |", &["sales", "stock"], false),
            ("select (select p.| from stock.parts p) from sales.invoices", &["sales", "stock"], true),
            ("select s.| from shut.secrets s", &[], true),
            ("select * from nowhere.t where |", &[], false),
        ] {
            let schemas: Vec<String> = schemas.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(at(text), (schemas, begun), "{text}");
        }
    }

    #[test]
    fn where_all_is_known_nothing_is_missing() {
        let whole = Schema { name: "public".to_owned(), ..Schema::default() };
        let index = CatalogIndex::build(&Catalog { schemas: vec![whole], ..Catalog::default() });
        assert_eq!(missing(&index, "select a.x", 10, EngineKind::Postgres), Missing::default());
    }
}
