//! Saved targets and their catalogs, as far as they were fetched.

use leptos::prelude::*;
use shared::complete::CatalogIndex;
use shared::ids::ConnectionId;
use shared::problem::Problem;
use shared::wire::catalog::Catalog;
use shared::wire::connection::{Connection, EngineKind};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Something that is fetched.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Load<T> {
    /// Nobody asked yet.
    #[default]
    Absent,
    /// Asked, not answered.
    Coming,
    /// Here.
    Here(T),
    /// The answer was no.
    Failed(Problem),
    /// Here, but whether it is still so was not to be learnt.
    Stale(T, Problem),
}

impl<T> Load<T> {
    /// What is here.
    pub fn here(&self) -> Option<&T> {
        match self {
            Self::Here(value) | Self::Stale(value, _) => Some(value),
            _ => None,
        }
    }

    /// Why the last question for it had no answer.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Failed(problem) | Self::Stale(_, problem) => Some(problem),
            _ => None,
        }
    }

    /// The same after a question that failed: what is here stays.
    pub fn failed(self, problem: Problem) -> Self {
        match self {
            Self::Here(value) | Self::Stale(value, _) => Self::Stale(value, problem),
            _ => Self::Failed(problem),
        }
    }
}

/// The owner.
#[derive(Clone, Copy)]
pub struct Connections {
    /// All of them.
    pub list: RwSignal<Load<Vec<Connection>>>,
    /// Catalogs by connection.
    pub catalogs: RwSignal<HashMap<ConnectionId, Load<Arc<Catalog>>>>,
    /// What completion knows, by connection; made once from each catalog.
    pub indexes: RwSignal<HashMap<ConnectionId, Arc<CatalogIndex>>>,
    /// Catalogs of which changes are being fetched; true where they are to be fetched once more after that.
    pub refreshing: StoredValue<HashMap<ConnectionId, bool>>,
    /// Schemas whose contents are being fetched.
    pub wanted_schemas: StoredValue<HashMap<ConnectionId, HashSet<String>>>,
    /// The one that a new console takes: the last that was chosen anywhere.
    pub preferred: RwSignal<Option<ConnectionId>>,
    /// The one that the explorer is to unfold and choose.
    pub wanted_in_sight: RwSignal<Option<ConnectionId>>,
}

impl Connections {
    /// Nothing fetched yet.
    pub fn new() -> Self {
        Self {
            list: RwSignal::new(Load::Absent),
            catalogs: RwSignal::new(HashMap::new()),
            indexes: RwSignal::new(HashMap::new()),
            refreshing: StoredValue::new(HashMap::new()),
            wanted_schemas: StoredValue::new(HashMap::new()),
            preferred: RwSignal::new(None),
            wanted_in_sight: RwSignal::new(None),
        }
    }

    /// One of them, followed.
    pub fn get(self, id: &ConnectionId) -> Option<Connection> {
        self.list.with(|list| list.here().and_then(|all| all.iter().find(|one| one.id == *id)).cloned())
    }

    /// Its engine, followed; SQLite while it is not known.
    pub fn engine(self, id: Option<&ConnectionId>) -> EngineKind {
        id.and_then(|id| self.get(id)).map_or(EngineKind::Sqlite, |one| one.fields.engine)
    }

    /// Its catalog, followed.
    pub fn catalog(self, id: &ConnectionId) -> Load<Arc<Catalog>> {
        self.catalogs.with(|all| all.get(id).cloned().unwrap_or_default())
    }

    /// What completion knows of it, followed.
    pub fn index(self, id: &ConnectionId) -> Option<Arc<CatalogIndex>> {
        self.indexes.with(|all| all.get(id).cloned())
    }

    /// The one that a new console takes.
    pub fn for_new_console(self) -> Option<ConnectionId> {
        let preferred = self.preferred.get_untracked();
        self.list.with_untracked(|list| {
            let all = list.here()?;
            let known = preferred.filter(|id| all.iter().any(|one| one.id == *id));
            known.or_else(|| all.first().map(|one| one.id.clone()))
        })
    }
}

impl Default for Connections {
    fn default() -> Self {
        Self::new()
    }
}
