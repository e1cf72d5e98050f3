//! How much of a catalog is asked for, and what the asker is told of each schema. Pure; the same for every engine.
//!
//! Invariant: a schema's version says what was told of it. Who was told a schema by its names knows it by another version than who was told
//! the whole, so that neither is taken for the other.

mod row;

pub use row::Row;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use shared::limits::CATALOG_RELATIONS_AT_ONCE;
use shared::wire::catalog::{Catalog, KnownSchemas, Schema};

/// How much is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CatalogAsk {
    /// All names; of a small database ([`is_small`]) also what is in every schema that is not the system's own.
    First,
    /// What has changed since these versions: of a schema in a known version nothing is told
    /// ([`shared::wire::catalog::Schema::unchanged`]), what was told by its names is told so again, all else as at first.
    Since(KnownSchemas),
    /// These schemas, whole, and no other. What is not there is not in the answer.
    Of(Vec<String>),
}

/// How much of a schema is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// It is as it was.
    Unchanged,
    /// Names alone.
    Names,
    /// All of it.
    Whole,
}

impl CatalogAsk {
    /// What is told of a schema that has these two versions, of the whole and of its names: what the asker knows decides, else whether
    /// the database is small.
    pub fn told(&self, schema: &Schema, version: &str, of_names: &str, is_small: bool) -> Told {
        let known = match self {
            Self::Of(_) => return Told::Whole,
            Self::Since(known) => known.known.get(&schema.name).filter(|known| !known.is_empty()),
            Self::First => None,
        };
        match known {
            Some(known) if known == version || known == of_names => Told::Unchanged,
            Some(known) if is_of_names(known) => Told::Names,
            Some(_) => Told::Whole,
            None if is_small && !schema.system => Told::Whole,
            None => Told::Names,
        }
    }

    /// The version by which the asker knows the whole of a schema.
    pub fn known_whole(&self, schema: &str) -> Option<&str> {
        let Self::Since(known) = self else { return None };
        known.known.get(schema).map(String::as_str).filter(|version| !version.is_empty() && !is_of_names(version))
    }
}

/// A database with so many relations of its own is told whole at once.
pub fn is_small(relations: usize) -> bool {
    relations <= CATALOG_RELATIONS_AT_ONCE
}

/// The version of the names of a schema whose whole has this one.
pub fn of_names(version: &str) -> String {
    format!("{version}~")
}

fn is_of_names(version: &str) -> bool {
    version.ends_with('~')
}

/// A version made of any parts, for an engine that has none of its own.
pub fn version_of_parts<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part.as_bytes());
        digest.update([0]);
    }
    digest.finalize().iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}

/// Leaves of a schema what is told of it, and writes down in which version.
pub fn tell(schema: &mut Schema, told: Told, version: &str, of_names: &str) {
    schema.version = version.to_owned();
    match told {
        Told::Whole => {}
        Told::Names => {
            (schema.partial, schema.version) = (true, of_names.to_owned());
            schema.routines.clear();
        }
        Told::Unchanged => {
            schema.unchanged = true;
            schema.relations.clear();
            schema.routines.clear();
        }
    }
}

/// The version in which the asker knows what has not changed: of its names or of the whole.
pub fn keep_known(ask: &CatalogAsk, catalog: &mut Catalog) {
    let CatalogAsk::Since(known) = ask else { return };
    for schema in catalog.schemas.iter_mut().filter(|schema| schema.unchanged) {
        if let Some(version) = known.known.get(&schema.name) {
            schema.version.clone_from(version);
            schema.partial = is_of_names(version);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::wire::catalog::Relation;

    fn since(known: &[(&str, &str)]) -> CatalogAsk {
        let known = known.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned())).collect();
        CatalogAsk::Since(KnownSchemas { known })
    }

    fn told(ask: &CatalogAsk, name: &str, is_small: bool) -> Told {
        ask.told(&Schema { name: name.to_owned(), system: name == "sys", ..Schema::default() }, "7", "7~", is_small)
    }

    #[test]
    fn a_small_database_is_told_whole_and_the_systems_own_schemas_never_at_first() {
        assert_eq!([true, false].map(|small| told(&CatalogAsk::First, "a", small)), [Told::Whole, Told::Names]);
        assert_eq!(told(&CatalogAsk::First, "sys", true), Told::Names);
        assert_eq!(told(&CatalogAsk::Of(vec!["sys".to_owned()]), "sys", false), Told::Whole);
        assert!(is_small(CATALOG_RELATIONS_AT_ONCE) && !is_small(CATALOG_RELATIONS_AT_ONCE + 1));
    }

    #[test]
    fn who_knows_the_names_is_told_the_names_and_who_knows_the_whole_the_whole() {
        let ask = since(&[("same", "7"), ("same names", "7~"), ("whole", "6"), ("names", "6~"), ("without", "")]);
        let all = ["same", "same names", "whole", "names", "without", "new"].map(|name| told(&ask, name, false));
        assert_eq!(all, [Told::Unchanged, Told::Unchanged, Told::Whole, Told::Names, Told::Names, Told::Names]);
        assert_eq!(told(&ask, "new", true), Told::Whole);
        assert_eq!(["same", "names", "without", "new"].map(|name| ask.known_whole(name)), [Some("7"), None, None, None]);
    }

    #[test]
    fn a_version_is_another_one_for_other_parts() {
        let of = |parts: &[&str]| version_of_parts(parts.iter().copied());
        let all = [of(&[]), of(&[""]), of(&["a", "b"]), of(&["ab"]), of(&["b", "a"])];
        for (at, one) in all.iter().enumerate() {
            assert!(!is_of_names(one) && !all[..at].contains(one), "{all:?}");
        }
    }

    #[test]
    fn what_has_not_changed_keeps_the_version_it_is_known_by() {
        let mut schema = Schema { name: "a".to_owned(), relations: vec![Relation::default()], ..Schema::default() };
        tell(&mut schema, Told::Unchanged, "7", "7~");
        let mut catalog = Catalog { schemas: vec![schema], ..Catalog::default() };
        keep_known(&since(&[("a", "7~")]), &mut catalog);
        let [schema] = catalog.schemas.as_slice() else { panic!("{catalog:?}") };
        assert!(schema.unchanged && schema.partial && schema.version == "7~" && schema.relations.is_empty());
    }
}
