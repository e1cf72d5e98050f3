//! What a database holds is what a cell shows.

use super::engines::{PAGE, Row};
use super::engines::{Subject, assert_usable, done, done_with, pages, read, row, rows};
use backend::engine::Param;

pub async fn names_may_repeat_and_are_kept(subject: &Subject) {
    let mut session = subject.session().await;
    let names = [&["a", "a", "A", "x\"y`z", "é 列", "a.b", "1"], subject.sql.odd_names].concat();
    let columns: Vec<String> = names.iter().enumerate().map(|(at, name)| format!("{at} AS {}", subject.sql.name(name))).collect();
    let (pages, _) = pages(session.as_mut(), &format!("SELECT {}", columns.join(", ")), PAGE).await.unwrap();
    let schema = pages[0].batch.schema();
    assert_eq!(schema.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>(), names);
    let values: Row = (0..names.len()).map(|at| Some(at.to_string())).collect();
    assert_eq!(rows(&pages[0].batch), [values]);
}

pub async fn null_and_the_empty_text_differ(subject: &Subject) {
    let mut session = subject.session().await;
    done(session.as_mut(), &format!("CREATE TEMPORARY TABLE texts(n INTEGER, v {})", subject.sql.text)).await;
    done(session.as_mut(), "INSERT INTO texts VALUES (1, NULL), (2, ''), (3, 'NULL'), (4, ' ')").await;
    let seen = read(session.as_mut(), "SELECT v FROM texts ORDER BY n").await.concat();
    assert_eq!(seen, [None, Some(String::new()), Some("NULL".to_owned()), Some(" ".to_owned())]);
    assert_eq!(read(session.as_mut(), "SELECT NULL, '', NULL").await, [vec![None, Some(String::new()), None]]);
    assert_eq!(read(session.as_mut(), "SELECT count(*) FROM texts WHERE v IS NULL").await, [row(["1"])]);
}

pub async fn integers_keep_their_64_bits(subject: &Subject) {
    let mut session = subject.session().await;
    let (signed, unsigned) = subject.sql.integers;
    let ends = ["-9223372036854775808", "-9007199254740993", "-1", "0", "9007199254740993", "9223372036854775807"];
    done(session.as_mut(), &format!("CREATE TEMPORARY TABLE whole(v {signed})")).await;
    done(session.as_mut(), &format!("INSERT INTO whole VALUES ({})", ends.join("), ("))).await;
    assert_eq!(read(session.as_mut(), "SELECT v FROM whole ORDER BY v").await.concat(), row(ends));
    if let Some(unsigned) = unsigned {
        let ends = ["0", "9223372036854775808", "18446744073709551615"];
        done(session.as_mut(), &format!("CREATE TEMPORARY TABLE unsigned_whole(v {unsigned})")).await;
        done(session.as_mut(), &format!("INSERT INTO unsigned_whole VALUES ({})", ends.join("), ("))).await;
        assert_eq!(read(session.as_mut(), "SELECT v FROM unsigned_whole ORDER BY v").await.concat(), row(ends));
    }
}

pub async fn decimals_keep_every_digit_and_zero(subject: &Subject) {
    // SQLite has none.
    let Some(decimal) = subject.sql.decimal else { return };
    let mut session = subject.session().await;
    let values = [
        "-9999999999999999999999999999.9999999999",
        "-1.5000000000",
        "-0.0000000001",
        "0.0000000000",
        "0.1000000000",
        "100.0000000000",
        "1234567890123456789012345678.0123456789",
    ];
    done(session.as_mut(), &format!("CREATE TEMPORARY TABLE decimals(v {decimal})")).await;
    done(session.as_mut(), &format!("INSERT INTO decimals VALUES ({})", values.join("), ("))).await;
    assert_eq!(read(session.as_mut(), "SELECT v FROM decimals ORDER BY v").await.concat(), row(values));
}

/// The digits of a number without its sign, its point, its exponent, and zeros at either end.
fn digits(text: &str) -> String {
    let mantissa = text.split(['e', 'E']).next().unwrap();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

pub async fn floats_read_back_as_they_were_and_are_no_longer_than_that_needs(subject: &Subject) {
    let mut session = subject.session().await;
    let mut state = 0x5eaf_u64;
    let mut random = || {
        // xorshift64
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        f64::from_bits(state)
    };
    let mut values =
        vec![0.1, 0.1 + 0.2, 1.0 / 3.0, 1.0, -2.5, 1e15, 1e16, 123456789012345680.0, 9007199254740993.0, 1e-5, f64::MAX, f64::MIN_POSITIVE];
    values.extend(std::iter::repeat_with(&mut random).filter(|value| value.is_normal()).take(200));
    done(session.as_mut(), &format!("CREATE TEMPORARY TABLE floats(n INTEGER, v {})", subject.sql.double)).await;
    let [n, v] = subject.sql.parameter;
    let insert = format!("INSERT INTO floats VALUES ({n}, {v})");
    for (n, value) in values.iter().enumerate() {
        done_with(session.as_mut(), &insert, &[Param::Integer(n.try_into().unwrap()), Param::Real(*value)]).await;
    }
    let seen = read(session.as_mut(), "SELECT v FROM floats ORDER BY n").await.concat();
    for (value, text) in values.iter().zip(seen) {
        let text = text.unwrap();
        assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits(), "{text}");
        assert_eq!(digits(&text), digits(&format!("{value:e}")), "{text}");
    }
    done_with(session.as_mut(), &insert, &[Param::Integer(-1), Param::Real(-0.0)]).await;
    assert_eq!(read(session.as_mut(), "SELECT v FROM floats WHERE n = -1").await, [row([subject.sql.minus_zero])]);
    for (made, shown) in subject.sql.no_numbers {
        assert_eq!(read(session.as_mut(), &format!("SELECT {made}")).await, [row([shown])], "{made}");
    }
}

pub async fn text_of_every_script_and_length_is_itself(subject: &Subject) {
    let mut session = subject.session().await;
    let texts = [
        "naïve Größe".to_owned(),
        "🦀👩‍👩‍👧‍👦🏳️‍🌈".to_owned(),
        "שלום עולם \u{202e}مرحبا\u{202c}".to_owned(),
        "e\u{301}\u{327} Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A".to_owned(),
        "\u{feff}\u{200b}\u{a0} ends \t\r\n".to_owned(),
        "\u{1}\u{7f}\u{85}\u{2028}\u{fffd}\u{ffff}\u{10ffff}".to_owned(),
        "it''s \"q\" `t` -- /* ; % _ $1 ? :name".to_owned(),
        "é".repeat(1 << 19),
        "🦀".repeat(1 << 18) + ".",
    ];
    done(session.as_mut(), &format!("CREATE TEMPORARY TABLE texts(n INTEGER, v {})", subject.sql.text)).await;
    for (n, text) in texts.iter().enumerate() {
        done(session.as_mut(), &format!("INSERT INTO texts VALUES ({n}, '{}')", text.replace('\'', "''"))).await;
    }
    let seen = read(session.as_mut(), "SELECT v FROM texts ORDER BY n").await;
    assert_eq!(seen.len(), texts.len());
    for (seen, text) in seen.into_iter().zip(texts) {
        let (seen, text) = (seen[0].as_deref().unwrap(), text.as_str());
        assert!(seen == text, "{:?} is not {:?}", seen.chars().take(80).collect::<String>(), text.chars().take(80).collect::<String>());
    }
}

pub async fn every_byte_is_itself(subject: &Subject) {
    let mut session = subject.session().await;
    let (kind, literal) = subject.sql.bytes;
    let all: String = (0..=255).map(|byte| format!("{byte:02x}")).collect();
    let values = [all.as_str(), "", "00", "ff00fe", "5c783030", "c328"];
    done(session.as_mut(), &format!("CREATE TEMPORARY TABLE kept_bytes(n INTEGER, v {kind})")).await;
    for (n, digits) in values.iter().enumerate() {
        done(session.as_mut(), &format!("INSERT INTO kept_bytes VALUES ({n}, {})", literal(digits))).await;
    }
    let seen = read(session.as_mut(), "SELECT v FROM kept_bytes ORDER BY n").await.concat();
    assert_eq!(seen, row(values).into_iter().map(|digits| digits.map(|digits| format!("\\x{digits}"))).collect::<Row>());
}

pub async fn parameters_are_values_and_never_text(subject: &Subject) {
    let mut session = subject.session().await;
    let sql = &subject.sql;
    done(session.as_mut(), &format!("CREATE TEMPORARY TABLE given(n {}, v {})", sql.integers.0, sql.text)).await;
    let [n, v] = sql.parameter;
    let insert = format!("INSERT INTO given VALUES ({n}, {v})");
    let texts = ["'); DROP TABLE given; --", "it's \\ \"q\" `t`", "", "NULL", "🦀 $1 ? :name", "\\'"];
    let numbers = [i64::MIN, -1, 0, 9_007_199_254_740_993, i64::MAX - 1, i64::MAX];
    for (number, text) in numbers.into_iter().zip(texts) {
        done_with(session.as_mut(), &insert, &[Param::Integer(number), Param::Text(text.to_owned())]).await;
    }
    done_with(session.as_mut(), &insert, &[Param::Null, Param::Null]).await;
    let seen = read(session.as_mut(), "SELECT n, v FROM given WHERE n IS NOT NULL ORDER BY n").await;
    let expected: Vec<Row> = numbers.iter().zip(texts).map(|(number, text)| row([&number.to_string(), text])).collect();
    assert_eq!(seen, expected);
    assert_eq!(read(session.as_mut(), "SELECT n, v FROM given WHERE n IS NULL").await, [vec![None, None]]);
    assert_usable(session.as_mut()).await;
}
