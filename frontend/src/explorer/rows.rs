//! The tree as a list of the rows that are unfolded. Pure.

use super::order::natural;
use crate::state::connections::Load;
use crate::state::words;
use crate::ui::icon::Glyph;
use shared::ids::ConnectionId;
use shared::problem::ErrorCode;
use shared::wire::catalog::{Catalog, Relation, RelationKind, Schema};
use shared::wire::connection::Connection;
use std::collections::HashSet;
use std::sync::Arc;

/// What a row stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A connection.
    Connection(ConnectionId),
    /// A schema.
    Schema(ConnectionId, String),
    /// A table or view: schema and name.
    Relation(ConnectionId, String, String),
    /// A column, by its name.
    Column(ConnectionId, String),
    /// What is on its way.
    Coming,
    /// What could not be fetched: the reason, and whether a password would help.
    Failed(ConnectionId, bool),
    /// A thing without children.
    Nothing,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// Its name among all rows.
    pub key: String,
    /// What it stands for.
    pub node: Node,
    /// Level, from 1.
    pub level: usize,
    /// Its name for people.
    pub label: String,
    /// Muted, behind the name.
    pub detail: String,
    /// Its icon.
    pub glyph: Glyph,
    /// What the icon says, for those who don't see it.
    pub says: &'static str,
    /// It stands back: a thing of the system, one that may not be used, or was not searched.
    pub dim: bool,
    /// The connection's colour.
    pub color: Option<u8>,
    /// It has children; unfolded when true.
    pub unfolded: Option<bool>,
    /// Lines of the tree above it, and its own: more than one where a sentence needs them.
    pub lines: (usize, usize),
    /// Its place among its siblings, from 1, and their number.
    pub place: (usize, usize),
}

impl Row {
    fn new(key: String, node: Node, level: usize, label: &str, glyph: Glyph) -> Self {
        Self {
            key,
            node,
            level,
            label: label.to_owned(),
            detail: String::new(),
            glyph,
            says: "",
            dim: false,
            color: None,
            unfolded: None,
            lines: (0, 1),
            place: (1, 1),
        }
    }
}

/// Keys of rows, as a set of the unfolded ones holds them.
pub mod keys {
    use shared::ids::ConnectionId;

    /// A connection's.
    pub fn connection(id: &ConnectionId) -> String {
        id.0.clone()
    }

    /// A schema's.
    pub fn schema(id: &ConnectionId, schema: &str) -> String {
        format!("{id}/{schema}")
    }

    /// A table's or view's.
    pub fn relation(id: &ConnectionId, schema: &str, relation: &str) -> String {
        format!("{id}/{schema}/{relation}")
    }
}

/// The rows to show, in a tree so wide. With a filter, only relations whose name holds it (and what they stand in), unfolded; and,
/// since nobody knows what is in them, connections whose catalog is not here.
pub fn rows(
    connections: &[Connection],
    catalog: impl Fn(&ConnectionId) -> Load<Arc<Catalog>>,
    unfolded: &HashSet<String>,
    filter: &str,
    width_px: f64,
) -> Vec<Row> {
    let filter = filter.trim().to_lowercase();
    let shown: Vec<_> =
        connections.iter().map(|connection| (connection, catalog(&connection.id))).filter(|(_, load)| may_hold(load, &filter)).collect();
    let is_nowhere = !filter.is_empty() && shown.iter().all(|(_, load)| matches!(load, Load::Absent | Load::Failed(_)));
    let (first, count) = (usize::from(is_nowhere), usize::from(is_nowhere) + shown.len());
    let mut out = Vec::new();
    if is_nowhere {
        let row = Row::new("!".to_owned(), Node::Nothing, 1, "No table or view of that name", Glyph::Search);
        out.push(Row { place: (1, count), ..row });
    }
    for (at, (connection, load)) in shown.into_iter().enumerate() {
        let key = keys::connection(&connection.id);
        let searched = load.here().is_some();
        let open = if filter.is_empty() { unfolded.contains(&key) } else { searched };
        let mut row = Row::new(key.clone(), Node::Connection(connection.id.clone()), 1, &connection.fields.name, Glyph::Database);
        row.detail = words::engine(connection.fields.engine).to_owned();
        row.color = connection.fields.color;
        row.says = if connection.fields.read_only { "read-only" } else { "" };
        row.unfolded = Some(open);
        row.place = (first + at + 1, count);
        if !filter.is_empty() && !searched {
            row.detail = if matches!(load, Load::Coming) { "reading…" } else { "not searched" }.to_owned();
            row.dim = true;
        }
        out.push(row);
        if open {
            let view = View { unfolded, filter: &filter };
            below_connection(&mut out, &connection.id, &load, &view);
        }
    }
    let mut above = 0;
    for row in &mut out {
        let own = if matches!(row.node, Node::Failed(..)) { sentence_lines(&row.label, width_px) + 1 } else { 1 };
        row.lines = (above, own);
        above += own;
    }
    out
}

/// Lines of the tree that a sentence takes, with room to spare: where its words break is the browser's matter.
fn sentence_lines(sentence: &str, width_px: f64) -> usize {
    /// What stands left and right of the sentence, and a character's width, rather too much than too little.
    const ASIDE_PX: f64 = 72.0;
    const CHARACTER_PX: f64 = 7.5;
    let fit = ((width_px - ASIDE_PX) / CHARACTER_PX).max(8.0) as usize;
    // A line of text is lower than one of the tree: three stand where two rows would.
    sentence.chars().count().div_ceil(fit).saturating_mul(3).div_ceil(4).max(1)
}

/// The row on a line of the tree, or the last one.
pub fn row_on_line(rows: &[Row], line: usize) -> usize {
    rows.partition_point(|row| row.lines.0 + row.lines.1 <= line)
}

/// Lines of the whole tree.
pub fn line_count(rows: &[Row]) -> usize {
    rows.last().map_or(0, |row| row.lines.0 + row.lines.1)
}

/// What decides about the rows below a connection.
struct View<'a> {
    unfolded: &'a HashSet<String>,
    /// Lower case; empty where all is shown.
    filter: &'a str,
}

fn below_connection(out: &mut Vec<Row>, id: &ConnectionId, load: &Load<Arc<Catalog>>, view: &View<'_>) {
    let key = keys::connection(id);
    if let Some(problem) = load.problem() {
        let wants_password =
            matches!(problem.code, ErrorCode::PasswordNeeded | ErrorCode::AuthenticationFailed | ErrorCode::UnknownHostKey);
        let old = if load.here().is_some() { "This list may be old: " } else { "" };
        let label = format!("{old}{}", problem.message);
        out.push(Row::new(format!("{key}!"), Node::Failed(id.clone(), wants_password), 2, &label, Glyph::Error));
    }
    match load {
        Load::Absent | Load::Coming => out.push(Row::new(format!("{key}?"), Node::Coming, 2, "Reading the catalog…", Glyph::Refresh)),
        Load::Failed(_) => {}
        Load::Here(catalog) | Load::Stale(catalog, _) => {
            let mut shown: Vec<&Schema> =
                catalog.schemas.iter().filter(|schema| view.filter.is_empty() || holds(schema, view.filter)).collect();
            // A person's own before the system's.
            shown.sort_by(|one, other| one.system.cmp(&other.system).then_with(|| natural(&one.name, &other.name)));
            let count = shown.len();
            for (at, schema) in shown.into_iter().enumerate() {
                below_schema(out, id, schema, (at + 1, count), view);
            }
        }
    }
}

fn below_schema(out: &mut Vec<Row>, id: &ConnectionId, schema: &Schema, place: (usize, usize), view: &View<'_>) {
    let key = keys::schema(id, &schema.name);
    let open = view.unfolded.contains(&key) || !view.filter.is_empty();
    let (glyph, says) = if schema.denied { (Glyph::Lock, "no permission") } else { (Glyph::Schema, "") };
    let mut row = Row::new(key.clone(), Node::Schema(id.clone(), schema.name.clone()), 2, &schema.name, glyph);
    row.unfolded = Some(open);
    row.place = place;
    row.says = says;
    row.dim = schema.denied || schema.system;
    row.detail = if schema.system { "system".to_owned() } else { String::new() };
    out.push(row);
    if !open {
        return;
    }
    let mut shown: Vec<&Relation> =
        schema.relations.iter().filter(|one| view.filter.is_empty() || one.name.to_lowercase().contains(view.filter)).collect();
    let (first, count) = (usize::from(schema.denied), usize::from(schema.denied) + shown.len());
    if schema.denied {
        // What else is told of it stands below: names that no statement of this user can read.
        let row = Row::new(format!("{key}0"), Node::Nothing, 3, "No permission to use it", Glyph::Note);
        out.push(Row { place: (1, count), ..row });
    } else if shown.is_empty() {
        out.push(Row::new(format!("{key}0"), Node::Nothing, 3, "No tables", Glyph::Table));
    }
    // Tables before views.
    let is_view = |one: &Relation| matches!(one.kind, RelationKind::View | RelationKind::MaterializedView);
    shown.sort_by(|one, other| is_view(one).cmp(&is_view(other)).then_with(|| natural(&one.name, &other.name)));
    for (at, relation) in shown.into_iter().enumerate() {
        below_relation(out, id, schema, relation, (first + at + 1, count), view);
    }
}

fn below_relation(out: &mut Vec<Row>, id: &ConnectionId, schema: &Schema, relation: &Relation, place: (usize, usize), view: &View<'_>) {
    let key = keys::relation(id, &schema.name, &relation.name);
    let open = view.unfolded.contains(&key);
    let (glyph, says) = match relation.kind {
        RelationKind::Table => (Glyph::Table, ""),
        RelationKind::View => (Glyph::View, "view"),
        RelationKind::MaterializedView => (Glyph::View, "materialized view"),
        RelationKind::ForeignTable => (Glyph::Table, "foreign table"),
    };
    let mut row = Row::new(key.clone(), Node::Relation(id.clone(), schema.name.clone(), relation.name.clone()), 3, &relation.name, glyph);
    row.unfolded = Some(open);
    row.says = says;
    row.place = place;
    row.dim = schema.denied;
    row.detail = relation.estimated_rows.filter(|rows| *rows > 0).map(short).unwrap_or_default();
    out.push(row);
    if !open {
        return;
    }
    let count = relation.columns.len();
    if count == 0 && schema.partial {
        out.push(Row::new(format!("{key}?"), Node::Coming, 4, "Reading the columns…", Glyph::Refresh));
    }
    for (at, column) in relation.columns.iter().enumerate() {
        let refers = relation.foreign_keys.iter().any(|foreign| foreign.columns.contains(&column.name));
        let (glyph, says) = match (column.primary_key > 0, refers) {
            (true, _) => (Glyph::Key, "primary key"),
            (false, true) => (Glyph::Link, "foreign key"),
            (false, false) => (Glyph::Column, ""),
        };
        let mut row = Row::new(format!("{key}/{at}"), Node::Column(id.clone(), column.name.clone()), 4, &column.name, glyph);
        row.says = says;
        row.detail = if column.not_null || column.primary_key > 0 { column.type_name.clone() } else { nullable(&column.type_name) };
        row.place = (at + 1, count);
        out.push(row);
    }
}

fn nullable(type_name: &str) -> String {
    if type_name.is_empty() { String::new() } else { format!("{type_name}?") }
}

/// There may be something of that name in it, as far as is known.
fn may_hold(load: &Load<Arc<Catalog>>, filter: &str) -> bool {
    filter.is_empty() || load.here().is_none_or(|catalog| catalog.schemas.iter().any(|schema| holds(schema, filter)))
}

fn holds(schema: &Schema, filter: &str) -> bool {
    schema.relations.iter().any(|one| one.name.to_lowercase().contains(filter))
}

/// `999`, `1.2k`, `34k`, `1M`: an estimate, not a count.
fn short(rows: u64) -> String {
    let scaled = |unit: f64, name: &str| {
        let value = rows as f64 / unit;
        if value < 9.95 { format!("{value:.1}{name}").replace(".0", "") } else { format!("{value:.0}{name}") }
    };
    match rows {
        0..=999 => rows.to_string(),
        1_000..=999_499 => scaled(1e3, "k"),
        _ => scaled(1e6, "M"),
    }
}

/// Schemas that are unfolded and of which only names are here.
pub fn unread_schemas(id: &ConnectionId, catalog: &Catalog, unfolded: &HashSet<String>) -> Vec<String> {
    if !unfolded.contains(&keys::connection(id)) {
        return Vec::new();
    }
    let unread = catalog.schemas.iter().filter(|schema| schema.partial && unfolded.contains(&keys::schema(id, &schema.name)));
    unread.map(|schema| schema.name.clone()).collect()
}

/// The schemas to unfold at first: the only one that is a person's to use, else the first of the search path.
pub fn first_schema(catalog: &Catalog) -> Option<&str> {
    let own: Vec<&Schema> = catalog.schemas.iter().filter(|schema| !schema.system && !schema.denied).collect();
    match own.as_slice() {
        [only] => Some(&only.name),
        _ => catalog.search_path.iter().find(|name| own.iter().any(|schema| schema.name == **name)).map(String::as_str),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::problem::Problem;
    use shared::wire::catalog::Column;
    use shared::wire::connection::{ConnectionFields, EngineKind};

    fn connection(id: &str) -> Connection {
        Connection {
            id: ConnectionId(id.to_owned()),
            fields: ConnectionFields::new("Shop", EngineKind::Sqlite),
            temporary: false,
            held: Vec::new(),
        }
    }

    fn shop() -> Load<Arc<Catalog>> {
        let column =
            |name: &str, primary_key| Column { name: name.to_owned(), type_name: "INTEGER".to_owned(), primary_key, ..Column::default() };
        let relation = |name: &str, kind| Relation {
            name: name.to_owned(),
            kind,
            columns: vec![column("id", 1), column("size", 0)],
            ..Relation::default()
        };
        let relations = vec![
            relation("big_orders", RelationKind::View),
            relation("orders", RelationKind::Table),
            relation("products", RelationKind::Table),
        ];
        let main = Schema { name: "main".to_owned(), relations, ..Schema::default() };
        Load::Here(Arc::new(Catalog { database: "shop".to_owned(), search_path: vec!["main".to_owned()], schemas: vec![main] }))
    }

    fn labels(rows: &[Row]) -> Vec<String> {
        rows.iter().map(|row| format!("{}{}", "  ".repeat(row.level - 1), row.label)).collect()
    }

    fn set(keys: &[&str]) -> HashSet<String> {
        keys.iter().map(|key| (*key).to_owned()).collect()
    }

    #[test]
    fn only_unfolded_rows_show_and_tables_come_before_views() {
        let all = [connection("c")];
        assert_eq!(labels(&rows(&all, |_| shop(), &set(&[]), "", 264.0)), ["Shop"]);
        let shown = rows(&all, |_| shop(), &set(&["c", "c/main", "c/main/orders"]), "", 264.0);
        assert_eq!(labels(&shown), ["Shop", "  main", "    orders", "      id", "      size", "    products", "    big_orders"]);
        assert_eq!(shown.iter().map(|row| row.place).collect::<Vec<_>>(), [(1, 1), (1, 1), (1, 3), (1, 2), (2, 2), (2, 3), (3, 3)]);
        assert_eq!(shown.get(3).map(|row| (row.glyph, row.detail.as_str())), Some((Glyph::Key, "INTEGER")));
    }

    #[test]
    fn a_filter_unfolds_what_holds_it() {
        let shown = rows(&[connection("c")], |_| shop(), &set(&[]), "ORD", 264.0);
        assert_eq!(labels(&shown), ["Shop", "  main", "    orders", "    big_orders"]);
    }

    #[test]
    fn a_filter_leaves_only_where_something_is_or_may_be() {
        let load = |id: &ConnectionId| match id.0.as_str() {
            "here" => shop(),
            "coming" => Load::Coming,
            _ => Load::Failed(Problem::new(ErrorCode::ConnectFailed, "No server answers")),
        };
        let all = [connection("here"), connection("coming"), connection("lost")];
        let shown = |filter: &str| rows(&all, load, &set(&["here", "coming", "lost"]), filter, 264.0);
        assert_eq!(labels(&shown("big")), ["Shop", "  main", "    big_orders", "Shop", "Shop"]);
        let beside: Vec<_> = shown("big").iter().filter(|row| row.dim).map(|row| (row.detail.clone(), row.place)).collect();
        assert_eq!(beside, [("reading…".to_owned(), (2, 3)), ("not searched".to_owned(), (3, 3))]);
        assert_eq!(shown("nothing like it").len(), 2);
        assert_eq!(labels(&rows(&all[..1], load, &set(&["here"]), "nothing like it", 264.0)), ["No table or view of that name"]);
    }

    #[test]
    fn own_schemas_come_before_the_systems_and_names_are_in_natural_order() {
        let schema = |name: &str, system| {
            let named = |name: &str| Relation { name: name.to_owned(), ..Relation::default() };
            Schema { name: name.to_owned(), system, relations: ["t1", "t10", "T3", "t2"].map(named).to_vec(), ..Schema::default() }
        };
        let schemas = vec![schema("information_schema", true), schema("s10", false), schema("pg_catalog", true), schema("s2", false)];
        let load = Load::Here(Arc::new(Catalog { schemas, ..Catalog::default() }));
        let shown = rows(&[connection("c")], |_| load.clone(), &set(&["c", "c/s2"]), "", 264.0);
        let wanted = ["Shop", "  s2", "    t1", "    t2", "    T3", "    t10", "  s10", "  information_schema", "  pg_catalog"];
        assert_eq!(labels(&shown), wanted);
        assert_eq!([1, 6, 7, 8].map(|at| shown[at].dim), [false, false, true, true]);
    }

    #[test]
    fn a_failed_catalog_fails_under_its_own_connection_only() {
        let failed = Load::Failed(Problem::new(ErrorCode::PasswordNeeded, "A password is needed"));
        let shown =
            rows(&[connection("a"), connection("b")], |id| if id.0 == "a" { failed.clone() } else { shop() }, &set(&["a", "b"]), "", 264.0);
        assert_eq!(labels(&shown), ["Shop", "  A password is needed", "Shop", "  main"]);
        assert!(matches!(shown.get(1).map(|row| &row.node), Some(Node::Failed(_, true))));
    }

    #[test]
    fn what_is_shown_stays_where_it_could_not_be_brought_up_to_date() {
        let lost = Problem::new(ErrorCode::ConnectionLost, "The server does not answer.");
        let shown = rows(&[connection("a")], |_| shop().failed(lost.clone()), &set(&["a"]), "", 264.0);
        assert_eq!(labels(&shown), ["Shop", "  This list may be old: The server does not answer.", "  main"]);
    }

    #[test]
    fn a_sentence_has_the_lines_it_needs_and_the_rows_below_stand_below_it() {
        let long = "The server at db.example.org refused the connection: nobody listens on port 5432 of that machine";
        let failed = Load::Failed(Problem::new(ErrorCode::ConnectFailed, long));
        let shown = rows(&[connection("a"), connection("b")], |_| failed.clone(), &set(&["a"]), "", 264.0);
        assert_eq!(shown.iter().map(|row| row.lines).collect::<Vec<_>>(), [(0, 1), (1, 4), (5, 1)]);
        assert_eq!([0, 1, 4, 5, 9].map(|line| row_on_line(&shown, line)), [0, 1, 1, 2, 3]);
        assert_eq!(line_count(&shown), 6);
        assert!(sentence_lines(long, 180.0) > sentence_lines(long, 560.0));
    }

    #[test]
    fn a_schema_that_may_not_be_used_says_so_and_is_not_unfolded_at_first() {
        let named = |name: &str, denied, tables: &[&str]| Schema {
            name: name.to_owned(),
            denied,
            relations: tables.iter().map(|name| Relation { name: (*name).to_owned(), ..Relation::default() }).collect(),
            ..Schema::default()
        };
        let schemas = vec![named("closed", true, &["told"]), named("empty", false, &[]), named("shut", true, &[])];
        let catalog = Catalog { schemas, ..Catalog::default() };
        assert_eq!(first_schema(&catalog), Some("empty"));
        let load = Load::Here(Arc::new(catalog));
        let shown = rows(&[connection("c")], |_| load.clone(), &set(&["c", "c/closed", "c/empty", "c/shut"]), "", 264.0);
        let wanted = [
            "Shop",
            "  closed",
            "    No permission to use it",
            "    told",
            "  empty",
            "    No tables",
            "  shut",
            "    No permission to use it",
        ];
        assert_eq!(labels(&shown), wanted);
        assert_eq!(
            [1, 4, 6].map(|at| (shown[at].says, shown[at].glyph)),
            [("no permission", Glyph::Lock), ("", Glyph::Schema), ("no permission", Glyph::Lock)]
        );
        assert_eq!([1, 3, 4].map(|at| shown[at].dim), [true, true, false]);
        assert_eq!([2, 3, 7].map(|at| shown[at].place), [(1, 2), (2, 2), (1, 1)]);
        assert_eq!([2, 5].map(|at| &shown[at].node), [&Node::Nothing; 2]);
        assert_eq!(
            labels(&rows(&[connection("c")], |_| load.clone(), &set(&[]), "told", 264.0))[1..],
            ["  closed", "    No permission to use it", "    told"]
        );
    }

    #[test]
    fn names_are_shown_before_columns_are_here() {
        let Load::Here(whole) = shop() else { return };
        let mut names = Arc::unwrap_or_clone(whole);
        for schema in &mut names.schemas {
            schema.partial = true;
            schema.relations.iter_mut().for_each(|relation| relation.columns.clear());
        }
        let id = ConnectionId("c".to_owned());
        assert_eq!(unread_schemas(&id, &names, &set(&["c", "c/main"])), ["main"]);
        assert!(
            unread_schemas(&id, &names, &set(&["c", "c/other"])).is_empty() && unread_schemas(&id, &names, &set(&["c/main"])).is_empty()
        );
        let load = Load::Here(Arc::new(names));
        let shown = rows(&[connection("c")], |_| load.clone(), &set(&["c", "c/main", "c/main/orders"]), "", 264.0);
        assert_eq!(labels(&shown), ["Shop", "  main", "    orders", "      Reading the columns…", "    products", "    big_orders"]);
    }

    #[test]
    fn estimates_are_short() {
        assert_eq!([7, 1_000, 1_234, 45_600, 1_000_000].map(short), ["7", "1k", "1.2k", "46k", "1M"]);
    }
}
