//! How long cells are, and cutting the long ones.
//!
//! Invariant: text is cut between characters; a column without long cells is not touched.

use arrow_array::builder::{GenericBinaryBuilder, GenericStringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, GenericBinaryArray, GenericStringArray, OffsetSizeTrait, RecordBatch, UnionArray};
use arrow_schema::{DataType, UnionMode};
use std::sync::Arc;

/// Told of each cell that is cut: row, column, is it text, the whole value.
pub(super) type OnCut<'a> = dyn FnMut(usize, u32, bool, &[u8]) + 'a;

/// Bytes of values when no cell is longer than `limit`.
pub(super) fn size(batch: &RecordBatch, limit: usize) -> usize {
    row_bytes(batch, limit).iter().sum()
}

/// How many rows from the first on stay within `room`.
pub(super) fn rows_that_fit(batch: &RecordBatch, room: usize) -> usize {
    if batch.get_array_memory_size() <= room {
        return batch.num_rows();
    }
    let mut sum = 0_usize;
    row_bytes(batch, usize::MAX)
        .iter()
        .take_while(|bytes| {
            sum = sum.saturating_add(**bytes);
            sum <= room
        })
        .count()
}

fn row_bytes(batch: &RecordBatch, limit: usize) -> Vec<usize> {
    let mut rows = vec![0_usize; batch.num_rows()];
    for column in batch.columns() {
        add_lengths(column, limit, &mut rows);
    }
    rows
}

fn add_lengths(array: &ArrayRef, limit: usize, rows: &mut [usize]) {
    fn offsets<O: OffsetSizeTrait>(offsets: &[O], limit: usize, rows: &mut [usize]) {
        for (row, pair) in rows.iter_mut().zip(offsets.windows(2)) {
            if let [from, to] = pair {
                *row += (to.as_usize() - from.as_usize()).min(limit) + size_of::<O>();
            }
        }
    }
    match array.data_type() {
        DataType::Utf8 => offsets(array.as_string::<i32>().value_offsets(), limit, rows),
        DataType::LargeUtf8 => offsets(array.as_string::<i64>().value_offsets(), limit, rows),
        DataType::Binary => offsets(array.as_binary::<i32>().value_offsets(), limit, rows),
        DataType::LargeBinary => offsets(array.as_binary::<i64>().value_offsets(), limit, rows),
        DataType::Union(fields, UnionMode::Dense) => {
            let union = array.as_union();
            let mut lengths: [Vec<usize>; 128] = std::array::from_fn(|_| Vec::new());
            for (id, _) in fields.iter() {
                let child = union.child(id);
                let mut of_child = vec![0; child.len()];
                add_lengths(child, limit, &mut of_child);
                if let Some(slot) = usize::try_from(id).ok().and_then(|id| lengths.get_mut(id)) {
                    *slot = of_child;
                }
            }
            for (at, row) in rows.iter_mut().enumerate() {
                let id = usize::try_from(union.type_id(at)).unwrap_or(0);
                *row += 5 + lengths.get(id).and_then(|child| child.get(union.value_offset(at))).copied().unwrap_or(0);
            }
        }
        other => {
            let width = other.primitive_width().unwrap_or_else(|| match other {
                DataType::Null => 0,
                DataType::Boolean => 1,
                _ => array.to_data().get_slice_memory_size().unwrap_or(0) / array.len().max(1),
            });
            rows.iter_mut().for_each(|row| *row += width);
        }
    }
}

/// The batch with no cell longer than `limit`.
pub(super) fn trim(batch: RecordBatch, limit: usize, on_cut: &mut OnCut<'_>) -> RecordBatch {
    let mut changed = None;
    for (at, array) in batch.columns().iter().enumerate() {
        let column = u32::try_from(at).unwrap_or(u32::MAX);
        let cut = trim_array(array, limit, &mut |row, text, value| on_cut(row, column, text, value));
        if let Some(cut) = cut
            && let Some(slot) = changed.get_or_insert_with(|| batch.columns().to_vec()).get_mut(at)
        {
            *slot = cut;
        }
    }
    match changed {
        // Types and lengths are as before, so this does not fail; and if it did, a page too long is refused later.
        Some(columns) => RecordBatch::try_new(batch.schema(), columns).unwrap_or(batch),
        None => batch,
    }
}

type OnCell<'a> = dyn FnMut(usize, bool, &[u8]) + 'a;

fn trim_array(array: &ArrayRef, limit: usize, on_cut: &mut OnCell<'_>) -> Option<ArrayRef> {
    match array.data_type() {
        DataType::Utf8 => trim_text(array.as_string::<i32>(), limit, on_cut),
        DataType::LargeUtf8 => trim_text(array.as_string::<i64>(), limit, on_cut),
        DataType::Binary => trim_bytes(array.as_binary::<i32>(), limit, on_cut),
        DataType::LargeBinary => trim_bytes(array.as_binary::<i64>(), limit, on_cut),
        DataType::Union(_, UnionMode::Dense) => trim_union(array.as_union(), limit, on_cut),
        _ => None,
    }
}

fn has_long<O: OffsetSizeTrait>(offsets: &[O], limit: usize) -> bool {
    let span = offsets.last().zip(offsets.first()).map_or(0, |(last, first)| last.as_usize() - first.as_usize());
    span > limit && offsets.windows(2).any(|pair| matches!(pair, [from, to] if to.as_usize() - from.as_usize() > limit))
}

fn trim_text<O: OffsetSizeTrait>(array: &GenericStringArray<O>, limit: usize, on_cut: &mut OnCell<'_>) -> Option<ArrayRef> {
    if !has_long(array.value_offsets(), limit) {
        return None;
    }
    let mut to = GenericStringBuilder::<O>::with_capacity(array.len(), 0);
    for (row, value) in array.iter().enumerate() {
        match value {
            Some(text) if text.len() > limit => {
                on_cut(row, true, text.as_bytes());
                to.append_value(text.get(..text.floor_char_boundary(limit)).unwrap_or(""));
            }
            value => to.append_option(value),
        }
    }
    Some(Arc::new(to.finish()))
}

fn trim_bytes<O: OffsetSizeTrait>(array: &GenericBinaryArray<O>, limit: usize, on_cut: &mut OnCell<'_>) -> Option<ArrayRef> {
    if !has_long(array.value_offsets(), limit) {
        return None;
    }
    let mut to = GenericBinaryBuilder::<O>::with_capacity(array.len(), 0);
    for (row, value) in array.iter().enumerate() {
        match value {
            Some(bytes) if bytes.len() > limit => {
                on_cut(row, false, bytes);
                to.append_value(bytes.get(..limit).unwrap_or(bytes));
            }
            value => to.append_option(value),
        }
    }
    Some(Arc::new(to.finish()))
}

fn trim_union(union: &UnionArray, limit: usize, on_cut: &mut OnCell<'_>) -> Option<ArrayRef> {
    let DataType::Union(fields, _) = union.data_type() else { return None };
    let mut any = false;
    let mut children = Vec::with_capacity(fields.len());
    for (id, _) in fields.iter() {
        let child = union.child(id);
        let mut row_of = vec![None; child.len()];
        for row in (0..union.len()).filter(|row| union.type_id(*row) == id) {
            if let Some(slot) = row_of.get_mut(union.value_offset(row)) {
                *slot = Some(row);
            }
        }
        let cut = trim_array(child, limit, &mut |at, text, value| {
            // A value that no row shows (a slice of a larger array) is cut and not told.
            if let Some(row) = row_of.get(at).copied().flatten() {
                on_cut(row, text, value);
            }
        });
        any |= cut.is_some();
        children.push(cut.unwrap_or_else(|| child.clone()));
    }
    if !any {
        return None;
    }
    let cut = UnionArray::try_new(fields.clone(), union.type_ids().clone(), union.offsets().cloned(), children).ok()?;
    Some(Arc::new(cut))
}
