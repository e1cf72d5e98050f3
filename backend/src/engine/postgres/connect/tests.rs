use super::*;
use crate::engine::Password;
use shared::wire::connection::{ConnectionFields, EngineKind};

fn target(host: Option<&str>, port: Option<u16>) -> Target {
    let fields = ConnectionFields { host: host.map(str::to_owned), port, ..ConnectionFields::new("", EngineKind::Postgres) };
    Target { fields, password: None }
}

#[test]
fn a_host_that_is_a_folder_is_a_unix_socket() {
    let address = |host, port| Route::of(&target(host, port)).address;
    assert_eq!(address(None, None), Address::Net { host: "localhost".to_owned(), port: 5432 });
    assert_eq!(address(Some(" "), Some(1)), Address::Net { host: "localhost".to_owned(), port: 1 });
    assert_eq!(address(Some("/run/pg"), Some(5433)), Address::Socket("/run/pg/.s.PGSQL.5433".into()));
}

#[test]
fn messages_of_signing_in_out_of_order_are_refused() {
    let password = Password("secret".to_owned());
    let scram = b"\0\0\0\x0aSCRAM-SHA-256\0\0";
    for order in [
        vec![b"\0\0\0\x0b".as_slice()],
        vec![b"\0\0\0\x0c"],
        vec![scram, b"\0\0\0\0"],
        vec![scram, scram],
        vec![scram, b"\0\0\0\x0cv=abc"],
        vec![scram, b"\0\0\0\x0br=abc,s=abc,i=1"],
        vec![b"\0\0\0\x05sal"],
        vec![b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0\0"],
        vec![b"\0\0\0\x0aSCRAM-SHA-256"],
        vec![b"\0\0\0\x07"],
        vec![b"\0\0"],
    ] {
        let mut sign_in = SignIn::new("user", Some(&password));
        let refused = order.iter().any(|body| sign_in.answer(body).is_err());
        assert!(refused && !sign_in.is_done(), "{order:?}");
    }
    let mut sign_in = SignIn::new("user", None);
    assert_eq!(sign_in.answer(scram).unwrap_err().problem.code, ErrorCode::PasswordNeeded);
}

#[test]
fn md5_and_clear_passwords_leave_in_the_form_asked_for() {
    let password = Password("secret".to_owned());
    let mut sign_in = SignIn::new("user", Some(&password));
    assert_eq!(&sign_in.answer(b"\0\0\0\x03").unwrap().unwrap()[..], b"p\0\0\0\x0bsecret\0");
    assert!(sign_in.answer(b"\0\0\0\0").unwrap().is_none());
    assert!(sign_in.is_done());
    let mut sign_in = SignIn::new("user", Some(&password));
    assert!(sign_in.answer(b"\0\0\0\x05salt").unwrap().unwrap().starts_with(b"p\0\0\0\x28md5"));
}
