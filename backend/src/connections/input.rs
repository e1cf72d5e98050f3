//! Reads a connection from JSON: every name must be known, and each fault names its field.
//!
//! `ConnectionInput` is flattened, and serde can't refuse unknown fields there; so the names are checked here, against [`FIELDS`].

use serde_json::{Map, Value};
use shared::problem::{ErrorCode, Problem};
use shared::wire::connection::{ConnectionFields, ConnectionInput};
use shared::wire::secrets::{Secret, SecretKind, Secrets};

/// Every field a connection may have in a request, beside its secrets.
pub const FIELDS: [&str; 11] = ["name", "engine", "path", "host", "port", "database", "user", "tls", "ssh", "read_only", "color"];

/// Those, and the names of the secrets.
fn names() -> impl Iterator<Item = &'static str> {
    FIELDS.into_iter().chain(SecretKind::ALL.map(SecretKind::name))
}

/// A whole connection.
pub fn read_whole(mut object: Map<String, Value>) -> Result<ConnectionInput, Problem> {
    check_names(&object)?;
    check_ranges(&object)?;
    let mut secrets = Secrets::default();
    for (kind, change) in read_secrets(&mut object)? {
        if let SecretChange::Set(secret) = change {
            secrets.set(kind, Some(secret));
        }
    }
    Ok(ConnectionInput { fields: fields_of(object)?, secrets })
}

/// What becomes of a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretChange {
    /// Absent or empty: as before, if it still goes to the same server by the same way.
    Keep,
    /// `null`.
    Drop,
    /// A text.
    Set(Secret),
}

/// Some fields of a connection, to be changed; `null` removes one.
#[derive(Clone)]
pub struct Change {
    fields: Map<String, Value>,
    secrets: Vec<(SecretKind, SecretChange)>,
}

impl Change {
    /// Reads the body of a PATCH.
    pub fn read(mut object: Map<String, Value>) -> Result<Self, Problem> {
        check_names(&object)?;
        check_ranges(&object)?;
        let secrets = read_secrets(&mut object)?;
        Ok(Self { fields: object, secrets })
    }

    /// What becomes of one secret.
    pub fn secret(&self, kind: SecretKind) -> SecretChange {
        self.secrets.iter().find(|(of, _)| *of == kind).map_or(SecretChange::Keep, |(_, change)| change.clone())
    }

    /// The fields after the change.
    pub fn apply_to(&self, fields: &ConnectionFields) -> Result<ConnectionFields, Problem> {
        let Ok(Value::Object(mut object)) = serde_json::to_value(fields) else { return Err(invalid("The connection can't be changed.")) };
        for (name, value) in &self.fields {
            if value.is_null() {
                object.remove(name);
            } else {
                object.insert(name.clone(), value.clone());
            }
        }
        fields_of(object)
    }
}

fn check_names(object: &Map<String, Value>) -> Result<(), Problem> {
    match object.keys().find(|name| !names().any(|known| known == name.as_str())) {
        Some(name) => {
            let known = names().collect::<Vec<_>>().join(", ");
            Err(invalid(format!("A connection has no field `{name}`; it may have {known}.")))
        }
        None => Ok(()),
    }
}

fn check_ranges(object: &Map<String, Value>) -> Result<(), Problem> {
    let whole = |name: &str, least: u64, most: u64| match object.get(name) {
        None | Some(Value::Null) => Ok(()),
        Some(value) if value.as_u64().is_some_and(|number| (least..=most).contains(&number)) => Ok(()),
        Some(_) => Err(invalid(format!("The field `{name}` must be a whole number from {least} to {most}."))),
    };
    // An array would be taken for the fields in their order.
    for name in ["tls", "ssh"] {
        if object.get(name).is_some_and(|value| !value.is_object() && !value.is_null()) {
            return Err(invalid(format!("The field `{name}` must be an object.")).about(name));
        }
    }
    whole("port", 1, 65_535)?;
    whole("color", 0, 7)
}

/// Takes the secrets out, so that nothing else sees them.
fn read_secrets(object: &mut Map<String, Value>) -> Result<Vec<(SecretKind, SecretChange)>, Problem> {
    let read = |kind: SecretKind| match object.remove(kind.name()) {
        None => Ok((kind, SecretChange::Keep)),
        Some(Value::Null) => Ok((kind, SecretChange::Drop)),
        Some(Value::String(text)) if text.is_empty() => Ok((kind, SecretChange::Keep)),
        Some(Value::String(text)) => Ok((kind, SecretChange::Set(Secret::new(text)))),
        Some(_) => Err(invalid(format!("The field `{}` must be a text.", kind.name())).about(kind.name())),
    };
    SecretKind::ALL.into_iter().map(read).collect()
}

fn fields_of(object: Map<String, Value>) -> Result<ConnectionFields, Problem> {
    serde_json::from_value(Value::Object(object)).map_err(|error| invalid(format!("The connection is not of the right form: {error}.")))
}

fn invalid(message: impl Into<String>) -> Problem {
    Problem::new(ErrorCode::InvalidRequest, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use shared::wire::connection::{EngineKind, Ssh, SshMethod, Tls, TlsMode};

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn whole() -> ConnectionInput {
        let fields = ConnectionFields {
            name: "n".to_owned(),
            engine: EngineKind::Postgres,
            path: Some("p".to_owned()),
            host: Some("h".to_owned()),
            port: Some(1),
            database: Some("d".to_owned()),
            user: Some("u".to_owned()),
            tls: Some(Tls::new(TlsMode::Off)),
            ssh: Some(Ssh { host: "b".to_owned(), port: None, user: "u".to_owned(), method: SshMethod::Key, jump: None, host_key: None }),
            read_only: true,
            color: Some(0),
        };
        let mut secrets = Secrets::default();
        SecretKind::ALL.into_iter().for_each(|kind| secrets.set(kind, Some(Secret::new("s"))));
        ConnectionInput { fields, secrets }
    }

    #[test]
    fn the_names_are_those_of_the_wire_type() {
        let of_type = object(serde_json::to_value(whole()).unwrap());
        let (mut left, mut right) = (of_type.keys().map(String::as_str).collect::<Vec<_>>(), names().collect::<Vec<_>>());
        left.sort_unstable();
        right.sort_unstable();
        assert_eq!(left, right);
    }

    #[test]
    fn an_unknown_field_is_refused_by_name() {
        let problem = read_whole(object(json!({"name": "a", "engine": "sqlite", "path": "/a", "pasword": "x"}))).unwrap_err();
        assert_eq!(problem.code, ErrorCode::InvalidRequest);
        assert!(problem.message.contains("`pasword`"), "{}", problem.message);
        assert!(Change::read(object(json!({"id": "x"}))).is_err());
        let nested = read_whole(object(json!({"name": "a", "engine": "postgres", "host": "h", "tls": {"mode": "off", "verify": 1}})));
        assert!(nested.unwrap_err().message.contains("`verify`"));
    }

    #[test]
    fn a_number_out_of_range_is_refused_by_name() {
        for (name, value) in
            [("port", json!(0)), ("port", json!(65_536)), ("port", json!("5432")), ("color", json!(8)), ("color", json!(-1))]
        {
            let mut fields = object(json!({"name": "a", "engine": "postgres", "host": "h"}));
            fields.insert(name.to_owned(), value.clone());
            let problem = read_whole(fields).unwrap_err();
            assert!(problem.message.contains(&format!("`{name}`")), "{value}: {}", problem.message);
        }
    }

    #[test]
    fn an_unknown_engine_is_refused_by_name() {
        let problem = read_whole(object(json!({"name": "a", "engine": "oracle"}))).unwrap_err();
        assert!(problem.message.contains("`oracle`"), "{}", problem.message);
    }

    #[test]
    fn a_change_replaces_removes_and_keeps() {
        let before = whole().fields;
        let change = Change::read(object(json!({"name": "m", "user": null, "password": ""}))).unwrap();
        let after = change.apply_to(&before).unwrap();
        assert_eq!(after, ConnectionFields { name: "m".to_owned(), user: None, ..before });
        for kind in SecretKind::ALL {
            assert_eq!(change.secret(kind), SecretChange::Keep);
            assert_eq!(Change::read(object(json!({kind.name(): null}))).unwrap().secret(kind), SecretChange::Drop);
            let told = Change::read(object(json!({kind.name(): 1}))).err().unwrap();
            assert_eq!(told.field.as_deref(), Some(kind.name()));
        }
    }
}
