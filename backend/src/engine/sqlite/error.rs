//! SQLite's errors in a person's words.
//!
//! Invariant: SQLite's own message is kept wherever it says enough; the position counts in bytes of the text that was given.

use crate::engine::{EngineError, Fate};
use rusqlite::{Error, ffi};
use shared::problem::{ErrorCode, Problem};

/// What a failed statement tells. `sql` is the text that was given, of which the text that failed is the end.
pub fn of_statement(error: Error, sql: &str, stopped: bool) -> EngineError {
    let (code, message, position) = match error {
        Error::SqliteFailure(failure, message) => (failure.extended_code, message, None),
        Error::SqlInputError { error, msg, sql: failed, offset } => {
            let before = sql.len().saturating_sub(failed.len());
            let position = usize::try_from(offset).ok().and_then(|offset| u32::try_from(before + offset).ok());
            (error.extended_code, Some(msg), position)
        }
        other => return EngineError::idle(Problem::new(ErrorCode::Rejected, other.to_string())),
    };
    let primary = code & 0xff;
    let message = message.filter(|text| !text.is_empty()).unwrap_or_else(|| ffi::code_to_str(code).to_owned());
    let mut problem = Problem::new(ErrorCode::Rejected, message);
    problem.sqlstate = Some(name(code));
    problem.position = position.or_else(|| place_of_missing(&problem.message, sql));
    // The busy handler gives up when the statement is stopped: then it is the stop that ended it.
    let cancelled = primary == ffi::SQLITE_INTERRUPT || (stopped && primary == ffi::SQLITE_BUSY);
    explain(primary, &mut problem, cancelled);
    EngineError { problem, fate: Fate::Idle, cancelled }
}

/// SQLite does not say where a table stands that it can't find; where its name stands once in the text, that is the place.
fn place_of_missing(message: &str, sql: &str) -> Option<u32> {
    let name = message.strip_prefix("no such table: ")?;
    // The schema comes before it where the text had one.
    let name = name.strip_prefix("main.").or_else(|| name.strip_prefix("temp.")).unwrap_or(name);
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let stands_alone = |at: usize| {
        let before = sql.get(..at).and_then(|head| head.chars().next_back());
        let after = sql.get(at + name.len()..).and_then(|rest| rest.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    };
    let mut places = sql.match_indices(name).map(|(at, _)| at).filter(|at| !name.is_empty() && stands_alone(*at));
    let first = places.next()?;
    if places.next().is_some() { None } else { u32::try_from(first).ok() }
}

fn explain(primary: i32, problem: &mut Problem, cancelled: bool) {
    if cancelled {
        problem.code = ErrorCode::Cancelled;
        if primary != ffi::SQLITE_INTERRUPT {
            // What it waited for when it was stopped.
            let interrupted = ffi::code_to_str(ffi::SQLITE_INTERRUPT).to_owned();
            problem.detail = Some(std::mem::replace(&mut problem.message, interrupted));
        }
        return;
    }
    match primary {
        ffi::SQLITE_BUSY => {
            problem.detail = Some(std::mem::replace(
                &mut problem.message,
                "The database is locked: another connection or program is using it.".to_owned(),
            ));
            problem.hint = Some("A result that is not read to its end still reads the file: read it to the end or close it. Else wait for the other transaction.".to_owned());
        }
        ffi::SQLITE_READONLY => {
            problem.hint = Some("The connection is read-only, or the file may not be written by this user.".to_owned());
        }
        ffi::SQLITE_AUTH => {
            problem.detail =
                Some(std::mem::replace(&mut problem.message, "A read-only connection does not allow this statement.".to_owned()));
        }
        ffi::SQLITE_CORRUPT => {
            problem.hint = Some("The file is damaged. PRAGMA integrity_check tells more.".to_owned());
        }
        _ => {}
    }
}

/// SQLite's own name of a result code, e.g. `SQLITE_CONSTRAINT_UNIQUE`.
pub fn name(code: i32) -> String {
    macro_rules! names {
        ($($name:ident)*) => {
            match code {
                $(ffi::$name => stringify!($name).to_owned(),)*
                other if other > 0xff => name(other & 0xff),
                other => format!("SQLITE_{other}"),
            }
        };
    }
    names! {
        SQLITE_ERROR SQLITE_INTERNAL SQLITE_PERM SQLITE_ABORT SQLITE_BUSY SQLITE_LOCKED SQLITE_NOMEM SQLITE_READONLY SQLITE_INTERRUPT
        SQLITE_IOERR SQLITE_CORRUPT SQLITE_NOTFOUND SQLITE_FULL SQLITE_CANTOPEN SQLITE_PROTOCOL SQLITE_EMPTY SQLITE_SCHEMA SQLITE_TOOBIG
        SQLITE_CONSTRAINT SQLITE_MISMATCH SQLITE_MISUSE SQLITE_NOLFS SQLITE_AUTH SQLITE_FORMAT SQLITE_RANGE SQLITE_NOTADB
        SQLITE_CONSTRAINT_CHECK SQLITE_CONSTRAINT_COMMITHOOK SQLITE_CONSTRAINT_DATATYPE SQLITE_CONSTRAINT_FOREIGNKEY
        SQLITE_CONSTRAINT_FUNCTION SQLITE_CONSTRAINT_NOTNULL SQLITE_CONSTRAINT_PINNED SQLITE_CONSTRAINT_PRIMARYKEY
        SQLITE_CONSTRAINT_ROWID SQLITE_CONSTRAINT_TRIGGER SQLITE_CONSTRAINT_UNIQUE SQLITE_CONSTRAINT_VTAB
        SQLITE_ABORT_ROLLBACK SQLITE_AUTH_USER SQLITE_BUSY_RECOVERY SQLITE_BUSY_SNAPSHOT SQLITE_BUSY_TIMEOUT
        SQLITE_CANTOPEN_CONVPATH SQLITE_CANTOPEN_DIRTYWAL SQLITE_CANTOPEN_FULLPATH SQLITE_CANTOPEN_ISDIR SQLITE_CANTOPEN_NOTEMPDIR
        SQLITE_CANTOPEN_SYMLINK SQLITE_CORRUPT_INDEX SQLITE_CORRUPT_SEQUENCE SQLITE_CORRUPT_VTAB SQLITE_ERROR_MISSING_COLLSEQ
        SQLITE_ERROR_RETRY SQLITE_ERROR_SNAPSHOT SQLITE_IOERR_READ SQLITE_IOERR_SHORT_READ SQLITE_IOERR_WRITE SQLITE_IOERR_FSYNC
        SQLITE_IOERR_TRUNCATE SQLITE_IOERR_LOCK SQLITE_IOERR_NOMEM SQLITE_IOERR_CORRUPTFS SQLITE_LOCKED_SHAREDCACHE SQLITE_LOCKED_VTAB
        SQLITE_READONLY_CANTINIT SQLITE_READONLY_CANTLOCK SQLITE_READONLY_DBMOVED SQLITE_READONLY_DIRECTORY SQLITE_READONLY_RECOVERY
        SQLITE_READONLY_ROLLBACK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_table_is_found_where_its_name_stands_once() {
        assert_eq!(place_of_missing("no such table: a", "SELECT ab, 'é' FROM a"), Some(21));
        assert_eq!(place_of_missing("no such table: main.a b", "SELECT * FROM main.\"a b\""), Some(20));
        assert_eq!(place_of_missing("no such table: a", "SELECT a.x FROM a"), None);
        assert_eq!(place_of_missing("no such table: ", "SELECT 1"), None);
        assert_eq!(place_of_missing("no such column: a", "SELECT a"), None);
    }

    #[test]
    fn codes_are_named_as_sqlite_names_them() {
        assert_eq!(name(2067), "SQLITE_CONSTRAINT_UNIQUE");
        assert_eq!(name(1), "SQLITE_ERROR");
        assert_eq!(name(10 | (99 << 8)), "SQLITE_IOERR");
        assert_eq!(name(77), "SQLITE_77");
    }
}
