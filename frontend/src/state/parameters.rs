//! Values for parameters: what a person entered for them, and what of it is sent. Pure.

use serde_json::Value;
use shared::sql::parameters;
use shared::wire::connection::EngineKind;
use std::ops::Range;
use std::sync::Arc;

/// What an entry is taken for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// A number or a truth value where it is written like one, else text.
    #[default]
    AsTyped,
    /// Text, whatever it looks like.
    Text,
    /// NULL.
    Null,
}

/// One entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entered {
    /// As it was typed.
    pub text: String,
    /// What it is taken for.
    pub reading: Reading,
}

impl Entered {
    /// What is sent. A server that finds out by itself what each value has to be gets the text as it was typed, digits and all.
    pub fn value(&self, engine: EngineKind) -> Value {
        match self.reading {
            Reading::Null => Value::Null,
            Reading::AsTyped if engine != EngineKind::Postgres => as_typed(&self.text),
            _ => Value::String(self.text.clone()),
        }
    }
}

/// A number only where it comes back the way it was typed: `007` and more digits than a float holds stay text.
fn as_typed(text: &str) -> Value {
    let whole = text.parse::<i64>().ok().filter(|number| number.to_string() == text).map(Value::from);
    let real = || text.parse::<f64>().ok().filter(|number| number.is_finite() && number.to_string() == text).map(Value::from);
    let truth = || text.parse::<bool>().ok().map(Value::from);
    whole.or_else(real).or_else(truth).unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Statements that wait for values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The console's own name.
    pub console: String,
    /// Its text.
    pub text: Arc<str>,
    /// Where the statements stand in it, in bytes.
    pub statements: Vec<Range<usize>>,
    /// Which engine counts the parameters.
    pub engine: EngineKind,
    /// What each statement wants, as shown to the person: one that has a name is asked for once.
    pub wanted: Vec<Vec<String>>,
}

impl Asked {
    /// What statements ask for; `None` where they ask for nothing.
    pub fn of(console: &str, text: &Arc<str>, statements: &[Range<usize>], engine: EngineKind) -> Option<Self> {
        let names = statements.iter().map(|range| parameters(text.get(range.clone()).unwrap_or_default(), engine));
        let several = statements.len() > 1;
        let wanted: Vec<Vec<String>> =
            names.enumerate().map(|(at, names)| names.into_iter().map(|name| shown(name, several.then_some(at + 1))).collect()).collect();
        wanted.iter().any(|names| !names.is_empty()).then(|| Self {
            console: console.to_owned(),
            text: text.clone(),
            statements: statements.to_vec(),
            engine,
            wanted,
        })
    }

    /// Each field of the form once, in the order of the text.
    pub fn fields(&self) -> Vec<String> {
        let mut fields: Vec<String> = Vec::new();
        for name in self.wanted.iter().flatten() {
            if !fields.contains(name) {
                fields.push(name.clone());
            }
        }
        fields
    }

    /// The values of each statement.
    pub fn values(&self, entered: impl Fn(&str) -> Entered) -> Vec<Vec<Value>> {
        self.wanted.iter().map(|names| names.iter().map(|name| entered(name).value(self.engine)).collect()).collect()
    }
}

/// A number means something else in each statement.
fn shown(name: String, statement: Option<usize>) -> String {
    let numbered = name.starts_with(['?', '$']) && name.get(1..).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    match statement.filter(|_| numbered) {
        Some(statement) => format!("{name} of statement {statement}"),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entered(text: &str, reading: Reading) -> Entered {
        Entered { text: text.to_owned(), reading }
    }

    #[test]
    fn an_entry_is_a_number_only_where_nothing_of_it_is_lost() {
        let sent = |text: &str| entered(text, Reading::AsTyped).value(EngineKind::Sqlite);
        for (text, value) in [
            ("42", json!(42)),
            ("9007199254740993", json!(9_007_199_254_740_993_i64)),
            ("0.25", json!(0.25)),
            ("true", json!(true)),
            ("007", json!("007")),
            ("1.10", json!("1.10")),
            ("12345678901234567890", json!("12345678901234567890")),
            ("inf", json!("inf")),
            ("", json!("")),
            (" 5", json!(" 5")),
        ] {
            assert_eq!(sent(text), value, "{text}");
        }
        assert_eq!(entered("42", Reading::Text).value(EngineKind::Sqlite), json!("42"));
        assert_eq!(entered("42", Reading::Null).value(EngineKind::Sqlite), Value::Null);
        assert_eq!(entered("1.10", Reading::AsTyped).value(EngineKind::Postgres), json!("1.10"));
    }

    #[test]
    fn a_name_is_asked_for_once_and_a_number_once_a_statement() {
        let text: Arc<str> = "select :a, ?; select :a, ?".into();
        let asked = Asked::of("c", &text, &[0..12, 14..26], EngineKind::Sqlite).unwrap();
        assert_eq!(asked.fields(), [":a", "?2 of statement 1", "?2 of statement 2"]);
        let values = asked.values(|name| entered(name, Reading::Text));
        assert_eq!(values, [[json!(":a"), json!("?2 of statement 1")], [json!(":a"), json!("?2 of statement 2")]]);
        assert_eq!(Asked::of("c", &text, &[], EngineKind::Sqlite), None);
        assert_eq!(Asked::of("c", &"select 1".into(), std::slice::from_ref(&(0..8)), EngineKind::Sqlite), None);
        assert_eq!(Asked::of("c", &text, std::slice::from_ref(&(0..12)), EngineKind::Mysql).unwrap().fields(), ["?1"]);
        let of_duckdb = Asked::of("c", &"select $a, $b, $A".into(), std::slice::from_ref(&(0..17)), EngineKind::Duckdb).unwrap();
        assert_eq!(of_duckdb.wanted, [["$a", "$b"]]);
    }
}
