//! Columns of a Parquet file that DuckDB 1.5 reads wrongly and without a word: decimals of more than 38 digits. It makes doubles of them,
//! and too large ones where their bytes are no multiple of eight.
//!
//! Invariant: none of their values is handed out. The view named after the file refuses them by a sentence, and the columns beside them
//! are read as ever; what reads the file past the view is refused by its words, which is help for a person and no wall.

use super::database::{literal, quoted};
use super::thread::rows_of;
use crate::engine::files::name_of;
use crate::engine::{EngineError, refusals};
use adbc_core::error::Result as AdbcResult;
use adbc_driver_manager::ManagedConnection;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use shared::sql::lexer::{Token, TokenKind, lex};
use shared::wire::connection::EngineKind;
use std::path::Path;

/// DuckDB's functions that read the rows of such a file.
const READERS: [&str; 2] = ["read_parquet", "parquet_scan"];

/// What a file says of itself, one row an element, each before what is within it. Bytes that DuckDB takes for a double are such decimals.
const ELEMENTS: &str = "coalesce(num_children, 0)::BIGINT, coalesce(duckdb_type = 'DOUBLE' AND type LIKE '%BYTE_ARRAY', false)::BIGINT, \
    coalesce(precision, 0)::BIGINT, coalesce(scale, 0)::BIGINT";

/// The columns of a file that DuckDB reads wrongly; one at least.
#[derive(Debug)]
pub struct WideColumns {
    wide: Vec<Wide>,
    file: String,
    view: String,
}

#[derive(Debug)]
struct Wide {
    /// As DuckDB calls it.
    column: String,
    /// What the file says.
    digits: Digits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Digits {
    precision: i64,
    scale: i64,
}

/// One element of a file's schema.
#[derive(Clone, Copy, Debug)]
struct Element {
    children: i64,
    /// A decimal that DuckDB takes for a double.
    wide: Option<Digits>,
}

impl WideColumns {
    /// Asks DuckDB what the file says of itself; `None` where it reads all of it rightly, as nearly always.
    pub fn of(connection: &mut ManagedConnection, path: &str, view: &str) -> AdbcResult<Option<Self>> {
        let path_text = literal(path);
        let told = rows_of(connection, &format!("SELECT {ELEMENTS} FROM parquet_schema({path_text}) ORDER BY column_id"), &[])?;
        let wide = wide(&elements(&told));
        if wide.is_empty() {
            return Ok(None);
        }
        let sql = format!("SELECT column_name FROM (DESCRIBE SELECT * FROM read_parquet({path_text}))");
        let names: Vec<String> = rows_of(connection, &sql, &[])?.iter().flat_map(texts).collect();
        let named = |(at, digits): &(usize, Digits)| Some(Wide { column: names.get(*at)?.clone(), digits: *digits });
        Ok(Some(Self { wide: wide.iter().filter_map(named).collect(), file: name_of(Path::new(path)), view: view.to_owned() }))
    }

    /// What the view selects: all columns, those replaced by a refusal of each value.
    pub fn selection(&self) -> String {
        let refused = |wide: &Wide| {
            let (column, words) = (quoted(&wide.column), literal(&self.sentence(wide)));
            format!("CASE WHEN {column} IS NOT NULL THEN error({words})::VARCHAR END AS {column}")
        };
        format!("* REPLACE ({})", self.wide.iter().map(refused).collect::<Vec<_>>().join(", "))
    }

    /// The columns, and what is said of each.
    pub fn comments(&self) -> impl Iterator<Item = (String, String)> {
        self.wide.iter().map(|wide| (wide.column.clone(), format!("{}, which DuckDB reads wrongly", wide.digits)))
    }

    /// Why a text is refused that reads the file past the view.
    pub fn refused(&self, sql: &str) -> Option<EngineError> {
        let tokens: Vec<Token> = lex(sql, EngineKind::Duckdb).filter(|token| token.is_significant(sql)).collect();
        let at = tokens.iter().enumerate().find(|(at, token)| self.reads_past(&tokens, *at, token, sql))?.1.start;
        Some(refusals::at(self.sentence(self.wide.first()?), at))
    }

    fn reads_past(&self, tokens: &[Token], at: usize, token: &Token, sql: &str) -> bool {
        match token.kind {
            TokenKind::Word => READERS.iter().any(|reader| token.is_word(sql, reader)),
            TokenKind::Text | TokenKind::DollarText | TokenKind::QuotedName => {
                let text = token.text(sql);
                let opens = at.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(|before| before.kind == TokenKind::Open);
                // Within parentheses it is a value, of `parquet_metadata` perhaps.
                !opens && text.get(1..text.len().saturating_sub(1)).is_some_and(|text| text.ends_with(&self.file) && text.contains('/'))
                    || READERS.iter().any(|reader| token.kind == TokenKind::QuotedName && text.eq_ignore_ascii_case(&quoted(reader)))
            }
            _ => false,
        }
    }

    fn sentence(&self, wide: &Wide) -> String {
        let all = self.wide.iter().map(|wide| quoted(&wide.column)).collect::<Vec<_>>().join(", ");
        format!(
            "Column {} of {} has decimals of more than 38 digits, {}, which DuckDB reads wrongly. The other columns can be read: \
             SELECT * EXCLUDE ({all}) FROM {}",
            quoted(&wide.column),
            self.file,
            wide.digits,
            quoted(&self.view)
        )
    }
}

impl std::fmt::Display for Digits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DECIMAL({},{})", self.precision, self.scale)
    }
}

fn elements(told: &[RecordBatch]) -> Vec<Element> {
    let number = |batch: &RecordBatch, column: usize, row: usize| {
        batch.columns().get(column).and_then(|array| array.as_primitive_opt::<Int64Type>()).map_or(0, |values| values.value(row))
    };
    let element = |batch: &RecordBatch, row: usize| Element {
        children: number(batch, 0, row),
        wide: (number(batch, 1, row) != 0).then(|| Digits { precision: number(batch, 2, row), scale: number(batch, 3, row) }),
    };
    told.iter().flat_map(|batch| (0..batch.num_rows()).map(move |row| element(batch, row))).collect()
}

/// Columns, by their place, with such decimals in them. The first element is the file's own.
fn wide(elements: &[Element]) -> Vec<(usize, Digits)> {
    let mut found: Vec<(usize, Digits)> = Vec::new();
    let (mut column, mut open) = (0, 0_i64);
    for element in elements.iter().skip(1) {
        if let Some(digits) = element.wide
            && found.last().is_none_or(|(last, _)| *last != column)
        {
            found.push((column, digits));
        }
        // What is within the column and still to come.
        open = open.saturating_sub(1).max(0).saturating_add(element.children);
        column += usize::from(open == 0);
    }
    found
}

fn texts(batch: &RecordBatch) -> Vec<String> {
    let column = batch.columns().first().and_then(|array| array.as_string_opt::<i32>());
    column.map(|texts| texts.iter().flatten().map(str::to_owned).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGITS: Digits = Digits { precision: 50, scale: 10 };

    fn element(children: i64, is_wide: bool) -> Element {
        Element { children, wide: is_wide.then_some(DIGITS) }
    }

    #[test]
    fn a_column_is_found_by_what_is_within_it() {
        let leaf = |is_wide| element(0, is_wide);
        // a, list(element), struct(x, struct(y), z), b.
        let elements = [
            element(5, false),
            leaf(true),
            element(1, false),
            element(1, false),
            leaf(true),
            element(3, false),
            leaf(false),
            element(1, false),
            leaf(true),
            leaf(true),
            leaf(false),
            leaf(true),
        ];
        assert_eq!(wide(&elements), [0, 1, 2, 4].map(|at| (at, DIGITS)));
        assert_eq!(wide(&[element(1, false), leaf(false)]), []);
        assert_eq!(wide(&[]), []);
    }

    #[test]
    fn what_reads_the_file_past_its_view_is_known_by_its_words() {
        let columns = WideColumns {
            wide: vec![Wide { column: "d".to_owned(), digits: DIGITS }],
            file: "trips.parquet".to_owned(),
            view: "trips".to_owned(),
        };
        for sql in [
            "SELECT d FROM read_parquet('/x/trips.parquet')",
            "FROM PARQUET_SCAN(['/x/trips.parquet'])",
            "SELECT * FROM '/x/trips.parquet'",
            "SELECT * FROM \"/x/trips.parquet\" t",
            "FROM \"read_parquet\"('/x/trips.parquet')",
        ] {
            assert!(columns.refused(sql).is_some(), "{sql}");
        }
        for sql in ["SELECT a FROM trips", "SELECT * FROM parquet_metadata('/x/trips.parquet')", "SELECT 'trips.parquet'", "SELECT 1"] {
            assert!(columns.refused(sql).is_none(), "{sql}");
        }
        let told = columns.refused("FROM '/x/trips.parquet'").unwrap().problem;
        assert_eq!(told.position, Some(5));
        assert!(
            told.message.starts_with("Column \"d\" of trips.parquet has decimals of more than 38 digits, DECIMAL(50,10)"),
            "{}",
            told.message
        );
    }
}
