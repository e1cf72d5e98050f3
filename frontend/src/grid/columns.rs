//! The columns of a result: what their heads say and how wide they are.
//!
//! Invariant: no `web_sys`. Widths come from the first page and change afterwards only by the person's hand: a grid never reflows
//! while it scrolls.

use super::advance::Advances;
use crate::ui::unseen::{Lines, parts};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{Field, Schema};
use shared::format::format_cell;
use shared::types::{ColumnKind, kind_of, type_name};
use shared::wire::catalog::Catalog;

/// Narrowest column, by hand or by content.
pub const WIDTH_PX_MIN: f64 = 48.0;
/// Widest column that content asks for by itself.
const AUTO_WIDTH_PX_MAX: f64 = 380.0;
/// Widest column that a double click asks for.
const FIT_WIDTH_PX_MAX: f64 = 900.0;
/// Widest column by hand.
pub const WIDTH_PX_MAX: f64 = 4_000.0;
/// Space left and right of a cell's text, and the hairline.
pub const PADDING_PX: f64 = 20.0;
/// Figures that a column of numbers has room for at least: identifiers grow down the rows, and a number is never shortened.
const FIGURES_MIN: &str = "000000000";
/// Cells looked at for the first widths.
const SAMPLED_CELLS: usize = 20_000;
/// Characters of a cell that can matter for its width.
const SAMPLED_CHARS: usize = 160;
/// The head's name is 12 px medium, its type 11 px, measured with the cells' 13 px table.
const NAME_SCALE: f64 = 0.98;
const TYPE_SCALE: f64 = 0.86;
const GLYPH_PX: f64 = 18.0;

/// The column is part of a key of its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKey {
    /// Of the primary key.
    Primary,
    /// Of a foreign key.
    Foreign,
}

/// One column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its field in the first page, metadata and all.
    pub field: Field,
    /// How it is shown.
    pub kind: ColumnKind,
    /// Its width now.
    pub width_px: f64,
    /// The person set the width.
    pub set_by_hand: bool,
}

impl Column {
    /// The database's own name of its type.
    pub fn type_name(&self) -> &str {
        type_name(&self.field)
    }
}

/// Columns as the first page has them, widths still to be found.
pub fn columns_of(schema: &Schema) -> Vec<Column> {
    let fields = schema.fields().iter();
    fields.map(|field| Column { field: field.as_ref().clone(), kind: kind_of(field), width_px: 120.0, set_by_hand: false }).collect()
}

/// A column's values in one page, and what the page says of them.
type Values<'a> = (&'a dyn Array, &'a Field);

/// The width a column's head and values ask for. `page_share` is how many columns share the time that looking at values may take.
pub fn content_width_px(column: &Column, values: Values<'_>, advances: &Advances, page_share: usize) -> f64 {
    wanted_width_px(column, values, advances, AUTO_WIDTH_PX_MAX, (SAMPLED_CELLS / page_share.max(1)).max(20))
}

/// The width at which every value of a page is seen whole.
pub fn fit_width_px(column: &Column, values: Values<'_>, advances: &Advances) -> f64 {
    wanted_width_px(column, values, advances, FIT_WIDTH_PX_MAX, values.0.len())
}

fn wanted_width_px(column: &Column, (values, field): Values<'_>, advances: &Advances, limit_px: f64, rows: usize) -> f64 {
    let line_px = |text: &str| advances.line_px(text, parts(text, Lines::One).as_deref(), limit_px);
    let name = line_px(column.field.name()) * NAME_SCALE + GLYPH_PX;
    let type_name = advances.width_px(column.type_name(), limit_px) * TYPE_SCALE;
    let figures = if column.kind == ColumnKind::Number { advances.width_px(FIGURES_MIN, limit_px) } else { 0.0 };
    let mut widest = name.max(type_name).max(figures);
    for row in 0..values.len().min(rows) {
        if let Some((text, _)) = format_cell(values, field, row).prefix(SAMPLED_CHARS) {
            widest = widest.max(line_px(&text));
            if widest >= limit_px {
                break;
            }
        }
    }
    (widest + PADDING_PX).ceil().clamp(WIDTH_PX_MIN, limit_px)
}

/// Sets every width that the person has not.
pub fn fit_to_page(columns: &mut [Column], page: &RecordBatch, advances: &Advances) {
    let share = columns.len();
    for ((column, values), field) in columns.iter_mut().zip(page.columns()).zip(page.schema_ref().fields()) {
        if !column.set_by_hand {
            column.width_px = content_width_px(column, (values.as_ref(), field), advances, share);
        }
    }
}

/// Keys of the columns, by where each comes from (`schema.table.column`).
pub fn column_keys(origins: &[Option<String>], catalog: &Catalog) -> Vec<Option<ColumnKey>> {
    origins.iter().map(|origin| origin.as_deref().and_then(|origin| column_key(origin, catalog))).collect()
}

/// Schemas that columns come from and of which only names are known.
pub fn unread_schemas(origins: &[Option<String>], catalog: &Catalog) -> Vec<String> {
    let comes_from = |name: &str| origins.iter().flatten().any(|origin| after(origin, name).is_some());
    catalog.schemas.iter().filter(|schema| schema.partial && comes_from(&schema.name)).map(|schema| schema.name.clone()).collect()
}

fn column_key(origin: &str, catalog: &Catalog) -> Option<ColumnKey> {
    // Names may hold dots: each schema and relation is tried as a prefix.
    let schemas = catalog.schemas.iter().filter_map(|schema| Some((schema, after(origin, &schema.name)?)));
    let mut columns = schemas
        .flat_map(|(schema, rest)| schema.relations.iter().filter_map(move |relation| Some((relation, after(rest, &relation.name)?))));
    columns.find_map(|(relation, name)| {
        let column = relation.columns.iter().find(|column| column.name == name)?;
        if column.primary_key > 0 {
            return Some(ColumnKey::Primary);
        }
        let foreign = relation.foreign_keys.iter().any(|key| key.columns.iter().any(|own| own == name));
        foreign.then_some(ColumnKey::Foreign)
    })
}

fn after<'a>(path: &'a str, name: &str) -> Option<&'a str> {
    path.strip_prefix(name)?.strip_prefix('.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Int64Array, StringArray};
    use arrow_schema::DataType;
    use shared::wire::catalog::{Column as CatalogColumn, ForeignKey, Relation, Schema as CatalogSchema};

    fn column(name: &str, physical: DataType) -> Column {
        columns_of(&Schema::new(vec![Field::new(name, physical, true)])).remove(0)
    }

    #[test]
    fn a_column_is_as_wide_as_its_widest_value_or_its_head() {
        let advances = Advances::new(|_| 10.0, 10.0);
        let numbers = Int64Array::from(vec![Some(1), Some(1_234_567_890_123), None]);
        let n = column("n", DataType::Int64);
        assert_eq!(content_width_px(&n, (&numbers, &n.field), &advances, 1), 130.0 + PADDING_PX);
        let one = Int64Array::from(vec![1]);
        let head = content_width_px(&column("quite_a_long_name", DataType::Int64), (&one, &n.field), &advances, 1);
        assert!(head > 180.0);
        let long = StringArray::from(vec!["x".repeat(50_000)]);
        let t = column("t", DataType::Utf8);
        assert_eq!(content_width_px(&t, (&long, &t.field), &advances, 1), AUTO_WIDTH_PX_MAX);
        assert_eq!(fit_width_px(&t, (&long, &t.field), &advances), FIT_WIDTH_PX_MAX);
    }

    #[test]
    fn a_mark_has_its_room() {
        let advances = Advances::new(|_| 10.0, 10.0);
        let width = |text: &str| {
            let (values, t) = (StringArray::from(vec![text]), column("t", DataType::Utf8));
            content_width_px(&t, (&values, &t.field), &advances, 1)
        };
        let plain = "x".repeat(20);
        assert!(width(&format!("{plain}\u{202e}")) > width(&plain) + 20.0);
        assert_eq!(width(&format!("{plain}é")), width(&plain) + 10.0);
    }

    #[test]
    fn a_width_set_by_hand_stays() {
        let advances = Advances::new(|_| 10.0, 10.0);
        let schema = std::sync::Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, true)]));
        let page = RecordBatch::try_new(schema.clone(), vec![std::sync::Arc::new(Int64Array::from(vec![1]))]).unwrap();
        let mut columns = columns_of(&schema);
        columns[0].width_px = 333.0;
        columns[0].set_by_hand = true;
        fit_to_page(&mut columns, &page, &advances);
        assert_eq!(columns[0].width_px, 333.0);
    }

    #[test]
    fn keys_are_found_by_origin() {
        let relation = Relation {
            name: "order.items".to_owned(),
            columns: vec![
                CatalogColumn { name: "id".to_owned(), primary_key: 1, ..CatalogColumn::default() },
                CatalogColumn { name: "order_id".to_owned(), ..CatalogColumn::default() },
                CatalogColumn { name: "note".to_owned(), ..CatalogColumn::default() },
            ],
            foreign_keys: vec![ForeignKey { columns: vec!["order_id".to_owned()], ..ForeignKey::default() }],
            ..Relation::default()
        };
        let schema = CatalogSchema { name: "main".to_owned(), relations: vec![relation], ..CatalogSchema::default() };
        let catalog = Catalog { schemas: vec![schema], ..Catalog::default() };
        let origins = ["id", "order_id", "note"].map(|name| Some(format!("main.order.items.{name}")));
        let found = column_keys(&[origins.as_slice(), &[None]].concat(), &catalog);
        assert_eq!(found, [Some(ColumnKey::Primary), Some(ColumnKey::Foreign), None, None]);
    }
}
