//! MariaDB: the user has every right that a read-only connection takes, over all databases, and may pass them on.

#[path = "mariadb/attempts.rs"]
mod attempts;

use crate::siege::{Digest, Siege, compare, files};
use attempts::ATTEMPTS;
use shared::wire::connection::{ConnectionFields, EngineKind};
use testing::keeper;
use testing::mariadb::{Mariadb, PASSWORD, mariadb};

/// `act` writes; everything named `acting…` calls it in a way of its own.
const SET_UP: &str = "
CREATE USER attacker IDENTIFIED BY 'pä55 word';
CREATE USER bystander IDENTIFIED BY 'pä55 word';
CREATE ROLE helper, helper_too;
GRANT helper TO attacker WITH ADMIN OPTION;
GRANT helper_too TO attacker WITH ADMIN OPTION;
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, RELOAD, REFERENCES, INDEX, ALTER, CREATE TEMPORARY TABLES, LOCK TABLES, EXECUTE,
    CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EVENT, TRIGGER, CREATE USER, REPLICATION CLIENT, SHOW DATABASES
    ON *.* TO attacker WITH GRANT OPTION;
GRANT INSERT ON shop.* TO helper;
CREATE DATABASE other;
USE shop;
CREATE TABLE guarded (n INT PRIMARY KEY AUTO_INCREMENT, t VARCHAR(20) DEFAULT 'kept_row', d DATE);
INSERT INTO guarded (n) VALUES (1), (2), (3);
CREATE INDEX guarded_t ON guarded (t);
CREATE TABLE child (n INT, FOREIGN KEY (n) REFERENCES guarded (n));
INSERT INTO child VALUES (1);
CREATE TABLE plain (n INT, t TEXT) ENGINE = MyISAM;
INSERT INTO plain VALUES (1, 'kept_row');
CREATE TABLE firm (n INT) ENGINE = Aria;
INSERT INTO firm VALUES (1);
CREATE TABLE listed (n INT NOT NULL, t VARCHAR(9) NOT NULL) ENGINE = CSV;
INSERT INTO listed VALUES (1, 'kept');
CREATE TABLE quick (n INT) ENGINE = MEMORY;
INSERT INTO quick VALUES (1);
CREATE TABLE parted (n INT) PARTITION BY RANGE (n) (PARTITION low VALUES LESS THAN (10), PARTITION high VALUES LESS THAN (20));
INSERT INTO parted VALUES (1), (11);
CREATE TABLE versioned (n INT) WITH SYSTEM VERSIONING;
INSERT INTO versioned VALUES (1); UPDATE versioned SET n = 2;
CREATE SEQUENCE counter;
SELECT NEXTVAL(counter);
CREATE VIEW seen AS SELECT n, t FROM guarded;
DELIMITER //
CREATE FUNCTION act(n INT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO guarded (n) VALUES (n + 1000); RETURN n; END //
CREATE FUNCTION act_plainly(n INT) RETURNS INT READS SQL DATA BEGIN INSERT INTO plain (n) VALUES (n + 1000); RETURN n; END //
CREATE FUNCTION act_after_setting(n INT) RETURNS INT
    BEGIN SET SESSION tx_read_only = 0; INSERT INTO guarded (n) VALUES (n + 2000); RETURN n; END //
CREATE FUNCTION count_on() RETURNS INT RETURN NEXTVAL(counter) //
CREATE FUNCTION act_temporarily(n INT) RETURNS INT
    BEGIN CREATE TEMPORARY TABLE IF NOT EXISTS made_inside (n INT); INSERT INTO guarded (n) VALUES (n + 3000); RETURN n; END //
CREATE PROCEDURE loosen() BEGIN COMMIT; SET SESSION TRANSACTION READ WRITE; INSERT INTO guarded (n) VALUES (4000); COMMIT; END //
CREATE TRIGGER noted AFTER INSERT ON plain FOR EACH ROW SET @noted = act(50) //
CREATE EVENT daily ON SCHEDULE EVERY 1 DAY DISABLE DO INSERT INTO guarded (n) VALUES (5000) //
CREATE VIEW acting AS SELECT act(n) AS n FROM guarded //
DELIMITER ;
";

/// Every table of the server, but those that it keeps up by itself: estimates of InnoDB's, and views of its own state.
const TABLES: &str = "SELECT CONCAT('`', table_schema, '`.`', table_name, '`'), table_type FROM information_schema.tables
    WHERE table_type IN ('BASE TABLE', 'SEQUENCE', 'SYSTEM VERSIONED')
    AND table_schema NOT IN ('information_schema', 'performance_schema', 'sys') AND table_name NOT LIKE 'innodb\\_%\\_stats' ORDER BY 1";

/// What a question has per row, each row on a line.
const KEPT: &[(&str, &str)] = &[
    ("databases", "SELECT schema_name, default_character_set_name, default_collation_name FROM information_schema.schemata ORDER BY 1"),
    (
        "definitions",
        "SELECT table_schema, table_name, table_type, engine, auto_increment, table_collation, create_options, table_comment
            FROM information_schema.tables WHERE table_schema NOT IN ('information_schema', 'performance_schema', 'sys') ORDER BY 1, 2",
    ),
    (
        "columns",
        "SELECT table_name, column_name, column_type, column_default FROM information_schema.columns WHERE table_schema IN ('shop', 'other') ORDER BY 1, 2",
    ),
    (
        "indexes",
        "SELECT table_name, index_name, column_name FROM information_schema.statistics WHERE table_schema = 'shop' ORDER BY 1, 2, 3",
    ),
    ("partitions", "SELECT table_name, partition_name FROM information_schema.partitions WHERE table_schema = 'shop' ORDER BY 1, 2"),
    ("views", "SELECT table_name, view_definition FROM information_schema.views WHERE table_schema = 'shop' ORDER BY 1"),
    ("triggers", "SELECT trigger_name, action_statement FROM information_schema.triggers ORDER BY 1"),
    ("plugins", "SELECT plugin_name, plugin_status FROM information_schema.plugins ORDER BY 1"),
    (
        "settings",
        "SELECT variable_name, variable_value FROM information_schema.global_variables
            WHERE variable_name NOT LIKE 'GTID%' AND variable_name <> 'TIMESTAMP' ORDER BY 1",
    ),
    ("accounts", "SELECT User, Host, Priv FROM mysql.global_priv ORDER BY 1, 2"),
    ("roles", "SELECT * FROM mysql.roles_mapping ORDER BY 1, 2, 3"),
    ("events", "SELECT event_name, status, event_definition FROM information_schema.events"),
    ("transactions left behind", "XA RECOVER"),
    ("logs", "SHOW STATUS LIKE 'Slow_queries_%'"),
];

fn digest(server: &Mariadb, outside: &std::path::Path) -> Digest {
    let mut digest: Digest = KEPT.iter().map(|(name, sql)| ((*name).to_owned(), server.sql(sql))).collect();
    let tables = server.sql(TABLES);
    for line in tables.lines() {
        let (table, kind) = line.split_once('\t').unwrap();
        let sql = if kind == "SEQUENCE" { format!("SELECT * FROM {table}") } else { format!("CHECKSUM TABLE {table} EXTENDED") };
        digest.insert(table.to_owned(), server.sql(&sql));
    }
    digest.insert("files outside".to_owned(), files(outside));
    digest
}

#[tokio::test]
async fn nothing_that_a_read_only_connection_sends_changes_anything() {
    let server = mariadb();
    server.sql(SET_UP);
    let outside = keeper::folder("sheaf-outside-");
    let fields = ConnectionFields {
        host: Some("127.0.0.1".to_owned()),
        port: Some(server.port),
        database: Some("shop".to_owned()),
        user: Some("attacker".to_owned()),
        ..ConnectionFields::new("test", EngineKind::Mysql)
    };
    let before = digest(server, &outside);
    assert!(before["`shop`.`guarded`"].len() > 5 && before["accounts"].contains("attacker"));
    let siege = Siege {
        fields,
        password: Some(PASSWORD),
        write: "INSERT INTO shop.guarded (n) VALUES (666)",
        refusals: &["1792"],
        folder: &outside,
    };
    siege.lay(ATTEMPTS).await;
    let after = digest(server, &outside);
    std::fs::remove_dir_all(&outside).unwrap();
    compare(&before, &after);
}
