//! Names, types and keys, as this user may see them.

use crate::setting::{connect, run, session, target, with_password};
use shared::wire::catalog::{ForeignKey, RelationKind};
use testing::mariadb::{PASSWORD, mariadb};

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
}

#[tokio::test]
async fn who_may_read_one_schema_sees_that_one() {
    let mut session = connect(&with_password(target(mariadb().port, "reader"), PASSWORD)).await.unwrap();
    let catalog = session.catalog().await.unwrap();
    let names: Vec<&str> = catalog.schemas.iter().filter(|schema| !schema.system).map(|schema| schema.name.as_str()).collect();
    assert_eq!(names, ["shop"]);
}
