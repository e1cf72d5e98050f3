//! A page as the grid keeps it: its rows, and which of its cells were cut.
//!
//! Invariant: no `web_sys`. What a page's metadata says is not trusted; a cut list that can't be read is none.

use arrow_array::{Array, RecordBatch};
use shared::format::{Cell, format_cell};
use shared::page::CUT_KEY;
use std::collections::HashMap;

/// A page and its cut cells.
#[derive(Debug)]
pub struct HeldPage {
    /// The rows.
    pub batch: RecordBatch,
    cuts: HashMap<(usize, usize), u64>,
}

impl HeldPage {
    /// Reads the cut list of a page.
    pub fn new(batch: RecordBatch) -> Self {
        let list = batch.schema_ref().metadata().get(CUT_KEY);
        let list: Vec<(usize, usize, u64)> = list.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
        Self { batch, cuts: list.into_iter().map(|(row, column, bytes)| ((row, column), bytes)).collect() }
    }

    /// A value. What the page says of the column goes for this page only: its physical type, its offsets.
    pub fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        match (self.batch.columns().get(column), self.batch.schema_ref().fields().get(column)) {
            (Some(values), Some(field)) => format_cell(values.as_ref(), field, row),
            _ => Cell::Unreadable,
        }
    }

    /// The whole length in bytes of a cell that was cut in the page; `None` for a cell that is whole.
    pub fn cut_bytes(&self, row: usize, column: usize) -> Option<u64> {
        self.cuts.get(&(row, column)).copied()
    }

    /// Bytes it takes in memory: its values (they share one allocation) and the nodes around them.
    pub fn bytes(&self) -> usize {
        let values = self.batch.columns().iter().map(|values| values.to_data().get_slice_memory_size().unwrap_or(0));
        values.sum::<usize>() + 1024
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{StringArray, TimestampMicrosecondArray};
    use arrow_schema::{DataType, Field, Schema, TimeUnit};
    use shared::page::OFFSETS_KEY;
    use std::sync::Arc;

    fn page(cut: &str) -> HeldPage {
        let schema =
            Schema::new(vec![Field::new("t", DataType::Utf8, true)]).with_metadata(HashMap::from([(CUT_KEY.to_owned(), cut.to_owned())]));
        HeldPage::new(RecordBatch::try_new(Arc::new(schema), vec![Arc::new(StringArray::from(vec!["abc", "d"]))]).unwrap())
    }

    #[test]
    fn cut_cells_are_known_by_place() {
        let page = page("[[1,0,90000]]");
        assert_eq!(page.cut_bytes(1, 0), Some(90_000));
        assert_eq!(page.cut_bytes(0, 0), None);
        assert!(page.bytes() < 10_000);
    }

    #[test]
    fn a_page_tells_by_itself_how_its_values_are_written() {
        let kind = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        let shown = [Some("0:3600"), Some("0:-52"), None].map(|offsets| {
            let metadata: HashMap<String, String> = offsets.map(|text| (OFFSETS_KEY.to_owned(), text.to_owned())).into_iter().collect();
            let schema = Schema::new(vec![Field::new("t", kind.clone(), true).with_metadata(metadata)]);
            let values = TimestampMicrosecondArray::from(vec![0]).with_timezone("UTC");
            let page = HeldPage::new(RecordBatch::try_new(Arc::new(schema), vec![Arc::new(values)]).unwrap());
            assert_eq!((page.cell(1, 0), page.cell(0, 1)), (Cell::Unreadable, Cell::Unreadable));
            page.cell(0, 0).text().unwrap().into_owned()
        });
        assert_eq!(shown, ["1970-01-01 01:00:00+01", "1969-12-31 23:59:08-00:00:52", "1970-01-01 00:00:00+00"]);
    }

    #[test]
    fn a_cut_list_that_cannot_be_read_is_none() {
        assert_eq!(page("[[1,").cut_bytes(1, 0), None);
    }
}
