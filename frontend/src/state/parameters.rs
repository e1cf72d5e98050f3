//! Values for parameters: what a person entered for them, and what of it is sent. Pure.

use serde_json::Value;
use shared::problem::{ErrorCode, Problem};
use shared::sql::{parameter_places, parameters};
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
    /// The statements it was entered for.
    pub of: Arc<str>,
}

impl Entered {
    /// The same for these statements: a text is likely meant again, NULL is not.
    pub fn again(self, of: &Arc<str>) -> Self {
        let is_other = self.reading == Reading::Null && self.of != *of;
        Self { reading: if is_other { Reading::AsTyped } else { self.reading }, of: of.clone(), ..self }
    }

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
    /// The value that the database refused, where it was asked before.
    pub refused: Option<Refused>,
}

/// A value that the database refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The field of the form.
    pub field: String,
    /// The database's sentence.
    pub message: String,
}

/// A piece of a statement as the form shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text, on one line.
    Text(String),
    /// A parameter: as it is written, and the field that it is asked for in.
    Parameter(String, String),
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
            refused: None,
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

    /// The text of a statement.
    fn sql(&self, statement: usize) -> &str {
        self.statements.get(statement).and_then(|range| self.text.get(range.clone())).unwrap_or_default()
    }

    /// All that values are asked for, as one text.
    pub fn asking(&self) -> Arc<str> {
        let asking = (0..self.wanted.len()).filter(|at| self.wanted.get(*at).is_some_and(|names| !names.is_empty()));
        asking.map(|at| self.sql(at)).collect::<Vec<_>>().join(";\n").into()
    }

    /// The statements that ask for values, on a line each, with their parameters apart.
    pub fn lines(&self) -> Vec<Vec<Piece>> {
        let asking = self.wanted.iter().enumerate().filter(|(_, names)| !names.is_empty());
        asking.map(|(at, names)| pieces(self.sql(at), names, self.engine)).collect()
    }

    /// What each field waits for, by what the statements tell of their values (`hints_of` is asked for each).
    pub fn hints(&self, hints_of: impl Fn(&str) -> Vec<Option<String>>) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        for (at, names) in self.wanted.iter().enumerate().filter(|(_, names)| !names.is_empty()) {
            for (name, hint) in names.iter().zip(hints_of(self.sql(at))) {
                if let Some(hint) = hint.filter(|_| found.iter().all(|(known, _)| known != name)) {
                    found.push((name.clone(), hint));
                }
            }
        }
        found
    }

    /// Which value a statement was refused for, where the database tells.
    pub fn refused(&self, statement: usize, problem: &Problem, entered: impl Fn(&str) -> Entered) -> Option<Refused> {
        if problem.code != ErrorCode::Rejected {
            return None;
        }
        let names = self.wanted.get(statement)?;
        let field = numbered(problem).and_then(|number| names.get(number.checked_sub(1)?)).or_else(|| quoted(problem, names, entered))?;
        Some(Refused { field: field.clone(), message: problem.message.clone() })
    }

    /// The values of each statement.
    pub fn values(&self, entered: impl Fn(&str) -> Entered) -> Vec<Vec<Value>> {
        self.wanted.iter().map(|names| names.iter().map(|name| entered(name).value(self.engine)).collect()).collect()
    }
}

/// PostgreSQL names the parameter: `parameter $2`.
fn numbered(problem: &Problem) -> Option<usize> {
    let (_, behind) = problem.detail.as_deref()?.split_once("parameter $")?;
    let digits = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
    behind.get(..digits)?.parse().ok()
}

/// The others quote the value that they could not read; it is known if one field alone has it.
fn quoted<'a>(problem: &Problem, names: &'a [String], entered: impl Fn(&str) -> Entered) -> Option<&'a String> {
    let is_of_value = ["Conversion Error", "Incorrect ", "Truncated incorrect "].iter().any(|words| problem.message.contains(words));
    let is_named = |name: &&String| {
        let text = entered(name).text;
        is_of_value && !text.is_empty() && ['\'', '"'].iter().any(|mark| problem.message.contains(&format!("{mark}{text}{mark}")))
    };
    let mut named = names.iter().filter(is_named);
    named.next().filter(|_| named.next().is_none())
}

fn pieces(sql: &str, names: &[String], engine: EngineKind) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut done = 0;
    for (place, value) in parameter_places(sql, engine) {
        pieces.extend(sql.get(done..place.start).map(one_line).map(Piece::Text));
        if let (Some(written), Some(name)) = (sql.get(place.clone()), names.get(value)) {
            pieces.push(Piece::Parameter(written.to_owned(), name.clone()));
        }
        done = place.end;
    }
    pieces.extend(sql.get(done..).map(one_line).map(Piece::Text));
    pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
    pieces
}

/// Each run of white space is one blank.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_whitespace() {
            true if line.ends_with(' ') => {}
            true => line.push(' '),
            false => line.push(c),
        }
    }
    line
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
        Entered { text: text.to_owned(), reading, ..Entered::default() }
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
    fn a_text_is_offered_again_and_null_only_for_the_same_statements() {
        let (here, there): (Arc<str>, Arc<str>) = ("select $1".into(), "select $1 + 1".into());
        let null = Entered { of: here.clone(), ..entered("4", Reading::Null) };
        assert_eq!(null.clone().again(&here), null);
        assert_eq!(null.again(&there), Entered { of: there.clone(), ..entered("4", Reading::AsTyped) });
        assert_eq!(entered("4", Reading::Text).again(&there).reading, Reading::Text);
    }

    #[test]
    fn statements_are_shown_on_a_line_with_their_parameters_apart() {
        let text: Arc<str> = "select 1; select ?,\n  :b\nfrom t".into();
        let asked = Asked::of("c", &text, &[0..8, 10..31], EngineKind::Sqlite).unwrap();
        let text = |text: &str| Piece::Text(text.to_owned());
        let parameter = |written: &str, name: &str| Piece::Parameter(written.to_owned(), name.to_owned());
        let line = vec![text("select "), parameter("?", "?1 of statement 2"), text(", "), parameter(":b", ":b"), text(" from t")];
        assert_eq!(asked.lines(), [line]);
        assert_eq!(asked.asking().as_ref(), "select ?,\n  :b\nfrom t");
        let hints = asked.hints(|_| vec![Some("int".to_owned()), None]);
        assert_eq!(hints, [("?1 of statement 2".to_owned(), "int".to_owned())]);
    }

    #[test]
    fn a_refused_value_is_found_where_the_database_tells_which() {
        let asked = Asked::of("c", &"select $1::int, $2".into(), std::slice::from_ref(&(0..18)), EngineKind::Postgres).unwrap();
        let problem = |message: &str, detail: Option<&str>| Problem {
            detail: detail.map(str::to_owned),
            ..Problem::new(ErrorCode::Rejected, message)
        };
        let refused = |problem: &Problem, texts: [&'static str; 2]| {
            let entered = |name: &str| entered(if name == "$1" { texts[0] } else { texts[1] }, Reading::AsTyped);
            asked.refused(0, problem, entered).map(|refused| refused.field)
        };
        let of_postgres = problem("invalid input syntax for type integer: \"x\"", Some("CONTEXT: parameter $2"));
        assert_eq!(refused(&of_postgres, ["x", "x"]).as_deref(), Some("$2"));
        let of_duckdb = problem("Conversion Error: Could not convert string 'x' to INT32", None);
        assert_eq!(refused(&of_duckdb, ["x", "y"]).as_deref(), Some("$1"));
        assert_eq!(refused(&of_duckdb, ["x", "x"]), None);
        assert_eq!(refused(&problem("no such table: 'x'", None), ["x", "y"]), None);
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
