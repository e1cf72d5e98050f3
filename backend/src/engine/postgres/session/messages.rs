//! Messages that more than one place sends.

use crate::engine::Param;
use postgres_protocol::message::frontend;

/// A limit as Execute has it; 0 would be none.
pub fn row_limit(rows: usize) -> i32 {
    i32::try_from(rows).unwrap_or(i32::MAX).max(1)
}

/// No parameters; all columns as text.
fn write_bind(portal: &str, out: &mut bytes::BytesMut) -> std::io::Result<()> {
    bind_texts(portal, &[], out)
}

/// Parameters as text; all columns as text.
pub fn bind_texts(portal: &str, values: &[Option<&str>], out: &mut bytes::BytesMut) -> std::io::Result<()> {
    let write = |value: &Option<&str>, out: &mut bytes::BytesMut| {
        let Some(value) = value else { return Ok(postgres_protocol::IsNull::Yes) };
        out.extend_from_slice(value.as_bytes());
        Ok(postgres_protocol::IsNull::No)
    };
    frontend::bind(portal, "", [], values, write, [], out).map_err(|error| match error {
        frontend::BindError::Serialization(error) => error,
        frontend::BindError::Conversion(error) => std::io::Error::other(error),
    })
}

/// A value as text; the server reads it as the type that its place in the statement asks for.
pub fn text_of(param: &Param) -> Option<String> {
    match param {
        Param::Null => None,
        Param::Bool(value) => Some(value.to_string()),
        Param::Integer(value) => Some(value.to_string()),
        Param::Real(value) => Some(value.to_string()),
        Param::Text(value) => Some(value.clone()),
    }
}

/// A question or command of Sheaf's own, in the same flight as what follows it.
pub fn write_query(sql: &str, out: &mut bytes::BytesMut) -> std::io::Result<()> {
    frontend::parse("", sql, [], out)?;
    write_bind("", out)?;
    frontend::execute("", 0, out)
}
