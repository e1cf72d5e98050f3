//! Names, types and keys, as this user may see them.

use crate::setting::{connect, run, session, target, with_password};
use backend::engine::Session;
use shared::complete::{CatalogIndex, suggest};
use shared::wire::catalog::{Catalog, ForeignKey, RelationKind};
use shared::wire::connection::EngineKind;
use std::time::Duration;
use testing::mariadb::{Mariadb, PASSWORD, mariadb};
use testing::relay::Relay;

#[tokio::test]
async fn the_catalog_has_tables_views_keys_and_routines() {
    let mut session = session().await;
    for sql in [
        "CREATE DATABASE IF NOT EXISTS cat",
        "DROP TABLE IF EXISTS cat.item, cat.orders",
        "CREATE TABLE cat.orders (a INT, b VARCHAR(20) DEFAULT 'it''s', PRIMARY KEY (b, a)) COMMENT 'all of them'",
        "CREATE TABLE cat.item (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, x INT NOT NULL, y VARCHAR(20) NOT NULL COMMENT 'why', \
            UNIQUE KEY both_ (y, x), FOREIGN KEY (y, x) REFERENCES cat.orders (b, a))",
        "CREATE OR REPLACE VIEW cat.seen AS SELECT x FROM cat.item",
        "CREATE OR REPLACE FUNCTION cat.twice(n INT) RETURNS INT DETERMINISTIC RETURN n * 2",
        "CREATE OR REPLACE PROCEDURE cat.proc(IN a INT, OUT b VARCHAR(5)) BEGIN SET b = a; END",
        "CREATE TRIGGER cat.before_item BEFORE INSERT ON cat.item FOR EACH ROW SET NEW.x = NEW.x",
        "CREATE TABLE IF NOT EXISTS cat.`it's ключ ``x``` (`a b` INT)",
    ] {
        run(session.as_mut(), sql).await.unwrap();
    }
    let catalog = session.catalog().await.unwrap();
    assert_eq!((catalog.database.as_str(), catalog.search_path.as_slice()), ("shop", ["shop".to_owned()].as_slice()));
    let schema = |name: &str| catalog.schemas.iter().find(|schema| schema.name == name).unwrap();
    assert!(schema("information_schema").system && !schema("cat").system);
    let cat = schema("cat");
    let relation = |name: &str| cat.relations.iter().find(|relation| relation.name == name).unwrap();
    let orders = relation("orders");
    assert_eq!(orders.comment.as_deref(), Some("all of them"));
    assert_eq!(orders.columns.iter().map(|column| column.primary_key).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(orders.columns[1].default.as_deref(), Some("'it''s'"));
    let item = relation("item");
    assert_eq!((item.columns[0].type_name.as_str(), item.columns[0].default.as_deref()), ("bigint(20) unsigned", Some("AUTO_INCREMENT")));
    assert_eq!((item.columns[2].comment.as_deref(), item.columns[2].not_null), (Some("why"), true));
    let words = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let expected = ForeignKey {
        columns: words(&["y", "x"]),
        ref_schema: "cat".into(),
        ref_relation: "orders".into(),
        ref_columns: words(&["b", "a"]),
    };
    assert_eq!(item.foreign_keys, [expected]);
    let both = item.indexes.iter().find(|index| index.name == "both_").unwrap();
    assert_eq!((both.columns.as_slice(), both.unique), (words(&["y", "x"]).as_slice(), true));
    assert_eq!(item.triggers, ["before_item"]);
    assert_eq!((relation("seen").kind, relation("seen").comment.as_deref()), (RelationKind::View, None));
    assert_eq!(relation("it's ключ `x`").columns[0].name, "a b");
    let routine = |name: &str| cat.routines.iter().find(|routine| routine.name == name).unwrap();
    assert_eq!((routine("twice").arguments.as_str(), routine("twice").returns.as_str()), ("n int(11)", "int(11)"));
    assert_eq!(routine("proc").arguments, "a int(11), OUT b varchar(5)");
    // The system's own by its names, and whole for whoever asks.
    let system = schema("information_schema");
    assert!(system.partial && !system.relations.is_empty() && system.relations.iter().all(|relation| relation.columns.is_empty()));
    assert!(!cat.partial);
    let asked = session.catalog_of(&["information_schema", "cat", "of nobody"]).await.unwrap();
    assert_eq!(asked.schemas.iter().map(|schema| schema.name.as_str()).collect::<Vec<_>>(), ["cat", "information_schema"]);
    assert!(asked.schemas[1].relations.iter().any(|one| one.columns.iter().any(|column| column.name == "TABLE_SCHEMA")));
    assert_eq!(asked.schemas[0], *schema("cat"), "as it came with all the others");
}

/// A server's own databases, so that no other test changes what is counted here.
async fn of_own(relay: &Relay, database: &str) -> Box<dyn Session> {
    let mut target = target(relay.port, "root");
    target.fields.database = Some(database.to_owned());
    connect(&target).await.unwrap()
}

fn changed(news: &Catalog, of: &[&str]) -> Vec<String> {
    news.schemas.iter().filter(|schema| !schema.unchanged && of.contains(&schema.name.as_str())).map(|schema| schema.name.clone()).collect()
}

#[tokio::test]
async fn a_change_is_found_by_its_version_and_only_its_schema_is_read() {
    let both = ["versions_a", "versions_b"];
    let server = mariadb();
    for sql in [
        "DROP DATABASE IF EXISTS versions_a; DROP DATABASE IF EXISTS versions_b; CREATE DATABASE versions_a; CREATE DATABASE versions_b",
        "CREATE TABLE versions_a.t (id INT PRIMARY KEY, name VARCHAR(20))",
        "CREATE TABLE versions_b.u (ab INT, cd INT, note TEXT, KEY k (ab))",
        "CREATE FUNCTION versions_b.f(a INT) RETURNS INT DETERMINISTIC RETURN a",
    ] {
        server.sql(sql);
    }
    let relay = Relay::start(server.port, Duration::ZERO).await;
    let mut session = of_own(&relay, "versions_a").await;
    let mut catalog = session.catalog().await.unwrap();
    relay.passed();
    let same = session.catalog_since(&catalog.known()).await.unwrap();
    let passed = relay.passed();
    assert!(changed(&same, &both).is_empty(), "{same:?}");
    println!("nothing changed: {passed:?}");
    assert_eq!(passed.flights, 1, "{passed:?}");
    // Each changes what the catalog tells of exactly these schemas.
    for (change, schemas) in [
        ("CREATE TABLE versions_b.v (x INT)", &["versions_b"][..]),
        ("RENAME TABLE versions_b.v TO versions_b.w", &["versions_b"]),
        ("DROP TABLE versions_b.w", &["versions_b"]),
        ("ALTER TABLE versions_b.u ADD extra INT", &["versions_b"]),
        ("ALTER TABLE versions_b.u CHANGE extra further INT", &["versions_b"]),
        ("ALTER TABLE versions_b.u MODIFY further INT FIRST", &["versions_b"]),
        ("ALTER TABLE versions_b.u DROP further", &["versions_b"]),
        // The same in two columns at once: neither may hide the other.
        ("ALTER TABLE versions_b.u MODIFY ab BIGINT, MODIFY cd BIGINT", &["versions_b"]),
        ("ALTER TABLE versions_b.u MODIFY note TEXT NOT NULL", &["versions_b"]),
        ("ALTER TABLE versions_b.u ALTER ab SET DEFAULT 7", &["versions_b"]),
        ("ALTER TABLE versions_b.u MODIFY note TEXT COMMENT 'words'", &["versions_b"]),
        ("ALTER TABLE versions_b.u COMMENT 'all of them'", &["versions_b"]),
        ("CREATE UNIQUE INDEX i ON versions_b.u (cd, ab)", &["versions_b"]),
        ("DROP INDEX i ON versions_b.u", &["versions_b"]),
        ("CREATE TRIGGER versions_b.g BEFORE INSERT ON versions_b.u FOR EACH ROW SET NEW.ab = NEW.ab", &["versions_b"]),
        ("DROP TRIGGER versions_b.g", &["versions_b"]),
        ("CREATE OR REPLACE FUNCTION versions_b.f(a BIGINT) RETURNS INT DETERMINISTIC RETURN a", &["versions_b"]),
        ("CREATE OR REPLACE FUNCTION versions_b.f(a BIGINT) RETURNS BIGINT DETERMINISTIC RETURN a", &["versions_b"]),
        ("DROP FUNCTION versions_b.f", &["versions_b"]),
        ("CREATE PROCEDURE versions_b.p(OUT a INT) SET a = 1", &["versions_b"]),
        ("CREATE VIEW versions_b.seen AS SELECT ab FROM versions_b.u", &["versions_b"]),
        ("CREATE OR REPLACE VIEW versions_b.seen AS SELECT ab, cd FROM versions_b.u", &["versions_b"]),
        ("DROP VIEW versions_b.seen", &["versions_b"]),
        ("ALTER TABLE versions_b.u ADD CONSTRAINT r FOREIGN KEY (cd) REFERENCES versions_b.u (ab)", &["versions_b"]),
        ("ALTER TABLE versions_a.t RENAME COLUMN name TO called", &["versions_a"]),
        ("INSERT INTO versions_a.t VALUES (1, 'x')", &[]),
    ] {
        server.sql(change);
        let mut news = session.catalog_since(&catalog.known()).await.unwrap();
        assert_eq!(changed(&news, &both), schemas, "{change}");
        if !news.take_over(catalog) {
            news = session.catalog().await.unwrap();
        }
        let whole = session.catalog_of(&both).await.unwrap();
        for name in both {
            assert_eq!(news.schema(name), whole.schema(name), "{change}");
        }
        catalog = news;
    }
    session.close().await;
}

#[tokio::test]
async fn a_large_database_is_told_by_its_names_and_a_schema_of_it_whole_when_it_is_asked_for() {
    let server = Mariadb::start();
    let many: String = (0..1_001)
        .map(|n| format!("CREATE TABLE many.t{n} (id INT PRIMARY KEY, a TEXT, b DECIMAL(9,2), KEY (b)) ENGINE=MyISAM;"))
        .collect();
    server.sql(&format!("CREATE DATABASE many; CREATE DATABASE few; CREATE TABLE few.one (id INT PRIMARY KEY, note TEXT); {many}"));
    let relay = Relay::start(server.port, Duration::ZERO).await;
    let mut target = target(relay.port, "root");
    target.fields.database = None;
    let mut session = connect(&target).await.unwrap();
    relay.passed();
    let mut catalog = session.catalog().await.unwrap();
    let passed = relay.passed();
    println!("names: {passed:?}");
    assert!(passed.flights == 1 && passed.to_client < 60_000, "{passed:?}");
    assert!(catalog.schemas.iter().all(|schema| schema.partial && schema.relations.iter().all(|relation| relation.columns.is_empty())));
    assert_eq!(catalog.schema("many").unwrap().relations.len(), 1_001);
    let few = session.catalog_of(&["few"]).await.unwrap();
    let passed = relay.passed();
    println!("one schema: {passed:?}");
    assert!(passed.flights == 2 && passed.to_client < 8_000, "{passed:?}");
    catalog.put_in(&["few".to_owned()], few);
    assert_eq!(catalog.schema("few").unwrap().relations[0].columns[1].name, "note");
    let same = session.catalog_since(&catalog.known()).await.unwrap();
    let passed = relay.passed();
    println!("nothing changed: {passed:?}");
    assert!(same.is_unchanged(&catalog), "{same:?}");
    assert!(passed.flights == 2 && passed.to_client < 6_000, "{passed:?}");
    server.sql("ALTER TABLE few.one ADD more INT; DROP TABLE many.t7");
    let mut news = session.catalog_since(&catalog.known()).await.unwrap();
    let told: Vec<_> = news.schemas.iter().filter(|one| !one.unchanged).map(|one| (one.name.as_str(), one.partial)).collect();
    assert_eq!(told, [("few", false), ("many", true)]);
    assert!(news.take_over(catalog));
    assert_eq!((news.schema("few").unwrap().relations[0].columns.len(), news.schema("many").unwrap().relations.len()), (3, 1_000));
    session.close().await;
    server.stop();
}

#[tokio::test]
async fn names_of_every_kind_are_listed_and_can_be_read() {
    let long = "ä".repeat(60) + "last";
    let names = [
        "quo\"te",
        "apo'strophe",
        "back`tick",
        "back\\slash",
        "with space",
        "Ünïcode 列",
        "select",
        long.as_str(),
        "semi;colon",
        "per.iod",
        "100%",
    ];
    assert_eq!(long.chars().count(), 64);
    let quoted = |name: &str| format!("`{}`", name.replace('`', "``"));
    let mut session = session().await;
    for name in names {
        let name = quoted(name);
        for sql in [
            format!("DROP DATABASE IF EXISTS {name}"),
            format!("CREATE DATABASE {name}"),
            format!("CREATE TABLE {name}.{name} ({name} INT NOT NULL, other INT, KEY {name} ({name}))"),
            format!("INSERT INTO {name}.{name} VALUES (5, 6)"),
            format!("CREATE FUNCTION {name}.{name}({name} INT) RETURNS INT DETERMINISTIC RETURN 1"),
            format!("CREATE TRIGGER {name}.{name} BEFORE INSERT ON {name}.{name} FOR EACH ROW SET NEW.other = 1"),
        ] {
            run(session.as_mut(), &sql).await.unwrap();
        }
    }
    let catalog = session.catalog_of(&names).await.unwrap();
    let index = CatalogIndex::build(&catalog);
    for name in names {
        let schema = catalog.schema(name).unwrap_or_else(|| panic!("{name}"));
        let [relation] = schema.relations.as_slice() else { panic!("{schema:?}") };
        assert_eq!((relation.name.as_str(), relation.columns[0].name.as_str()), (name, name));
        assert_eq!((relation.indexes[0].name.as_str(), relation.indexes[0].columns.as_slice()), (name, &[name.to_owned()][..]));
        assert_eq!((relation.triggers.as_slice(), schema.routines[0].name.as_str()), (&[name.to_owned()][..], name));
        assert_eq!(schema.routines[0].arguments, format!("{name} int(11)"));
        // What completion writes is read by the server.
        let suggested = |text: &str| {
            let all = suggest(&index, text, text.len(), EngineKind::Mysql).items;
            all.into_iter().find(|item| item.label == name).unwrap_or_else(|| panic!("{name} after {text}")).insert
        };
        let schema = suggested("SELECT * FROM ");
        let column = suggested(&format!("SELECT 1 FROM {schema}.{table} WHERE ", schema = quoted(name), table = quoted(name)));
        let table = suggested(&format!("SELECT * FROM {}.", quoted(name)));
        let (batch, _) = run(session.as_mut(), &format!("SELECT {column} FROM {}.{table}", quoted(name))).await.unwrap();
        assert_eq!(batch.unwrap().schema_ref().field(0).name(), name);
        assert!(schema.contains(&quoted(name)) || schema == name, "{schema}");
        run(session.as_mut(), &format!("DROP DATABASE {}", quoted(name))).await.unwrap();
    }
    session.close().await;
}

#[tokio::test]
async fn who_may_read_one_schema_sees_that_one() {
    let mut session = connect(&with_password(target(mariadb().port, "reader"), PASSWORD)).await.unwrap();
    let catalog = session.catalog().await.unwrap();
    let names: Vec<&str> = catalog.schemas.iter().filter(|schema| !schema.system).map(|schema| schema.name.as_str()).collect();
    assert_eq!(names, ["shop"]);
}
