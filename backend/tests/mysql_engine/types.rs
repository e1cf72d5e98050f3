//! What a cell shows, for every type: what the server's own client prints.

use crate::setting::{PAGE, rows, run, run_with, session, texts, value};
use arrow_schema::{DataType, TimeUnit};
use backend::engine::{Param, Session};
use shared::page::{ORIGIN_KEY, TYPE_KEY};
use testing::mariadb::mariadb;

async fn prepared(table: &str, columns: &str) -> Box<dyn Session> {
    let mut session = session().await;
    for sql in ["SET SESSION sql_mode = ''", &format!("CREATE OR REPLACE TABLE {table} ({columns})")] {
        run(session.as_mut(), sql).await.unwrap();
    }
    session
}

#[tokio::test]
async fn f02_bigint_unsigned_keeps_every_digit() {
    let mut session = session().await;
    let (batch, _) = run(session.as_mut(), "SELECT 18446744073709551615 AS u").await.unwrap();
    let batch = batch.unwrap();
    assert_eq!(crate::setting::cell(&batch, 0, 0), "18446744073709551615");
    assert_eq!(batch.schema().field(0).metadata()[TYPE_KEY], "BIGINT UNSIGNED");
    assert_eq!(batch.column(0).data_type().to_string(), "UInt64");
}

#[tokio::test]
async fn f13_a_decimal_keeps_its_zeros() {
    assert_eq!(value(session().await.as_mut(), "SELECT CAST(2.5 AS DECIMAL(5,2)) AS p").await, "2.50");
}

#[tokio::test]
async fn f23_zero_dates_are_no_nulls() {
    let mut session = prepared("f23", "d DATE, dt DATETIME").await;
    run(session.as_mut(), "INSERT INTO f23 VALUES ('0000-00-00','0000-00-00 00:00:00'),(NULL,NULL)").await.unwrap();
    let shown = rows(session.as_mut(), "SELECT *, d IS NULL AS isnull FROM f23").await;
    assert_eq!(shown, [["0000-00-00", "0000-00-00 00:00:00", "0"], ["NULL", "NULL", "1"]]);
}

#[tokio::test]
async fn f24_a_zero_date_fails_no_page() {
    let mut session = prepared("f24", "d DATE").await;
    run(session.as_mut(), "INSERT INTO f24 VALUES ('0000-00-00'),('2024-05-01')").await.unwrap();
    assert_eq!(rows(session.as_mut(), "SELECT d FROM f24").await, [["0000-00-00"], ["2024-05-01"]]);
    let (batch, _) = run(session.as_mut(), "SELECT d FROM f24 WHERE d > 0").await.unwrap();
    assert_eq!(batch.unwrap().column(0).data_type().to_string(), "Date32");
}

#[tokio::test]
async fn a_page_has_the_tightest_form_of_what_the_client_prints() {
    let server = mariadb();
    let mut session = session().await;
    let micros = DataType::Timestamp(TimeUnit::Microsecond, None);
    let time = DataType::Time64(TimeUnit::Microsecond);
    for (number, (type_name, values, physical)) in [
        ("DATETIME", "'2024-02-29 12:34:56', '0001-01-01 00:00:00'", micros.clone()),
        ("DATETIME(3)", "'2024-02-29 12:34:56.100', '1969-12-31 23:59:59.999', NULL", micros.clone()),
        ("DATETIME(6)", "'9999-12-31 23:59:59.999999', '2024-01-01 00:00:00'", micros.clone()),
        ("TIMESTAMP(1) NULL", "'2024-02-29 12:34:56.5', '2024-02-29 12:34:56'", micros),
        ("DATETIME(2)", "'2024-02-29 12:34:56.12', '0000-00-00 00:00:00'", DataType::Utf8),
        ("DATETIME(2)", "'2024-02-00 00:00:00'", DataType::Utf8),
        ("TIME", "'00:00:00', '23:59:59', NULL", time.clone()),
        ("TIME(6)", "'00:00:00.000001', '23:59:59.5'", time),
        ("TIME(6)", "'00:00:00.000001', '-00:00:00.000001'", DataType::Utf8),
        ("TIME(1)", "'24:00:00.5'", DataType::Utf8),
        ("UUID", "'550e8400-e29b-41d4-a716-446655440000', NULL, '00000000-0000-0000-0000-00000000000F'", DataType::FixedSizeBinary(16)),
        ("DECIMAL(38,10)", "1.5, NULL", DataType::Decimal128(38, 10)),
        ("DECIMAL(39,0)", "999999999999999999999999999999999999999, -1", DataType::Decimal256(39, 0)),
        ("DECIMAL(65,30)", "12345678901234567890123456789012345.123456789012345678901234567890, -0.5, NULL", DataType::Decimal256(65, 30)),
    ]
    .into_iter()
    .enumerate()
    {
        let list = split_values(values).iter().map(|value| format!("({value})")).collect::<Vec<_>>().join(", ");
        server.sql(&format!(
            "USE shop; SET SESSION sql_mode=''; CREATE OR REPLACE TABLE tight_{number} (id INT AUTO_INCREMENT PRIMARY KEY, v {type_name}); \
             INSERT INTO tight_{number}(v) VALUES {list};"
        ));
        let sql = format!("SELECT v FROM shop.tight_{number} ORDER BY id");
        let printed = String::from_utf8(server.raw(&["--raw"], &sql)).unwrap();
        let batch = run(session.as_mut(), &sql).await.unwrap().0.unwrap();
        let parameters = format!("SELECT v FROM shop.tight_{number} WHERE id > ? ORDER BY id");
        session.execute_with(&parameters, &[Param::Integer(0)], PAGE).await.unwrap();
        let bound = session.fetch(PAGE).await.unwrap().batch;
        session.finish().await.unwrap();
        for batch in [batch, bound] {
            assert_eq!(texts(&batch).concat(), printed.lines().collect::<Vec<_>>(), "{type_name}");
            assert_eq!(*batch.column(0).data_type(), physical, "{type_name} {values}");
        }
    }
}

#[tokio::test]
async fn f25_a_zero_date_that_is_bound_is_stored_and_read_as_it_is() {
    let mut session = prepared("f25", "n INT PRIMARY KEY, d DATE, dt DATETIME(3)").await;
    let zero = [Param::Text("0000-00-00".to_owned()), Param::Text("0000-00-00 00:00:00".to_owned())];
    run_with(session.as_mut(), "INSERT INTO f25 VALUES (1, ?, ?)", &zero).await.unwrap();
    run(session.as_mut(), "INSERT INTO f25 VALUES (2, '2024-05-01', '2024-05-01 01:02:03')").await.unwrap();
    run_with(session.as_mut(), "UPDATE f25 SET d = ?, dt = ? WHERE n = 2", &zero).await.unwrap();
    let expected = [["0000-00-00", "0000-00-00 00:00:00.000"], ["0000-00-00", "0000-00-00 00:00:00.000"]];
    assert_eq!(rows(session.as_mut(), "SELECT d, dt FROM f25 ORDER BY n").await, expected);
    let (batch, _) = run_with(session.as_mut(), "SELECT d, dt FROM f25 WHERE d = ? ORDER BY n", &zero[..1]).await.unwrap();
    assert_eq!(texts(&batch.unwrap()), expected);
    assert_eq!(mariadb().sql("SELECT CONCAT(d, ' ', dt) FROM shop.f25 WHERE n = 2"), "0000-00-00 0000-00-00 00:00:00.000\n");
}

#[tokio::test]
async fn f26_a_time_of_838_hours_stays_whole() {
    let sql =
        "SELECT SEC_TO_TIME(360005) AS t, CAST('838:59:59' AS TIME) AS m, CAST('-01:02:03' AS TIME) AS n, CAST('23:59:59' AS TIME) AS o";
    assert_eq!(rows(session().await.as_mut(), sql).await, [["100:00:05", "838:59:59", "-01:02:03", "23:59:59"]]);
}

#[tokio::test]
async fn f29_tinyint_1_is_a_number() {
    let mut session = prepared("f29", "v TINYINT(1)").await;
    run(session.as_mut(), "INSERT INTO f29 VALUES (0),(1),(7),(-1)").await.unwrap();
    assert_eq!(rows(session.as_mut(), "SELECT * FROM f29").await, [["0"], ["1"], ["7"], ["-1"]]);
}

#[tokio::test]
async fn f30_bits_are_the_bytes_that_the_client_prints() {
    let mut session = prepared("f30", "a BIT(1), b BIT(8), c BIT(9), d BIT(20), e BIT(64)").await;
    let values = "(b'1', b'10100101', b'110100101', b'10100101', ~0), (b'0', 10, 9, 92, NULL), (1, 0, 511, 1048575, 72623859790382856)";
    run(session.as_mut(), &format!("INSERT INTO f30 VALUES {values}")).await.unwrap();
    let sql = "SELECT * FROM shop.f30 ORDER BY e IS NULL, e";
    let printed = printed_bytes(&mariadb().raw(&[], sql));
    let (batch, _) = run(session.as_mut(), sql).await.unwrap();
    let batch = batch.unwrap();
    assert_eq!(texts(&batch), printed);
    assert_eq!(printed[1], ["01", "A5", "01A5", "0000A5", "FFFFFFFFFFFFFFFF"]);
    let widths: Vec<_> = batch.columns().iter().map(|column| column.data_type().clone()).collect();
    assert_eq!(widths, [1, 1, 2, 3, 8].map(DataType::FixedSizeBinary));
}

/// Of expressions the server sends the number's digits, or bytes, and calls both BIT.
#[tokio::test]
async fn f30_bits_of_expressions_are_what_the_client_prints() {
    let mut session = prepared("f30_made", "id INT PRIMARY KEY, a BIT(1), b BIT(8), d BIT(20), e BIT(64)").await;
    run(session.as_mut(), "INSERT INTO f30_made VALUES (1, b'1', b'10100101', 92, ~0), (2, b'0', 10, 165, NULL), (3, 1, 49, 1, 0)")
        .await
        .unwrap();
    let fixed = DataType::FixedSizeBinary;
    for (list, kinds) in [
        ("COALESCE(a, b), IF(a, b, d), NULLIF(b, 3), (SELECT MAX(e) FROM shop.f30_made), d | 1", vec![DataType::UInt64; 5]),
        ("MIN(b) OVER (ORDER BY id), FIRST_VALUE(d) OVER (ORDER BY id), b, id", vec![fixed(1), fixed(3), fixed(1), DataType::Int32]),
        ("DISTINCT COALESCE(a, d)", vec![fixed(3)]),
    ] {
        let sql = format!("SELECT {list} FROM shop.f30_made WHERE id > ");
        let printed = printed_bytes(&mariadb().raw(&[], &format!("{sql}0")));
        let (plain, _) = run(session.as_mut(), &format!("{sql}0")).await.unwrap();
        let (bound, _) = run_with(session.as_mut(), &format!("{sql}?"), &[Param::Integer(0)]).await.unwrap();
        for batch in [plain.unwrap(), bound.unwrap()] {
            let types: Vec<_> = batch.columns().iter().map(|column| column.data_type().clone()).collect();
            assert_eq!(types, kinds, "{list}");
            // A number by its digits, as the client has it; bytes in hexadecimal.
            let as_bytes = |row: Vec<String>| -> Vec<String> {
                let hexadecimal = |text: String| text.bytes().map(|byte| format!("{byte:02X}")).collect();
                row.into_iter().zip(&kinds).map(|(text, kind)| if kind.is_numeric() { hexadecimal(text) } else { text }).collect()
            };
            assert_eq!(texts(&batch).into_iter().map(as_bytes).collect::<Vec<_>>(), printed, "{list}");
        }
    }
}

/// Rows of the client's own form, each value in hexadecimal.
fn printed_bytes(output: &[u8]) -> Vec<Vec<String>> {
    let value = |value: &[u8]| -> String {
        let mut bytes = value.iter();
        let mut hexadecimal = String::new();
        if value == b"NULL" {
            return "NULL".to_owned();
        }
        while let Some(byte) = bytes.next() {
            let byte = match byte {
                b'\\' => match bytes.next().unwrap() {
                    b'0' => 0,
                    b't' => b'\t',
                    b'n' => b'\n',
                    other => *other,
                },
                other => *other,
            };
            hexadecimal.push_str(&format!("{byte:02X}"));
        }
        hexadecimal
    };
    let lines = output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| line.split(|byte| *byte == b'\t').map(value).collect()).collect()
}

#[tokio::test]
async fn f33_a_blob_keeps_its_bytes() {
    let mut session = prepared("f33", "id INT PRIMARY KEY, d BLOB").await;
    run(session.as_mut(), "INSERT INTO f33 VALUES (1,x'81'),(2,x'FFD8FFE0'),(3,'')").await.unwrap();
    assert_eq!(rows(session.as_mut(), "SELECT d, HEX(d) FROM f33").await, [["81", "81"], ["FFD8FFE0", "FFD8FFE0"], ["", ""]]);
}

#[tokio::test]
async fn f32_every_byte_of_a_binary_is_in_its_cell() {
    let mut session = prepared("f32", "u BINARY(16), v VARBINARY(20)").await;
    let hex = "550E8400E29B41D4A716446655440000";
    run(session.as_mut(), &format!("INSERT INTO f32 VALUES (x'{hex}', x'{hex}'), (x'00', x'00')")).await.unwrap();
    let shown = rows(session.as_mut(), "SELECT u, v, HEX(u) FROM f32 ORDER BY u DESC").await;
    let zeros = "0".repeat(32);
    assert_eq!(shown, [[hex, hex, hex], [zeros.as_str(), "00", zeros.as_str()]]);
    let (batch, _) = run_with(session.as_mut(), "SELECT u, v FROM f32 WHERE HEX(u) = ?", &[Param::Text(hex.to_owned())]).await.unwrap();
    let batch = batch.unwrap();
    assert_eq!(texts(&batch), [[hex, hex]]);
    assert_eq!((batch.column(0).data_type(), batch.column(1).data_type()), (&DataType::FixedSizeBinary(16), &DataType::Binary));
    // An expression's length may be another one from row to row.
    let made = "SELECT CAST(u AS BINARY(3)), IF(u = v, u, x'01') FROM f32 ORDER BY u DESC";
    assert_eq!(rows(session.as_mut(), made).await, [["550E84", hex], ["000000", "01"]]);
}

#[tokio::test]
async fn f51_a_geometry_keeps_its_reference_system_and_every_bit() {
    let mut session = prepared("f51", "n INT, g GEOMETRY").await;
    for (n, point, system) in [(1, "POINT(103.5 30.5)", 4490), (2, "POINT(1 2)", 4326), (3, "LINESTRING(0 0,1 1)", 0)] {
        run(session.as_mut(), &format!("INSERT INTO f51 VALUES ({n}, ST_GeomFromText('{point}', {system}))")).await.unwrap();
    }
    let sql = "SELECT HEX(g), ST_AsText(g), ST_SRID(g) FROM shop.f51 ORDER BY n";
    let client: Vec<Vec<String>> = mariadb().sql(sql).lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect();
    assert_eq!(rows(session.as_mut(), sql).await, client);
    let bytes: Vec<String> = rows(session.as_mut(), "SELECT g FROM f51 ORDER BY n").await.concat();
    assert_eq!(bytes, client.iter().map(|row| row[0].clone()).collect::<Vec<_>>());
    assert!(bytes[0].starts_with("8A110000") && client[0][1..] == ["POINT(103.5 30.5)", "4490"]);
}

#[tokio::test]
async fn f49_the_axes_of_a_point_are_the_servers() {
    let mut session = session().await;
    let text = "SELECT ST_AsText(ST_GeomFromText('POINT(-34.6 -58.38)',4326)) AS p";
    assert_eq!(value(session.as_mut(), text).await, mariadb().sql(text).trim_end());
    let bytes = value(session.as_mut(), "SELECT ST_GeomFromText('POINT(1 2)',4326)").await;
    assert_eq!(bytes, "E61000000101000000000000000000F03F0000000000000040");
}

#[tokio::test]
async fn s26_percent_signs_are_not_doubled() {
    let mut session = session().await;
    for _ in 0..2 {
        assert_eq!(value(session.as_mut(), "SELECT DATE_FORMAT('2024-01-02 03:04:05','%H:00') AS h").await, "03:00");
    }
}

#[tokio::test]
async fn columns_tell_their_types_and_where_they_come_from() {
    let definitions = "a BIGINT UNSIGNED, b INT(5) ZEROFILL, c DECIMAL(12,2), d VARCHAR(20), e CHAR(3), f TEXT, g MEDIUMBLOB, h BINARY(16), \
        i ENUM('x','y'), j SET('x','y'), k JSON, l DATETIME(6), m TIMESTAMP NULL, n YEAR, o BIT(9), p POINT, q UUID, r INET6, s DOUBLE, t FLOAT, \
        u MEDIUMINT, v TIME, w LONGTEXT, x TINYTEXT";
    let mut session = prepared("types_told", definitions).await;
    let started = session.execute("SELECT *, 1 AS `1`, a AS `` , a FROM types_told AS z", PAGE).await.unwrap();
    let schema = started.schema.unwrap();
    session.fetch(PAGE).await.unwrap();
    session.finish().await.unwrap();
    let told: Vec<&str> = schema.fields().iter().map(|field| field.metadata()[TYPE_KEY].as_str()).collect();
    let expected = "BIGINT UNSIGNED, INT UNSIGNED ZEROFILL, DECIMAL(12,2), VARCHAR(20), CHAR(3), TEXT, MEDIUMBLOB, BINARY(16), ENUM, SET, JSON, \
        DATETIME(6), TIMESTAMP, YEAR, BIT(9), POINT, UUID, INET6, DOUBLE, FLOAT, MEDIUMINT, TIME, LONGTEXT, TINYTEXT, INT, BIGINT UNSIGNED, BIGINT UNSIGNED";
    assert_eq!(told.join(", "), expected);
    assert_eq!(schema.field(3).metadata()[ORIGIN_KEY], "shop.types_told.d");
    assert_eq!(schema.field(10).metadata()["ARROW:extension:name"], "arrow.json");
    assert_eq!(schema.field(16).metadata()["ARROW:extension:name"], "arrow.uuid");
    assert!(!schema.field(24).metadata().contains_key(ORIGIN_KEY));
    assert_eq!((schema.field(25).name().as_str(), schema.field(26).name().as_str()), ("", "a"), "empty and repeated names stay");
    assert_eq!(schema.field(25).metadata()[ORIGIN_KEY], "shop.types_told.a");
}

#[tokio::test]
async fn text_that_is_not_utf_8_travels_as_its_bytes() {
    let mut session = session().await;
    run(session.as_mut(), "SET NAMES latin1").await.unwrap();
    assert_eq!(value(session.as_mut(), "SELECT CONVERT(x'E4' USING latin1)").await, "E4");
}

/// One row a kind of value, one table a type; what the client prints is what every cell must be.
pub const DIFFERENTIAL: &[(&str, &str)] = &[
    ("TINYINT", "-128, 127, 0, NULL"),
    ("TINYINT UNSIGNED", "0, 255, NULL"),
    ("SMALLINT", "-32768, 32767"),
    ("MEDIUMINT", "-8388608, 8388607"),
    ("INT", "-2147483648, 2147483647"),
    ("INT UNSIGNED", "4294967295"),
    ("INT(8) ZEROFILL", "0, 42"),
    ("BIGINT", "-9223372036854775808, 9223372036854775807"),
    ("BIGINT UNSIGNED", "18446744073709551615, 0"),
    ("DECIMAL(38,10)", "9999999999999999999999999999.9999999999, -0.0000000001, 0, NULL"),
    ("DECIMAL(65,30)", "12345678901234567890123456789012345.123456789012345678901234567890"),
    ("DECIMAL(5,2)", "2.5, -0.001, 0"),
    ("FLOAT", "3.14159265, 1e20, -1e-20, 16777217, 0, 0.1"),
    ("FLOAT(7,3)", "1.5, 1234.5678"),
    ("DOUBLE", "0.1, 1e300, -1.7976931348623157e308, 5e-324, 1e15, 123456789012345678, 0.30000000000000004, -0e0, 1e-4, 1e-5"),
    ("DOUBLE(10,4)", "1.5, -3"),
    ("DATE", "'2024-02-29', '0000-00-00', '9999-12-31', '1000-01-01', '2024-00-10'"),
    ("TIME", "'838:59:59', '-838:59:59', '00:00:00', '12:34:56'"),
    ("TIME(6)", "'12:34:56.000001', '-01:00:00.5', '-838:59:59.999999', '00:00:00'"),
    ("DATETIME", "'2024-02-29 12:34:56', '0000-00-00 00:00:00', '9999-12-31 23:59:59'"),
    ("DATETIME(3)", "'2024-02-29 12:34:56.100'"),
    ("TIMESTAMP NULL", "'2024-02-29 12:34:56', NULL, '1970-01-02 00:00:01'"),
    ("TIMESTAMP(6) NULL", "'2024-02-29 12:34:56.000010'"),
    ("YEAR", "2024, 1901, 2155, 0"),
    ("CHAR(10)", "'abc', '', 'trailing  ', 'äöü🦀'"),
    ("VARCHAR(50)", "'it''s', '', 'trailing  ', NULL, 'NULL'"),
    ("VARCHAR(50) CHARACTER SET latin1", "'Größe', 'é'"),
    ("TEXT", "REPEAT('x', 5000), 'ключ'"),
    ("LONGTEXT", "REPEAT('ä', 70000)"),
    ("ENUM('small','größer')", "'small', 'größer', ''"),
    ("SET('a','b','c')", "'a,c', '', 'a,b,c'"),
    ("JSON", "'{\"b\": 1,  \"a\": [1.0, 1e2, null]}', '\"text\"', 'null'"),
    ("UUID", "'550e8400-e29b-41d4-a716-446655440000', NULL"),
    ("INET6", "'::1', '2001:db8::ff00:42:8329'"),
    ("INET4", "'127.0.0.1'"),
];

#[tokio::test]
async fn every_cell_is_what_the_servers_own_client_prints() {
    let server = mariadb();
    let mut session = session().await;
    for (number, (type_name, values)) in DIFFERENTIAL.iter().enumerate() {
        let list = split_values(values).iter().map(|value| format!("({value})")).collect::<Vec<_>>().join(", ");
        server.sql(&format!(
            "USE shop; SET SESSION sql_mode=''; CREATE OR REPLACE TABLE diff_{number} (id INT AUTO_INCREMENT PRIMARY KEY, v {type_name}); \
             INSERT INTO diff_{number}(v) VALUES {list};"
        ));
        let sql = format!("SELECT v FROM shop.diff_{number} ORDER BY id");
        let printed = server.raw(&["--raw"], &sql);
        let printed: Vec<&str> = std::str::from_utf8(&printed).unwrap().lines().collect();
        let shown: Vec<String> = rows(session.as_mut(), &sql).await.into_iter().map(|row| row[0].clone()).collect();
        assert_eq!(shown, printed, "{type_name}");
    }
}

/// At commas outside of quotes and parentheses.
pub fn split_values(list: &str) -> Vec<String> {
    let (mut values, mut quoted, mut depth) = (vec![String::new()], false, 0);
    for c in list.chars() {
        match c {
            '\'' => quoted = !quoted,
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if !quoted && depth == 0 => {
                values.push(String::new());
                continue;
            }
            _ => {}
        }
        values.last_mut().unwrap().push(c);
    }
    values
}
