//! Completion against the texts people write. `|` is the cursor. Case ids: A… of the collected reports.
#![cfg(test)]

use shared::complete::{Asked, CatalogIndex, Suggestion, SuggestionKind, Suggestions, pick, suggest, suggest_in};
use shared::wire::catalog::{Catalog, Column, ForeignKey, Relation, RelationKind, Routine, Schema};
use shared::wire::connection::EngineKind::{self, Postgres, Sqlite};

fn table(name: &str, columns: &str) -> Relation {
    let column = |(at, spec): (usize, &str)| {
        let (name, type_name) = spec.split_once(' ').unwrap_or((spec, "text"));
        Column { name: name.to_owned(), type_name: type_name.to_owned(), primary_key: u16::from(at == 0), ..Column::default() }
    };
    Relation { name: name.to_owned(), columns: columns.split(',').enumerate().map(column).collect(), ..Relation::default() }
}

fn refers(mut table: Relation, column: &str, to: &str) -> Relation {
    let key = ForeignKey {
        columns: vec![column.to_owned()],
        ref_schema: "public".to_owned(),
        ref_relation: to.to_owned(),
        ref_columns: vec!["id".to_owned()],
    };
    table.foreign_keys.push(key);
    table
}

fn shop() -> CatalogIndex {
    let routine =
        |name: &str, arguments: &str, returns: &str| Routine { name: name.into(), arguments: arguments.into(), returns: returns.into() };
    let orders = refers(table("orders", "id integer,customer_id integer,total numeric,placed_at timestamptz"), "customer_id", "customers");
    let lines = refers(
        refers(table("order_lines", "order_id integer,product_id integer,quantity integer"), "order_id", "orders"),
        "product_id",
        "products",
    );
    let view = Relation { kind: RelationKind::View, ..table("best_customers", "id integer,spent numeric") };
    let schemas = vec![
        Schema {
            name: "public".into(),
            relations: vec![
                table("customers", "id integer,name text,email text,userId text"),
                orders,
                lines,
                table("products", "id integer,title text,price numeric"),
                table("order", "sku integer"),
                table("Mixed Case", "a,b"),
                view,
            ],
            routines: vec![routine("order_total", "id integer", "numeric"), routine("monthly", "d date", "numeric")],
            ..Schema::default()
        },
        Schema { name: "s2".into(), relations: vec![table("T", "ColA int,plain int"), table("hidden", "x,y")], ..Schema::default() },
        Schema { name: "order".into(), relations: vec![table("items", "sku int,price int")], ..Schema::default() },
        Schema {
            name: "pg_catalog".into(),
            system: true,
            relations: vec![table("pg_class", "oid oid,relname name")],
            routines: vec![routine("lower", "text", "text"), routine("count", "any", "bigint")],
            ..Schema::default()
        },
    ];
    CatalogIndex::build(&Catalog { database: "shop".into(), search_path: vec!["public".into(), "pg_catalog".into()], schemas })
}

fn cut(text: &str) -> (String, usize) {
    let cursor = text.find('|').expect("a cursor");
    (text.replacen('|', "", 1), cursor)
}

fn found(text: &str, kind: EngineKind) -> Suggestions {
    let (text, cursor) = cut(text);
    suggest(&shop(), &text, cursor, kind)
}

fn items(text: &str) -> Vec<Suggestion> {
    found(text, Postgres).items
}

fn labels(text: &str) -> Vec<String> {
    items(text).into_iter().map(|item| item.label).collect()
}

fn first(text: &str) -> String {
    labels(text).into_iter().next().unwrap_or_default()
}

fn has(text: &str, label: &str) -> bool {
    labels(text).iter().any(|known| known == label)
}

#[track_caller]
fn insert(text: &str, label: &str, kind: EngineKind) -> String {
    found(text, kind).items.into_iter().find(|item| item.label == label).unwrap_or_else(|| panic!("no {label}")).insert
}

#[test]
fn tables_come_first_after_from_and_join() {
    for text in [
        "SELECT * FROM |",
        "SELECT * FROM orders o JOIN |",
        "INSERT INTO |",
        "UPDATE |",
        "DELETE FROM |",
        "DROP TABLE |",
        "SELECT * FROM orders, |",
    ] {
        let kinds: Vec<_> = items(text).into_iter().take(3).map(|item| item.kind).collect();
        assert!(kinds.iter().all(|kind| matches!(kind, SuggestionKind::Table | SuggestionKind::View)), "{text}: {kinds:?}");
    }
    assert_eq!(first("SELECT * FROM cus|"), "customers");
    assert_eq!(first("SELECT * FROM ordl|"), "order_lines");
}

#[test]
fn columns_in_scope_come_first_after_select_and_where() {
    assert_eq!(labels("SELECT | FROM orders")[..4], ["id", "customer_id", "total", "placed_at"]);
    assert_eq!(first("SELECT * FROM orders WHERE cust|"), "customer_id");
    assert_eq!(first("SELECT * FROM orders WHERE total > 1 AND pl|"), "placed_at");
    assert_eq!(first("SELECT count(*) FROM orders GROUP BY cu|"), "customer_id");
    assert_eq!(first("SELECT * FROM orders ORDER BY pla|"), "placed_at");
    assert!(!has("SELECT | FROM orders", "email"));
}

#[test]
fn a03_a_camel_case_column_is_found_and_quoted() {
    let text = r#"SELECT o.us| FROM (SELECT 1 AS "userId") o;"#;
    assert_eq!(insert(text, "userId", Postgres), "\"userId\"");
    assert_eq!(insert("SELECT us| FROM customers", "userId", Postgres), "\"userId\"");
    assert_eq!(insert("SELECT us| FROM customers", "userId", Sqlite), "userId");
}

#[test]
fn a04_names_of_another_schema_keep_their_case() {
    assert_eq!(insert(r#"SELECT "T".Co| FROM s2."T";"#, "ColA", Postgres), "\"ColA\"");
    assert_eq!(insert("SELECT * FROM s2.|", "T", Postgres), "\"T\"");
    assert_eq!(insert("SELECT * FROM T|", "T", Postgres), "s2.\"T\"");
}

#[test]
fn a06_queries_by_name_have_columns_inside_and_outside() {
    assert_eq!(labels("WITH a AS (SELECT id, total FROM orders) SELECT a.| FROM a;"), ["id", "total"]);
    assert_eq!(first("WITH a AS (SELECT cust| FROM orders) SELECT * FROM a"), "customer_id");
    assert_eq!(labels("WITH a(x, y) AS (SELECT id, total FROM orders) SELECT a.| FROM a"), ["x", "y"]);
    assert_eq!(labels("WITH a AS (SELECT * FROM products) SELECT a.| FROM a"), ["id", "title", "price"]);
    assert_eq!(labels("WITH a AS (SELECT id AS n FROM orders), b AS (SELECT * FROM a) SELECT b.| FROM b"), ["n"]);
    assert_eq!(first("WITH recent AS (SELECT 1) SELECT * FROM re|"), "recent");
    assert_eq!(labels("WITH RECURSIVE r AS (SELECT id FROM orders UNION ALL SELECT r.| FROM r) SELECT 1"), ["id"]);
}

#[test]
fn a07_a_schema_or_table_named_like_a_keyword_is_no_hindrance() {
    let shop = shop();
    let (text, cursor) = cut("SELECT i.| FROM `order`.items i;");
    assert_eq!(suggest(&shop, &text, cursor, Sqlite).items[0].label, "sku");
    assert_eq!(labels(r#"SELECT i.| FROM "order".items i"#)[0], "sku");
    assert_eq!(insert("SELECT * FROM ord|", "order", Postgres), "\"order\"");
    assert_eq!(insert("SELECT * FROM items|", "items", Postgres), "\"order\".items");
}

#[test]
fn a09_the_middle_of_a_statement_knows_what_follows() {
    assert_eq!(first("SELECT | FROM orders WHERE id = 1;"), "id");
    assert_eq!(labels("SELECT o.| FROM orders o JOIN customers c ON c.id = o.customer_id").len(), 4);
}

#[test]
fn columns_of_another_statement_never_leak_in() {
    assert!(!has("SELECT * FROM customers; SELECT | FROM orders; SELECT * FROM products", "email"));
    assert!(!has("SELECT * FROM customers; SELECT | FROM orders; SELECT * FROM products", "title"));
    // Not even without a semicolon between them.
    assert!(!has("SELECT * FROM customers WHERE |\nSELECT title FROM products", "title"));
    assert!(!has("SELECT * FROM customers WHERE id = 1\nSELECT | FROM products", "email"));
}

#[test]
fn a_subquery_sees_its_parents_and_no_neighbour() {
    let text = "SELECT * FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE | ) AND id IN (SELECT product_id FROM order_lines)";
    assert_eq!(labels(text)[..3], ["id", "customer_id", "total"]);
    assert!(has(text, "email") && !has(text, "quantity"));
    let outside = "SELECT | FROM customers c WHERE EXISTS (SELECT 1 FROM orders o)";
    assert!(has(outside, "email") && !has(outside, "customer_id"));
    assert_eq!(labels("SELECT t.| FROM (SELECT id, total AS sum FROM orders) t"), ["id", "sum"]);
    assert!(!has("SELECT title FROM products UNION SELECT | FROM orders", "title"));
}

#[test]
fn a_name_in_two_tables_is_written_with_its_table() {
    assert_eq!(insert("SELECT i| FROM orders o JOIN customers c ON true", "id", Postgres), "o.id");
    assert_eq!(insert("SELECT tot| FROM orders o JOIN customers c ON true", "total", Postgres), "total");
}

#[test]
fn join_conditions_come_from_foreign_keys() {
    assert_eq!(first("SELECT * FROM orders o JOIN customers c ON |"), "o.customer_id = c.id");
    assert_eq!(first("SELECT * FROM customers JOIN orders ON |"), "orders.customer_id = customers.id");
    assert_eq!(first("SELECT * FROM orders o JOIN order_lines l ON o.id = l.order_id JOIN products p ON |"), "l.product_id = p.id");
    assert_eq!(labels("SELECT * FROM orders o JOIN |")[0], "customers");
}

#[test]
fn nothing_is_offered_inside_texts_comments_and_numbers() {
    for text in [
        "SELECT 'a|b'",
        "SELECT 'ab|",
        "SELECT 1 -- fr|om",
        "SELECT /* a| */ 1",
        "SELECT 12|",
        "SELECT $$ a| $$",
        "SELECT $1|",
        "SELECT E'\\'|'",
    ] {
        assert!(items(text).is_empty(), "{text}");
    }
    assert!(found("SELECT :na|", Sqlite).items.is_empty(), "a name of the person's own");
    assert!(has("SELECT a[1:us|] FROM customers", "userId"), "the bound of a slice may be a column");
}

#[test]
fn keywords_are_those_the_grammar_takes() {
    assert_eq!(first("|"), "SELECT");
    assert_eq!(first("sel|"), "select");
    assert_eq!(first("SEL|"), "SELECT");
    assert!(has("SELECT * FROM orders |", "WHERE") && has("SELECT * FROM orders |", "LEFT JOIN"));
    assert!(!has("SELECT * FROM orders |", "orders"));
    assert_eq!(first("SELECT id |"), "FROM");
    assert_eq!(first("SELECT * f|"), "from".to_uppercase());
    assert_eq!(first("select * f|"), "from");
    assert_eq!(first("SELECT * FROM orders WHERE id |"), "AND");
    assert!(has("SELECT * FROM orders ORDER BY id d|", "DESC"));
    assert_eq!(first("UPDATE orders |"), "SET");
    assert_eq!(first("INSERT INTO orders (id) v|"), "VALUES");
    assert!(items("SELECT id AS |").is_empty());
    assert!(has("SELECT id::|", "integer"));
    assert_eq!(first("select 1; upd|"), "update".to_uppercase().to_lowercase());
}

#[test]
fn each_dialect_is_offered_its_own_words_only() {
    let offered = |text: &str, word: &str| {
        [Sqlite, Postgres].map(|kind| found(text, kind).items.iter().any(|item| item.label.eq_ignore_ascii_case(word)))
    };
    for (text, word, expected) in [
        ("SELECT * FROM orders ORDER BY id |", "FETCH FIRST", [false, true]),
        ("SELECT * FROM |", "LATERAL", [false, true]),
        ("SELECT * FROM orders |", "CROSS JOIN LATERAL", [false, true]),
        ("SELECT * FROM orders WHERE id |", "ILIKE", [false, true]),
        ("SELECT * FROM orders WHERE id |", "GLOB", [true, false]),
        ("CREATE TABLE t (a integer) |", "WITHOUT ROWID", [true, false]),
        ("SELECT * FROM orders |", "LEFT JOIN", [true, true]),
        ("SELECT * FROM orders |", "LIMIT", [true, true]),
    ] {
        assert_eq!(offered(text, word), expected, "{word} in {text}");
    }
}

#[test]
fn a_persons_names_come_before_the_systems() {
    let system = |name: &str| table(name, "oid oid");
    let many = (0..400).map(|n| system(&format!("pg_stat_{n}"))).chain([system("user_types"), system("orders_of_mine")]).collect();
    let own = vec![table("ship_p", "id integer"), table("users", "id integer"), table("page_views", "id integer")];
    let schemas = vec![
        Schema { name: "public".into(), relations: own, ..Schema::default() },
        Schema { name: "pg_catalog".into(), system: true, relations: many, ..Schema::default() },
    ];
    let index = CatalogIndex::build(&Catalog { database: "d".into(), search_path: vec!["pg_catalog".into(), "public".into()], schemas });
    let labels = |text: &str| suggest(&index, text, text.len(), Postgres).items.into_iter().map(|item| item.label).collect::<Vec<_>>();
    assert_eq!(labels("SELECT * FROM p")[..2], ["page_views", "ship_p"]);
    assert_eq!(labels("SELECT * FROM user")[..2], ["users", "user_types"]);
    assert_eq!(labels("SELECT * FROM ")[..3].iter().filter(|name| name.starts_with("pg_")).count(), 0);
    // Who begins such a name means it.
    assert!(labels("SELECT * FROM pg_").first().is_some_and(|name| name.starts_with("pg_stat")));
}

#[test]
fn columns_are_offered_before_their_table_is_named_while_they_are_few() {
    assert!(has("SELECT pla|", "placed_at") && has("SELECT |", "placed_at") && has("SELECT id, ti|", "title"));
    let detail = |text: &str, label: &str| items(text).into_iter().find(|item| item.label == label).map(|item| item.detail);
    assert_eq!(detail("SELECT pla|", "placed_at").as_deref(), Some("timestamptz · orders"));
    assert_eq!(detail("SELECT id|", "id").as_deref(), Some("customers, orders and 2 more"));
    assert!(!has("SELECT reln|", "relname") && !has("SELECT * FROM orders WHERE em|", "email") && !has("UPDATE |", "email"));
    // A word of the language that is written as well comes first.
    assert_eq!(first("SELECT cas|"), "CASE");
    let many = suggest(&large(20_000, 10, 3), "SELECT column_1", 15, Postgres);
    assert!(many.items.iter().all(|item| item.kind != SuggestionKind::Column));
}

#[test]
fn writing_statements_know_their_target() {
    assert_eq!(labels("INSERT INTO orders (|")[..2], ["id", "customer_id"]);
    assert_eq!(labels("UPDATE orders SET |")[..2], ["id", "customer_id"]);
    assert_eq!(labels("UPDATE orders SET total = 1, |")[..2], ["id", "customer_id"]);
    assert!(has("UPDATE orders SET total = | WHERE id = 1", "customer_id"));
    assert!(has("DELETE FROM orders WHERE |", "placed_at"));
    assert!(has("INSERT INTO orders (id) VALUES (1) RETURNING |", "total"));
    assert!(has("INSERT INTO orders (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET total = excluded.|", "total"));
    assert!(!has("INSERT INTO orders SELECT | FROM products", "total"));
    assert!(has("CREATE TABLE x (a int REFERENCES orders (|", "id"));
    assert_eq!(labels("SELECT * FROM orders JOIN order_lines USING (|"), Vec::<String>::new());
}

#[test]
fn routines_are_offered_where_values_are() {
    assert!(has("SELECT mon|", "monthly") && has("SELECT low|", "lower"));
    assert_eq!(items("SELECT low|")[0].detail, "(text) → text");
    assert!(!has("SELECT * FROM orders mon|", "monthly"));
}

#[test]
fn the_begun_word_is_replaced_as_a_whole() {
    let (text, cursor) = cut("SELECT cust|omer FROM orders");
    let found = suggest(&shop(), &text, cursor, Postgres);
    assert_eq!(&text[found.from..found.to], "customer");
    let (text, cursor) = cut("SELECT \"us| FROM customers");
    let found = suggest(&shop(), &text, cursor, Postgres);
    assert_eq!(&text[found.from..found.to], "\"us");
    assert_eq!(found.items[0].insert, "\"userId\"");
    let (text, cursor) = cut("SELECT 1; SELECT cust| FROM orders; SELECT 2");
    let found = suggest(&shop(), &text, cursor, Postgres);
    assert_eq!(&text[found.from..found.to], "cust");
}

#[test]
fn matched_letters_are_told_and_better_matches_come_first() {
    let found = items("SELECT * FROM ol|");
    assert_eq!((found[0].label.as_str(), found[0].matched.as_slice()), ("order_lines", &[0, 6][..]));
    assert_eq!(items("SELECT * FROM cus|")[0].matched, [0, 1, 2]);
}

#[test]
fn typing_opens_no_list_unless_a_word_was_begun() {
    let shop = shop();
    let list = |text: &str| {
        let (text, cursor) = cut(text);
        suggest_in(&shop, &text, cursor, Postgres, Asked::ByTyping).items.len()
    };
    assert_eq!(list("SELECT |"), 0);
    assert_eq!(list("SELECT * FROM orders WHERE |"), 0);
    assert!(list("SELECT o.| FROM orders o") == 4 && list("SELECT * FROM o|") > 0);
    assert_eq!(list("SELECT * FROM customers|"), 0);
}

#[test]
fn no_text_and_no_cursor_makes_it_fail() {
    let shop = shop();
    let whole = r#"WITH a(x) AS (SELECT "id", t.* FROM orders AS t(p, q)) INSERT INTO s2."T" (plain) SELECT é.x, '😀' FROM a é LEFT JOIN [b] USING (id) WHERE x IN (1, $1) ON CONFLICT (id) DO UPDATE SET plain = excluded.plain RETURNING *; ) ) ( SELECT"#;
    for kind in [Sqlite, Postgres] {
        for end in (0..=whole.len()).filter(|&end| whole.is_char_boundary(end)) {
            for cursor in (0..end).step_by(11).chain([end]) {
                let found = suggest(&shop, &whole[..end], cursor, kind);
                assert!(found.from <= found.to && found.to <= end && found.items.len() <= 100);
            }
        }
    }
}

#[test]
fn a_list_in_a_browser_s_units_marks_the_same_letters() {
    let catalog = Catalog {
        search_path: vec!["main".into()],
        schemas: vec![Schema { name: "main".into(), relations: vec![table("😀_ключ", "a")], ..Schema::default() }],
        ..Catalog::default()
    };
    let found = suggest(&CatalogIndex::build(&catalog), "SELECT * FROM клю", 20, Sqlite);
    assert_eq!(found.items[0].matched, [2, 3, 4]);
    let placed = serde_json::to_value(found.at(14, 17)).unwrap();
    assert_eq!(placed["items"][0]["matched"], serde_json::json!([3, 4, 5]));
}

fn large(tables: usize, routines: usize, columns: usize) -> CatalogIndex {
    const WORDS: [&str; 12] =
        ["customer", "order", "line", "daily", "archive", "invoice", "payment", "stock", "price", "user", "event", "log"];
    let name = |n: usize| format!("{}_{}_{n}", WORDS[n % 12], WORDS[n / 12 % 12]);
    let columns: Vec<String> = (0..columns).map(|n| format!("column_{n} int")).collect();
    let relations = (0..tables).map(|n| table(&name(n), &columns.join(","))).collect();
    let routine = |n: usize| Routine { name: format!("fn_{}", name(n)), arguments: "a integer".into(), returns: "integer".into() };
    let schemas = vec![Schema { name: "public".into(), relations, routines: (0..routines).map(routine).collect(), ..Schema::default() }];
    CatalogIndex::build(&Catalog { database: "large".into(), search_path: vec!["public".into()], schemas })
}

#[test]
fn a10_the_work_for_one_key_is_bounded_at_any_size() {
    let index = large(20_000, 1_000, 3);
    for text in ["SELECT * FROM c", "SELECT * FROM custord", "SELECT o FROM customer_order_12", "SELECT * FROM "] {
        let found = suggest(&index, text, text.len().min(15 + 6), Postgres);
        assert!(found.items.len() <= 100);
        assert!(found.effort.scanned <= index.len(), "{text}: {:?}", found.effort);
        assert!(found.effort.ranked <= 256, "{text}: {:?}", found.effort);
    }
    // Enough names that start with the letter, or any names at all with nothing typed: the others are not looked at.
    for text in ["SELECT * FROM c", "SELECT * FROM "] {
        let found = suggest(&index, text, text.len(), Postgres);
        assert!(found.effort.scanned * 4 < index.len(), "{text}: {:?}", found.effort);
    }
    // The letters' masks leave out most names before any is compared.
    let found = suggest(&index, "SELECT * FROM invpay", 20, Postgres);
    assert!(found.effort.scored * 5 < found.effort.scanned, "{:?}", found.effort);
}

#[test]
fn any_list_is_searched_by_the_same_match() {
    let best = |typed: &str, names: &[&str]| {
        pick(typed, names.iter().copied(), 10).first().and_then(|(at, _)| names.get(*at)).map(|name| (*name).to_owned())
    };
    assert_eq!(best("oi", &["coins", "order_items", "voices"]).as_deref(), Some("order_items"));
    assert_eq!(best("orders", &["order_items_s", "orders", "preorders"]).as_deref(), Some("orders"));
    assert_eq!(best("new con", &["Next console", "New console"]).as_deref(), Some("New console"));
    assert_eq!(best("orders shop", &["orders", "shop_orders_shop"]).as_deref(), Some("shop_orders_shop"));
    assert_eq!(best("xyz", &["orders"]), None);
    assert_eq!(pick("ro", ["run", "role"].into_iter(), 10), [(1, vec![0, 1])]);
    assert_eq!(pick(" ", ["b", "a", "c"].into_iter(), 2), [(0, vec![]), (1, vec![])]);
}

#[test]
fn search_finds_by_initials_and_ranks_the_near_first() {
    let index = shop();
    assert_eq!(index.search("ol", 10)[0].name, "order_lines");
    assert_eq!(index.search("class", 10)[0].schema, "pg_catalog");
    assert_eq!(index.search("order", 10)[0].name, "order");
    assert!(index.search("", 3).len() == 3 && index.search("zzz", 3).is_empty());
}

#[test]
fn what_may_not_be_used_is_not_offered_but_for_its_name_and_that_last() {
    let schema = |name: &str, denied, relations| Schema { name: name.into(), denied, relations, ..Schema::default() };
    let schemas = vec![
        schema("aa_closed", true, vec![table("accounts", "secret int"), table("customers", "id int,pin int")]),
        schema("public", false, vec![table("orders", "id int"), table("visitors", "id int,name text")]),
        schema("zz_crm", false, vec![table("customers", "id int,name text")]),
    ];
    let index = CatalogIndex::build(&Catalog { search_path: vec!["public".into()], schemas, ..Catalog::default() });
    let inserts = |text: &str| -> Vec<String> {
        let (text, cursor) = cut(text);
        suggest(&index, &text, cursor, Postgres).items.into_iter().map(|item| item.insert).collect()
    };
    let tables = inserts("SELECT * FROM |");
    let place = |name: &str| tables.iter().position(|insert| insert == name).unwrap_or_else(|| panic!("no {name} in {tables:?}"));
    for open in ["orders", "visitors", "zz_crm.customers", "public", "zz_crm"] {
        assert!(place("aa_closed") > place(open), "{open}: {tables:?}");
    }
    assert!(!tables.iter().any(|insert| insert.starts_with("aa_closed.")), "{tables:?}");
    assert_eq!(inserts("SELECT * FROM cust|")[0], "zz_crm.customers");
    assert!(inserts("SELECT * FROM aa_closed.|").is_empty() && inserts("SELECT c.| FROM aa_closed.customers c").is_empty());
    assert!(index.search("accounts", 10).is_empty());
    let columns = inserts("SELECT |");
    assert!(columns.contains(&"name".to_owned()) && !columns.contains(&"pin".to_owned()), "{columns:?}");
}
