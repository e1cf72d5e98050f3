//! Where columns come from, and what types are called, as far as any session of a target has learnt it: what one was told serves the first page of the next.
//!
//! Invariant: sessions share only what came from one and the same start of one server, so that numbers which mean other tables
//! there (another server on that port, a restored one) never name a column here. At most [`TARGETS_MAX`] targets are remembered.

use super::types::Column;
use crate::engine::dial::Address;
use shared::wire::connection::Ssh;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Targets of which origins are remembered; the one that was not opened for longest makes room.
const TARGETS_MAX: usize = 16;
/// How long an origin is taken as told: tables are renamed by others, too.
const ORIGINS_LAST: Duration = Duration::from_secs(60);

/// A table's number and the place of a column in it.
pub type Place = (u32, i16);

/// Whose catalog: nothing of it is shared unless all of this is the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whose {
    /// Where the server listens.
    pub address: Address,
    /// The SSH servers before it: the same address is another server behind others.
    pub through: Option<Ssh>,
    /// The database.
    pub database: String,
    /// Who is signed in.
    pub user: String,
}

/// `schema.table.column` of columns. Cheap to clone; a clone knows what the others know.
#[derive(Clone, Debug, Default)]
pub struct Origins(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    names: HashMap<Place, String>,
    /// Names of types that are not built in, by number and modifier.
    types: HashMap<(u32, i32), String>,
    asked: Option<Instant>,
}

static TARGETS: LazyLock<Mutex<VecDeque<(Whose, String, Origins)>>> = LazyLock::new(Mutex::default);

/// What is known of that target since the server `started`; nothing yet where it was another start.
pub fn of(whose: &Whose, started: &str) -> Origins {
    let mut targets = TARGETS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = targets.iter().position(|(other, ..)| other == whose).and_then(|at| targets.remove(at));
    let origins = known.filter(|(_, then, _)| then == started).map(|(.., origins)| origins).unwrap_or_default();
    targets.push_back((whose.clone(), started.to_owned(), origins.clone()));
    if targets.len() > TARGETS_MAX {
        targets.pop_front();
    }
    origins
}

impl Origins {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Of each of these columns, where it is known.
    pub fn of_columns(&self, columns: &[Column]) -> Vec<Option<String>> {
        let known = self.known();
        columns.iter().map(|column| known.names.get(&(column.table, column.attribute)).cloned()).collect()
    }

    /// Columns of tables whose origin is not known, or was asked for too long ago.
    pub fn missing(&self, columns: &[Column]) -> Vec<Place> {
        let known = self.known();
        let old = known.asked.is_none_or(|asked| asked.elapsed() > ORIGINS_LAST);
        let wanted = |column: &&Column| column.table != 0 && (old || !known.names.contains_key(&(column.table, column.attribute)));
        let mut missing: Vec<_> = columns.iter().filter(wanted).map(|column| (column.table, column.attribute)).collect();
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    /// What the server says of some columns now.
    pub fn learn(&self, names: impl IntoIterator<Item = (Place, String)>) {
        let mut known = self.known();
        known.asked = Some(Instant::now());
        known.names.extend(names);
    }

    /// What the server says of all columns, and of their types, now.
    pub fn replace(&self, names: HashMap<Place, String>, types: HashMap<(u32, i32), String>) {
        let mut known = self.known();
        known.names = names;
        known.asked = Some(Instant::now());
        known.types.extend(types);
    }

    /// The name of a type, where it is known.
    pub fn type_name(&self, of: (u32, i32)) -> Option<String> {
        self.known().types.get(&of).cloned()
    }

    /// What the server calls some types.
    pub fn learn_types(&self, names: impl IntoIterator<Item = ((u32, i32), String)>) {
        self.known().types.extend(names);
    }

    /// Something was altered or dropped: names may have changed.
    pub fn forget(&self) {
        *self.known() = Known::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whose(database: &str) -> Whose {
        Whose {
            address: Address::Net { host: "of-origins".to_owned(), port: 1 },
            through: None,
            database: database.to_owned(),
            user: "u".to_owned(),
        }
    }

    fn column(attribute: i16) -> Column {
        Column { name: String::new(), table: 7, attribute, oid: 23, modifier: -1 }
    }

    #[test]
    fn sessions_of_one_start_of_a_server_share_and_others_do_not() {
        let told = Some("s.t.a".to_owned());
        of(&whose("a"), "monday").learn([((7, 1), "s.t.a".to_owned())]);
        assert_eq!(of(&whose("a"), "monday").of_columns(&[column(1), column(2)]), [told.clone(), None]);
        assert_eq!(of(&whose("b"), "monday").of_columns(&[column(1)]), [None], "another database");
        assert_eq!(of(&whose("a"), "tuesday").of_columns(&[column(1)]), [None], "another start");
        assert_eq!(of(&whose("a"), "monday").of_columns(&[column(1)]), [None], "only the last start is remembered");
    }

    #[test]
    fn what_was_told_a_moment_ago_is_not_asked_again() {
        let origins = Origins::default();
        assert_eq!(origins.missing(&[column(2), column(1), column(2)]), [(7, 1), (7, 2)]);
        origins.learn([((7, 1), "s.t.a".to_owned())]);
        assert_eq!(origins.missing(&[column(1), column(2)]), [(7, 2)]);
        assert_eq!(origins.missing(&[Column { table: 0, ..column(2) }]), []);
        origins.forget();
        assert_eq!(origins.missing(&[column(1)]), [(7, 1)]);
    }
}
