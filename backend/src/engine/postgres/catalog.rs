//! The catalog in one flight: every question is sent before the first answer comes. What changed since an earlier one takes two:
//! the versions of all schemas, then what is in those that have another.
//!
//! Invariant: names are never interpolated; what is put together are texts of this file, and the only values, the schemas that are asked
//! for, are bound. All names are qualified, so no search path changes what is read. The questions of a flight run in one implicit
//! transaction.

mod assemble;

use super::session::bind_texts;
use crate::engine::catalog::CatalogAsk;
use bytes::BytesMut;
use postgres_protocol::message::frontend;
use shared::limits::CATALOG_RELATIONS_AT_ONCE;

pub use assemble::Answers;

/// Which of the questions a flight asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Which schemas there are, what is in all of them by name, and what is in a person's own if those are small.
    First,
    /// Which schemas there are, and their versions: of all by their names, of a person's own if those are small and of these (their names
    /// as an array's text) as a whole.
    Versions(String),
    /// These schemas, whole: their names as an array's text.
    Of(String),
    /// What is in schemas by name, and what is in schemas whole: their numbers as an array's text.
    Contents(String, String),
}

/// A question: the number by which [`assemble`] knows its rows, its text and the value that is bound to it.
struct Question<'a> {
    number: usize,
    sql: String,
    value: Option<&'a str>,
}

impl Part {
    /// The part that is asked first.
    pub fn of(ask: &CatalogAsk) -> Self {
        match ask {
            CatalogAsk::First => Self::First,
            CatalogAsk::Since(known) => {
                let whole: Vec<String> = known.known.keys().filter(|name| ask.known_whole(name).is_some()).cloned().collect();
                Self::Versions(array(&whole))
            }
            CatalogAsk::Of(schemas) => Self::Of(array(schemas)),
        }
    }

    fn questions(&self) -> Vec<Question<'_>> {
        let plain = |number, sql: String| Question { number, sql, value: None };
        let mut all = Vec::new();
        if !matches!(self, Self::Contents(..)) {
            all.extend([plain(assemble::DATABASE, DATABASE.to_owned()), plain(assemble::SEARCH_PATH, SEARCH_PATH.to_owned())]);
        }
        match self {
            Self::First => {
                let at_once = at_once();
                all.extend([plain(assemble::SCHEMAS, schemas("true")), plain(assemble::NAME_VERSIONS, name_versions())]);
                all.push(plain(assemble::VERSIONS, versions(&at_once, &is_small())));
                all.push(plain(assemble::RELATIONS, RELATIONS.about("true")));
                all.extend(CONTENTS.iter().map(|kind| plain(kind.number, kind.about(&at_once))));
            }
            Self::Versions(whole) => {
                let sql = versions(&format!("{NAMED} OR {}", at_once()), "true");
                all.extend([plain(assemble::SCHEMAS, schemas("true")), plain(assemble::NAME_VERSIONS, name_versions())]);
                all.push(Question { number: assemble::VERSIONS, sql, value: Some(whole) });
            }
            Self::Of(names) => {
                let asked = |number, sql| Question { number, sql, value: Some(names) };
                all.extend([asked(assemble::SCHEMAS, schemas(NAMED)), asked(assemble::VERSIONS, versions(NAMED, "true"))]);
                all.extend(std::iter::once(&RELATIONS).chain(CONTENTS).map(|kind| asked(kind.number, kind.about(NAMED))));
            }
            Self::Contents(named, whole) => {
                let asked = |kind: &Kind, value| Question { number: kind.number, sql: kind.about(NUMBERED), value: Some(value) };
                all.push(asked(&RELATIONS, named.as_str()));
                all.extend(CONTENTS.iter().map(|kind| asked(kind, whole.as_str())));
            }
        }
        all
    }

    /// The numbers of its questions, in the order of their answers.
    pub fn numbers(&self) -> Vec<usize> {
        self.questions().iter().map(|question| question.number).collect()
    }
}

/// One question after the other.
pub fn write_questions(part: &Part, out: &mut BytesMut) -> std::io::Result<()> {
    for question in part.questions() {
        frontend::parse("", &question.sql, [], out)?;
        bind_texts("", question.value.map(Some).as_slice(), out)?;
        frontend::execute("", 0, out)?;
    }
    frontend::sync(out);
    Ok(())
}

/// Names as the text of an array.
fn array(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))).collect();
    format!("{{{}}}", quoted.join(","))
}

const SPACES: &str = "pg_catalog.pg_namespace n";
const NAMED: &str = "n.nspname = ANY ($1::pg_catalog.name[])";
const NUMBERED: &str = "n.oid = ANY ($1::pg_catalog.oid[])";
/// Temporary schemas of other sessions, and what lies behind long values, are nobody's to browse.
const BROWSED: &str = "(n.nspname !~ '^pg_(toast|temp_|toast_temp_)' OR n.oid = pg_catalog.pg_my_temp_schema())";
const SYSTEM: &str = "n.nspname IN ('pg_catalog', 'information_schema')";
const RELATION_KINDS: &str = "('r', 'p', 'v', 'm', 'f')";

/// A schema is a person's own.
fn person() -> String {
    format!("NOT {SYSTEM} AND {BROWSED}")
}

/// A schema is told at once: it is a person's own, and those are small.
fn at_once() -> String {
    format!("({} AND {})", person(), is_small())
}

/// A person's own schemas are so small that they are told at once; see [`crate::engine::catalog::is_small`].
fn is_small() -> String {
    let (own, enough) = (person(), CATALOG_RELATIONS_AT_ONCE + 1);
    format!(
        "(SELECT pg_catalog.count(*) FROM (SELECT FROM pg_catalog.pg_class c JOIN {SPACES} ON n.oid = c.relnamespace \
            WHERE c.relkind IN {RELATION_KINDS} AND {own} LIMIT {enough}) c) < {enough}"
    )
}

fn schemas(which: &str) -> String {
    let is_small = is_small();
    format!(
        "SELECT n.oid, n.nspname, {SYSTEM}, NOT pg_catalog.has_schema_privilege(n.oid, 'USAGE'), {is_small} \
            FROM {SPACES} WHERE {BROWSED} AND {which} ORDER BY n.nspname"
    )
}

/// What there is one question about, whatever the number of schemas: its text up to the condition that says of which, the column with
/// the schema's number, and the order.
struct Kind {
    number: usize,
    sql: &'static str,
    schema: &'static str,
    order: &'static str,
}

impl Kind {
    /// About the schemas `n` for which this is true.
    fn about(&self, which: &str) -> String {
        let Self { sql, schema, order, .. } = self;
        if which == "true" {
            return format!("{sql} ORDER BY {order}");
        }
        format!("{sql} AND {schema} IN (SELECT n.oid FROM {SPACES} WHERE {which}) ORDER BY {order}")
    }
}

const DATABASE: &str = "SELECT pg_catalog.current_database()";

const SEARCH_PATH: &str = "SELECT s FROM pg_catalog.unnest(pg_catalog.current_schemas(true)) WITH ORDINALITY AS a(s, n) ORDER BY n";

/// A schema's version: how many rows of the catalog say something of it, and the sum of the transactions that wrote them. A new row
/// is of a later transaction than any before, so that the two together never come back to what they were. Of what a foreign key
/// refers to, the name counts as well. Estimated rows are not in it: the server changes them in place. Whether the schema may be used
/// is added to it: a role may come to that by a membership, which changes nothing of the schema.
/// `OFFSET 0` has the server look up the columns of the tables in question, and not go over those of all tables there are.
fn versions(which: &str, if_at_all: &str) -> String {
    format!(
        "{SUMS} ({OF_NAMES} \
            UNION ALL SELECT c.relnamespace, a.xmin FROM pg_catalog.pg_class c CROSS JOIN LATERAL ( \
                SELECT a.xmin FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 OFFSET 0) a \
                WHERE c.relkind IN {RELATION_KINDS} \
            UNION ALL SELECT c.relnamespace, d.xmin FROM pg_catalog.pg_description d JOIN pg_catalog.pg_class c ON c.oid = d.objoid \
                WHERE d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objsubid <> 0 \
            UNION ALL SELECT k.connamespace, k.xmin FROM pg_catalog.pg_constraint k \
            UNION ALL SELECT k.connamespace, r.xmin FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class r ON r.oid = k.confrelid \
            UNION ALL SELECT k.connamespace, a.xmin FROM pg_catalog.pg_constraint k CROSS JOIN LATERAL ( \
                SELECT a.xmin FROM pg_catalog.pg_attribute a WHERE a.attrelid = k.confrelid AND a.attnum = ANY (k.confkey) OFFSET 0) a \
                WHERE k.contype = 'f' \
            UNION ALL SELECT c.relnamespace, t.xmin FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid \
            UNION ALL SELECT p.pronamespace, p.xmin FROM pg_catalog.pg_proc p \
        ) v WHERE {if_at_all} AND v.n = ANY (ARRAY(SELECT n.oid FROM {SPACES} WHERE {which})) GROUP BY v.n"
    )
}

/// The same of what a schema is told by where it is not told whole.
fn name_versions() -> String {
    format!("{SUMS} ({OF_NAMES}) v GROUP BY v.n")
}

const SUMS: &str = "SELECT v.n, pg_catalog.count(*), pg_catalog.sum(v.x::pg_catalog.text::pg_catalog.int8) FROM";

const OF_NAMES: &str = "SELECT n.oid AS n, n.xmin AS x FROM pg_catalog.pg_namespace n \
    UNION ALL SELECT c.relnamespace, c.xmin FROM pg_catalog.pg_class c \
    UNION ALL SELECT c.relnamespace, d.xmin FROM pg_catalog.pg_description d JOIN pg_catalog.pg_class c ON c.oid = d.objoid \
        WHERE d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objsubid = 0";

const RELATIONS: Kind = Kind {
    number: assemble::RELATIONS,
    sql: "SELECT c.oid, c.relnamespace, c.relname, c.relkind, \
            CASE WHEN c.reltuples >= 0 AND c.relkind <> 'v' THEN c.reltuples::pg_catalog.int8 END, d.description \
        FROM pg_catalog.pg_class c \
        LEFT JOIN pg_catalog.pg_description d \
            ON d.objoid = c.oid AND d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objsubid = 0 \
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')",
    schema: "c.relnamespace",
    order: "c.relname",
};

const CONTENTS: &[Kind] = &[COLUMNS, KEYS, INDEXES, TRIGGERS, ROUTINES];

const COLUMNS: Kind = Kind {
    number: assemble::COLUMNS,
    sql: "SELECT a.attrelid, a.attnum, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull, \
            CASE WHEN a.attgenerated = '' THEN pg_catalog.pg_get_expr(e.adbin, e.adrelid) END, d.description, a.atttypid, a.atttypmod \
        FROM pg_catalog.pg_attribute a \
        JOIN pg_catalog.pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p', 'v', 'm', 'f') \
        LEFT JOIN pg_catalog.pg_attrdef e ON e.adrelid = a.attrelid AND e.adnum = a.attnum \
        LEFT JOIN pg_catalog.pg_description d \
            ON d.objoid = a.attrelid AND d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objsubid = a.attnum \
        WHERE a.attnum > 0 AND NOT a.attisdropped",
    schema: "c.relnamespace",
    order: "a.attrelid, a.attnum",
};

/// A row for each column of a key.
const KEYS: Kind = Kind {
    number: assemble::KEYS,
    sql: "SELECT k.conrelid, k.contype, k.conname, u.place, u.own, rn.nspname, r.relname, ra.attname \
        FROM pg_catalog.pg_constraint k \
        CROSS JOIN LATERAL ROWS FROM (pg_catalog.unnest(k.conkey), pg_catalog.unnest(k.confkey)) WITH ORDINALITY AS u(own, other, place) \
        LEFT JOIN pg_catalog.pg_class r ON r.oid = k.confrelid \
        LEFT JOIN pg_catalog.pg_namespace rn ON rn.oid = r.relnamespace \
        LEFT JOIN pg_catalog.pg_attribute ra ON ra.attrelid = k.confrelid AND ra.attnum = u.other \
        WHERE k.contype IN ('p', 'f') AND k.conrelid <> 0",
    schema: "k.connamespace",
    order: "k.conrelid, k.conname, u.place",
};

const INDEXES: Kind = Kind {
    number: assemble::INDEXES,
    sql: "SELECT i.indrelid, c.relname, i.indisunique, i.indkey \
        FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid WHERE true",
    schema: "c.relnamespace",
    order: "i.indrelid, c.relname",
};

const TRIGGERS: Kind = Kind {
    number: assemble::TRIGGERS,
    sql: "SELECT t.tgrelid, t.tgname FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid \
        WHERE NOT t.tgisinternal",
    schema: "c.relnamespace",
    order: "t.tgrelid, t.tgname",
};

/// Of the system's own only what a statement can call: nothing that takes or gives `internal` or C strings.
const ROUTINES: Kind = Kind {
    number: assemble::ROUTINES,
    sql: "SELECT p.pronamespace, p.proname, pg_catalog.pg_get_function_arguments(p.oid), pg_catalog.pg_get_function_result(p.oid) \
        FROM pg_catalog.pg_proc p \
        WHERE (p.pronamespace <> 'pg_catalog'::pg_catalog.regnamespace \
            OR NOT ARRAY[2281, 2275]::pg_catalog.oid[] && (p.prorettype || p.proargtypes::pg_catalog.oid[]))",
    schema: "p.pronamespace",
    order: "p.proname, p.oid",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_an_arrays_text_whatever_is_in_them() {
        let names = ["a", "", "o'hara", "quo\"te", "back\\slash", "{a,b}", "NULL"].map(str::to_owned);
        assert_eq!(array(&names), r#"{"a","","o'hara","quo\"te","back\\slash","{a,b}","NULL"}"#);
        assert_eq!(array(&[]), "{}");
    }

    #[test]
    fn one_question_is_asked_of_each_kind() {
        for part in [Part::First, Part::Of("{}".to_owned()), Part::Contents("{}".to_owned(), "{}".to_owned())] {
            let numbers = part.numbers();
            assert!(numbers.iter().enumerate().all(|(at, number)| !numbers[..at].contains(number)));
            assert!(numbers.ends_with(&[
                assemble::RELATIONS,
                assemble::COLUMNS,
                assemble::KEYS,
                assemble::INDEXES,
                assemble::TRIGGERS,
                assemble::ROUTINES
            ]));
        }
    }
}
