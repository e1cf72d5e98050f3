use super::*;

fn body(fields: &[(u8, &str)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (kind, value) in fields {
        body.push(*kind);
        body.extend(value.as_bytes());
        body.push(0);
    }
    body.push(0);
    body
}

#[test]
fn every_field_reaches_the_person() {
    let body = body(&[
        (b'S', "FEHLER"),
        (b'V', "ERROR"),
        (b'C', "42703"),
        (b'M', "no column"),
        (b'D', "more"),
        (b'H', "try"),
        (b'P', "8"),
        (b'W', "PL/pgSQL function f()"),
        (b'R', "errorMissingColumn"),
    ]);
    let fields = Fields::read(&body);
    assert_eq!(fields.severity, "ERROR");
    let problem = fields.problem(ErrorCode::Rejected, "select x");
    assert_eq!(problem.message, "no column");
    assert_eq!(problem.detail.as_deref(), Some("more\nCONTEXT: PL/pgSQL function f()"));
    assert_eq!((problem.hint.as_deref(), problem.sqlstate.as_deref(), problem.position), (Some("try"), Some("42703"), Some(7)));
}

#[test]
fn damaged_fields_give_what_was_read() {
    let whole = body(&[(b'V', "ERROR"), (b'C', "42703"), (b'M', "no column")]);
    for cut in 0..whole.len() {
        let fields = Fields::read(&whole[..cut]);
        assert!(fields.message.is_empty() || fields.message == "no column");
        assert!(!fields.problem(ErrorCode::Rejected, "").message.is_empty());
    }
}

#[test]
fn a_position_in_characters_becomes_one_in_bytes() {
    let sql = "sélect 'ß🦀', x";
    assert_eq!(byte_position(sql, 1), Some(0));
    assert_eq!(byte_position(sql, 3), Some(3));
    let x = sql.chars().count();
    assert_eq!(byte_position(sql, x).map(|at| &sql[at as usize..]), Some("x"));
    assert_eq!(byte_position(sql, x + 1), Some(u32::try_from(sql.len()).unwrap()), "the end of the text is a place");
    assert_eq!(byte_position(sql, x + 2), None);
    assert_eq!(byte_position(sql, 0), None);
    assert_eq!(byte_position("", 1), Some(0));
}
