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

#[test]
fn a_wrong_number_of_values_is_known_by_its_code_and_the_numbers() {
    let fields = |code: &str, message: &str, context: Option<&str>| Fields {
        code: code.to_owned(),
        message: message.to_owned(),
        context: context.map(str::to_owned),
        ..Fields::default()
    };
    let message = "bind message supplies 0 parameters, but prepared statement \"\" requires 12";
    assert_eq!(fields("08P01", message, None).wanted_parameters(0), Some(12));
    let turned = "vorbereitete Anweisung \"\" braucht 2 Parameter, aber 3 kamen";
    assert_eq!(fields("08P01", turned, None).wanted_parameters(3), Some(2));
    assert_eq!(fields("08P01", message, None).wanted_parameters(1), None, "other numbers than these");
    assert_eq!(fields("22P02", message, None).wanted_parameters(0), None);
    assert_eq!(fields("08P01", message, Some("PL/pgSQL function f()")).wanted_parameters(0), None, "raised by a function");
    assert_eq!(fields("08P01", "insufficient data left in message", None).wanted_parameters(0), None);
}

#[test]
fn a_parameter_is_named_without_the_protocols_words() {
    let detail = |context: &str| {
        let fields = Fields { context: Some(context.to_owned()), ..Fields::default() };
        fields.problem(ErrorCode::Rejected, "").detail.unwrap()
    };
    assert_eq!(detail("unnamed portal parameter $2 = '...'"), "CONTEXT: parameter $2");
    assert_eq!(detail("unnamed portal parameter $2"), "CONTEXT: parameter $2");
    assert_eq!(
        detail("JSON data, line 1: {x\nunnamed portal parameter $12 = '{x'"),
        "CONTEXT: JSON data, line 1: {x\nparameter $12 = '{x'"
    );
    assert_eq!(detail("SQL function \"f\" statement 1"), "CONTEXT: SQL function \"f\" statement 1");
}
