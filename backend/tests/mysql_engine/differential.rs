//! The same statements through the server's own client and through Sheaf: every cell and every count of rows compared.

use crate::setting::{PAGE, connect, target};
use arrow_array::{Array, RecordBatch};
use backend::engine::{EngineError, Finished, Session, Started};
use testing::mariadb::mariadb;

/// What is made before, in a database of each side's own.
const MADE: &str = "CREATE TABLE t (n INT PRIMARY KEY, v VARCHAR(40), p DECIMAL(10,2)) ENGINE=InnoDB;
INSERT INTO t VALUES (1, 'one', 1.50), (2, NULL, NULL), (3, '', -0.01), (4, 'vier; ä', 4), (5, 'NULL', 5);
CREATE TABLE made (id INT AUTO_INCREMENT PRIMARY KEY, v TEXT);
CREATE TABLE other (n INT);
DELIMITER //
CREATE PROCEDURE one(IN a INT) BEGIN SELECT n, v FROM t WHERE n <= a ORDER BY n; END//
CREATE PROCEDURE none(IN a INT) BEGIN UPDATE t SET v = v WHERE n = a; END//
CREATE PROCEDURE several() BEGIN SELECT n, v FROM t ORDER BY n; SELECT n AS empty FROM t WHERE n > 99;
  INSERT INTO other VALUES (71), (72), (73); WITH RECURSIVE c AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM c WHERE i < 5000) SELECT i, MD5(i) FROM c; END//
CREATE PROCEDURE several_changed() BEGIN SELECT 1; SELECT 2; UPDATE other SET n = n + 1 WHERE n > 70; END//
CREATE PROCEDURE several_failed() BEGIN SELECT 'one'; SELECT 2 AS two, NULL AS nothing; SELECT * FROM missing; SELECT 'never'; END//
CREATE PROCEDURE looped(IN a INT) BEGIN WHILE a > 0 DO SELECT a, a % 3 FROM t WHERE n <= a % 3; SET a = a - 1; END WHILE; END//
CREATE PROCEDURE change_two() BEGIN INSERT INTO other VALUES (1), (2); UPDATE other SET n = n + 10; END//
CREATE FUNCTION f(a INT) RETURNS INT DETERMINISTIC RETURN a * 2//
DELIMITER ;
";

/// One after the other, in one session.
const STATEMENTS: &[&str] = &[
    "SELECT * FROM t ORDER BY n",
    "SELECT * FROM t ORDER BY n LIMIT 2",
    "SELECT * FROM t ORDER BY n LIMIT 2 OFFSET 1",
    "SELECT * FROM t ORDER BY n LIMIT 1, 2",
    "SELECT * FROM t ORDER BY n LIMIT 0",
    "SELECT * FROM t ORDER BY n FETCH FIRST 2 ROWS ONLY",
    "(SELECT n FROM t ORDER BY n LIMIT 1) UNION ALL (SELECT n FROM t ORDER BY n DESC LIMIT 1)",
    "SELECT SQL_CALC_FOUND_ROWS n FROM t ORDER BY n LIMIT 2",
    "SELECT FOUND_ROWS()",
    "SELECT n FROM t WHERE n < 3 ORDER BY n FOR UPDATE",
    "SELECT n FROM t WHERE n < 3 ORDER BY n LOCK IN SHARE MODE",
    "SELECT n FROM t ORDER BY n LIMIT 1 FOR UPDATE SKIP LOCKED",
    "SELECT COUNT(*), SUM(p), AVG(p), MIN(v), MAX(v) FROM t",
    "SELECT v, COUNT(*) FROM t GROUP BY v WITH ROLLUP",
    "WITH RECURSIVE c AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM c WHERE i < 700) SELECT i, REPEAT('x', i) FROM c",
    "INSERT INTO made(v) VALUES ('a'), ('b'), (NULL)",
    "INSERT INTO made(v) VALUES ('c'), ('d') RETURNING id, v, id * 2",
    "SELECT LAST_INSERT_ID(), ROW_COUNT()",
    "INSERT INTO made(id, v) VALUES (1, 'again') ON DUPLICATE KEY UPDATE v = 'again'",
    "INSERT IGNORE INTO made(id, v) VALUES (1, 'never'), (9, 'nine')",
    "REPLACE INTO made VALUES (1, 'replaced'), (20, 'new')",
    "REPLACE INTO made VALUES (2, 'r') RETURNING id, v",
    "UPDATE made SET v = 'x' WHERE id > 2",
    "UPDATE made SET v = 'x' WHERE id > 2",
    "UPDATE made SET v = 'y' LIMIT 1",
    "DELETE FROM made WHERE id = 3 RETURNING v, id",
    "DELETE FROM made WHERE id > 4 LIMIT 1",
    "DELETE FROM made WHERE id = 12345",
    "SELECT * FROM made ORDER BY id",
    "CALL one(2)",
    "CALL none(1)",
    "CALL change_two()",
    "SET max_recursive_iterations = 10000",
    "CALL several()",
    "CALL several_changed()",
    "CALL several_failed()",
    "CALL looped(9)",
    "BEGIN NOT ATOMIC SELECT 'first'; SELECT n FROM t ORDER BY n; END",
    "PREPARE c FROM 'CALL several()'",
    "EXECUTE c",
    "SELECT f(21), @nothing, @set := 5",
    "SELECT @set",
    "SELECT 'a', n INTO @x, @y FROM t WHERE n = 4",
    "SELECT @x, @y",
    "DO 1",
    "SET @z = 7",
    "START TRANSACTION",
    "INSERT INTO other SELECT n FROM t",
    "SAVEPOINT s",
    "DELETE FROM other",
    "ROLLBACK TO s",
    "SELECT COUNT(*) FROM other",
    "COMMIT",
    "CREATE TABLE copied AS SELECT * FROM t WHERE n < 3",
    "CREATE TEMPORARY TABLE passing (n INT)",
    "INSERT INTO passing SELECT n FROM t",
    "ALTER TABLE copied ADD COLUMN w INT DEFAULT 7",
    "SELECT * FROM copied ORDER BY n",
    "TRUNCATE copied",
    "SHOW TABLES",
    "SHOW COLUMNS FROM t",
    "SHOW CREATE TABLE made",
    "SHOW CREATE PROCEDURE none",
    "DESCRIBE t",
    "EXPLAIN SELECT * FROM t WHERE n = 1",
    "EXPLAIN FORMAT=JSON SELECT 1",
    "CHECKSUM TABLE other",
    "CHECK TABLE t",
    "ANALYZE TABLE t",
    "VALUES (1, 'a'), (2, NULL)",
    "TABLE_DOES_NOT_EXIST",
    "HANDLER t OPEN",
    "HANDLER t READ FIRST LIMIT 2",
    "HANDLER t CLOSE",
    "PREPARE s FROM 'SELECT ? + 1'",
    "EXECUTE s USING @z",
    "EXECUTE IMMEDIATE 'SELECT n FROM t ORDER BY n LIMIT 1'",
    "BEGIN NOT ATOMIC DECLARE i INT DEFAULT 3; SELECT i; END",
    "SELECT 'it''s', \"q\", 'tab\\there', 'back\\\\slash', 'new\\nline', CONVERT(x'4142' USING utf8mb4)",
    "SELECT 1 AS a, 2 AS a, 3 AS ``, 4",
    "SELECT CAST('2024-02-30' AS DATE), 1/0, 'abc' + 1",
    "SELECT NOW() = NOW(), CURRENT_USER(), DATABASE()",
    "SELECT /*! 1 + */ 1",
    "DROP TABLE copied, made",
];

/// What became of a statement.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    /// Cells of each result; `None` for NULL.
    results: Vec<Vec<Vec<Option<String>>>>,
    /// How many rows each result has.
    in_set: Vec<usize>,
    /// Rows that were changed, where the client tells it; of rows alone it does not.
    affected: Option<u64>,
    failed: bool,
}

/// What the client says of each statement. As XML it tells every cell whole, and NULL apart from the text `NULL`.
fn printed(statements: &[String]) -> Vec<Told> {
    let script = format!("USE twin;\nDELIMITER $$\n{}$$\n", statements.join("$$\n"));
    let output = mariadb().raw(&["--xml", "-vvv", "--force"], &script);
    let output = String::from_utf8(output).unwrap();
    // Lines around the text of each statement, then what it brought.
    let parts: Vec<&str> = output.split("--------------\n").skip(1).collect();
    let echoed: Vec<&str> = parts.chunks(2).map(|pair| pair[0].trim()).collect();
    assert_eq!(echoed, statements.iter().map(String::as_str).collect::<Vec<_>>());
    let told: Vec<Told> = parts.chunks(2).map(|pair| client_told(pair[0], pair[1])).collect();
    told
}

fn client_told(statement: &str, output: &str) -> Told {
    let mut told = Told::default();
    let mut cells = String::new();
    for line in output.lines() {
        let counted = line.split_once(" in set").and_then(|(before, _)| before.split(' ').next()?.parse().ok());
        if let Some(count) = counted.or_else(|| line.starts_with("Empty set").then_some(0)) {
            let row = |row: &str| row.split("<field ").skip(1).map(field).collect();
            told.results.push(cells.split("<row>").skip(1).map(row).collect());
            told.in_set.push(count);
            cells.clear();
        } else if let Some(rest) = line.strip_prefix("Query OK, ") {
            told.affected = Some(rest.split(' ').next().unwrap().parse().unwrap());
        } else {
            cells.push_str(line);
            cells.push('\n');
        }
    }
    // What a CALL ends with is told behind its results.
    told.failed = told.affected.is_none() && (told.results.is_empty() || statement.starts_with("CALL"));
    told
}

fn field(text: &str) -> Option<String> {
    let (head, rest) = text.split_once('>').unwrap();
    if head.ends_with('/') {
        return None;
    }
    let value = rest.split("</field>").next().unwrap();
    Some(value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&"))
}

async fn shown(session: &mut dyn Session, statement: &str) -> Told {
    let mut told = Told::default();
    match tell(session, statement, &mut told).await {
        Ok(finished) => told.affected = Some(finished.rows_affected.unwrap_or_default()),
        Err(_) => told.failed = true,
    }
    told
}

/// A statement to its end, all its results.
async fn tell(session: &mut dyn Session, statement: &str, told: &mut Told) -> Result<Finished, EngineError> {
    let mut started = Some(session.execute(statement, PAGE).await?);
    while let Some(Started { schema: Some(_) }) = started {
        let mut rows = Vec::new();
        let mut more = true;
        while more {
            let fetched = session.fetch(PAGE).await?;
            rows.extend((0..fetched.batch.num_rows()).map(|row| cells(&fetched.batch, row)));
            more = fetched.more;
        }
        told.in_set.push(rows.len());
        told.results.push(rows);
        started = session.next_result().await?;
    }
    session.finish().await
}

fn cells(batch: &RecordBatch, row: usize) -> Vec<Option<String>> {
    let cell = |column: usize| (!batch.column(column).is_null(row)).then(|| crate::setting::cell(batch, row, column));
    (0..batch.num_columns()).map(cell).collect()
}

#[tokio::test]
async fn every_statement_is_what_the_servers_own_client_makes_of_it() {
    let server = mariadb();
    let file = server.folder.join("twin-out");
    let mut statements: Vec<String> = STATEMENTS.iter().map(|text| (*text).to_owned()).collect();
    statements.insert(0, format!("SELECT n, v INTO OUTFILE '{}' FIELDS TERMINATED BY ',' FROM t ORDER BY n", file.display()));
    let made = format!("DROP DATABASE IF EXISTS twin; CREATE DATABASE twin; USE twin;\n{MADE}");
    server.sql(&made);
    let theirs = printed(&statements);
    let their_file = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    server.sql(&made);
    let mut target = target(server.port, "root");
    target.fields.host = Some(server.socket().display().to_string());
    target.fields.database = Some("twin".to_owned());
    let mut session = connect(&target).await.unwrap();
    let (mut wrong, mut cells) = (Vec::new(), 0);
    for (statement, theirs) in statements.iter().zip(theirs) {
        let mut ours = shown(session.as_mut(), statement).await;
        if theirs.affected.is_none() {
            ours.affected = None;
        }
        cells += ours.results.iter().flatten().map(Vec::len).sum::<usize>();
        if ours != theirs {
            wrong.push(format!("{statement}\n  client {theirs:?}\n  sheaf  {ours:?}"));
        }
    }
    println!("{} statements, {cells} cells compared", statements.len());
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(std::fs::read(&file).unwrap(), their_file);
}
