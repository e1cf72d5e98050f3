use super::*;
use shared::wire::connection::{ConnectionFields, EngineKind};
use shared::wire::secrets::{Secret, Secrets};

fn target(host: Option<&str>, port: Option<u16>) -> Target {
    let fields = ConnectionFields { host: host.map(str::to_owned), port, ..ConnectionFields::new("", EngineKind::Postgres) };
    Target::new(fields, Secrets::default())
}

#[test]
fn a_host_that_is_a_folder_is_a_unix_socket() {
    let address = |host, port| Route::of(&target(host, port)).way.address().clone();
    assert_eq!(address(None, None), Address::Net { host: "localhost".to_owned(), port: 5432 });
    assert_eq!(address(Some(" "), Some(1)), Address::Net { host: "localhost".to_owned(), port: 1 });
    assert_eq!(address(Some("/run/pg"), Some(5433)), Address::Socket("/run/pg/.s.PGSQL.5433".into()));
}

#[test]
fn messages_of_signing_in_out_of_order_are_refused() {
    let password = Secret::new("secret");
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
        let mut sign_in = SignIn::new("user", Some(&password), None);
        let refused = order.iter().any(|body| sign_in.answer(body).is_err());
        assert!(refused && !sign_in.is_done(), "{order:?}");
    }
    let mut sign_in = SignIn::new("user", None, None);
    assert_eq!(sign_in.answer(scram).unwrap_err().problem.code, ErrorCode::PasswordNeeded);
}

#[test]
fn md5_and_clear_passwords_leave_in_the_form_asked_for() {
    let password = Secret::new("secret");
    let mut sign_in = SignIn::new("user", Some(&password), None);
    assert_eq!(&sign_in.answer(b"\0\0\0\x03").unwrap().unwrap()[..], b"p\0\0\0\x0bsecret\0");
    assert!(sign_in.answer(b"\0\0\0\0").unwrap().is_none());
    assert!(sign_in.is_done());
    let mut sign_in = SignIn::new("user", Some(&password), None);
    assert!(sign_in.answer(b"\0\0\0\x05salt").unwrap().unwrap().starts_with(b"p\0\0\0\x28md5"));
}

#[test]
fn over_tls_the_sign_in_is_bound_to_the_certificate_where_the_server_offers_it() {
    let password = Secret::new("secret");
    let both = b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0";
    let plain = b"\0\0\0\x0aSCRAM-SHA-256\0\0";
    for (bound_to, offer, expected) in [
        (Some(vec![7; 32]), &both[..], "SCRAM-SHA-256-PLUS\0"),
        (Some(vec![7; 32]), &plain[..], "SCRAM-SHA-256\0"),
        (None, &both[..], "SCRAM-SHA-256\0"),
    ] {
        let mut sign_in = SignIn::new("user", Some(&password), bound_to.clone());
        let answer = sign_in.answer(offer).unwrap().unwrap();
        let said = String::from_utf8_lossy(&answer[5..]).into_owned();
        assert!(said.starts_with(expected), "{said:?}");
        let flag = match (bound_to, expected) {
            (Some(_), "SCRAM-SHA-256-PLUS\0") => "p=tls-server-end-point,,",
            (Some(_), _) => "y,,",
            (None, _) => "n,,",
        };
        assert!(said.contains(flag), "{said:?}");
    }
}
