//! The catalog in one flight: every question is sent before the first answer comes. What changed since an earlier one takes two:
//! the versions of all schemas, then the contents of those that have another.
//!
//! Invariant: names are never interpolated; the only value is bound, the numbers of the schemas that are asked for. All names are
//! qualified, so no search path changes what is read. The questions of a flight run in one implicit transaction.

mod assemble;

use super::session::bind_texts;
use bytes::BytesMut;
use postgres_protocol::message::frontend;

pub use assemble::Answers;

/// Which of the questions a flight asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// All of them, about everything.
    Whole,
    /// Which schemas there are, and what is in them by name.
    Names,
    /// Which schemas there are, and their versions.
    Versions,
    /// What is in these schemas: their numbers as an array's text.
    Contents(&'a str),
}

/// A question, behind the number by which [`assemble`] knows its rows.
type Question = (usize, &'static str);

const NAMES_OF_SCHEMAS: &[Question] = &[(assemble::DATABASE, DATABASE), (assemble::SEARCH_PATH, SEARCH_PATH), (assemble::SCHEMAS, SCHEMAS)];
const ABOUT_SCHEMAS: &[Question] =
    &[(assemble::DATABASE, DATABASE), (assemble::SEARCH_PATH, SEARCH_PATH), (assemble::SCHEMAS, SCHEMAS), (assemble::VERSIONS, VERSIONS)];
const NAMES: &[Question] = &[(assemble::RELATIONS, RELATIONS)];
const CONTENTS: &[Question] = &[
    (assemble::RELATIONS, RELATIONS),
    (assemble::COLUMNS, COLUMNS),
    (assemble::KEYS, KEYS),
    (assemble::INDEXES, INDEXES),
    (assemble::TRIGGERS, TRIGGERS),
    (assemble::ROUTINES, ROUTINES),
];

impl Part<'_> {
    /// What it asks about schemas, and then about what is in them.
    fn questions(self) -> (&'static [Question], &'static [Question]) {
        match self {
            Self::Whole => (ABOUT_SCHEMAS, CONTENTS),
            Self::Names => (NAMES_OF_SCHEMAS, NAMES),
            Self::Versions => (ABOUT_SCHEMAS, &[]),
            Self::Contents(_) => (&[], CONTENTS),
        }
    }

    /// The numbers of its questions, in the order of their answers.
    pub fn numbers(self) -> Vec<usize> {
        let (about_schemas, contents) = self.questions();
        about_schemas.iter().chain(contents).map(|(number, _)| *number).collect()
    }
}

/// One question after the other.
pub fn write_questions(part: Part<'_>, out: &mut BytesMut) -> std::io::Result<()> {
    let (about_schemas, contents) = part.questions();
    let schemas = if let Part::Contents(schemas) = part { Some(schemas) } else { None };
    for (_, sql) in about_schemas {
        super::session::write_query(sql, out)?;
    }
    for (_, sql) in contents {
        frontend::parse("", sql, [], out)?;
        bind_texts("", &[schemas], out)?;
        frontend::execute("", 0, out)?;
    }
    frontend::sync(out);
    Ok(())
}

const DATABASE: &str = "SELECT pg_catalog.current_database()";

const SEARCH_PATH: &str = "SELECT s FROM pg_catalog.unnest(pg_catalog.current_schemas(true)) WITH ORDINALITY AS a(s, n) ORDER BY n";

/// Temporary schemas of other sessions, and what lies behind long values, are nobody's to browse.
const SCHEMAS: &str = "SELECT n.oid, n.nspname, n.nspname IN ('pg_catalog', 'information_schema'), \
        NOT pg_catalog.has_schema_privilege(n.oid, 'USAGE') \
    FROM pg_catalog.pg_namespace n \
    WHERE n.nspname !~ '^pg_(toast|temp_|toast_temp_)' OR n.oid = pg_catalog.pg_my_temp_schema() \
    ORDER BY n.nspname";

/// A schema's version: how many rows of the catalog say something of it, and the sum of the transactions that wrote them. A new row
/// is of a later transaction than any before, so that the two together never come back to what they were. Of what a foreign key
/// refers to, the name counts as well. Estimated rows are not in it: the server changes them in place. Whether the schema may be used
/// is added to it: a role may come to that by a membership, which changes nothing of the schema.
const VERSIONS: &str = "SELECT v.n, pg_catalog.count(*), pg_catalog.sum(v.x::pg_catalog.text::pg_catalog.int8) FROM ( \
        SELECT n.oid AS n, n.xmin AS x FROM pg_catalog.pg_namespace n \
        UNION ALL SELECT c.relnamespace, c.xmin FROM pg_catalog.pg_class c \
        UNION ALL SELECT c.relnamespace, a.xmin FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid \
            WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attnum > 0 \
        UNION ALL SELECT c.relnamespace, d.xmin FROM pg_catalog.pg_description d JOIN pg_catalog.pg_class c ON c.oid = d.objoid \
            WHERE d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass \
        UNION ALL SELECT k.connamespace, k.xmin FROM pg_catalog.pg_constraint k \
        UNION ALL SELECT k.connamespace, r.xmin FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class r ON r.oid = k.confrelid \
        UNION ALL SELECT k.connamespace, a.xmin FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_attribute a \
            ON a.attrelid = k.confrelid AND a.attnum = ANY (k.confkey) \
        UNION ALL SELECT c.relnamespace, t.xmin FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid \
        UNION ALL SELECT p.pronamespace, p.xmin FROM pg_catalog.pg_proc p \
    ) v GROUP BY v.n";

const RELATIONS: &str = "SELECT c.oid, c.relnamespace, c.relname, c.relkind, \
        CASE WHEN c.reltuples >= 0 AND c.relkind <> 'v' THEN c.reltuples::pg_catalog.int8 END, d.description \
    FROM pg_catalog.pg_class c \
    LEFT JOIN pg_catalog.pg_description d \
        ON d.objoid = c.oid AND d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objsubid = 0 \
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') \
        AND ($1::pg_catalog.oid[] IS NULL OR c.relnamespace = ANY ($1)) ORDER BY c.relname";

const COLUMNS: &str = "SELECT a.attrelid, a.attnum, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull, \
        CASE WHEN a.attgenerated = '' THEN pg_catalog.pg_get_expr(e.adbin, e.adrelid) END, d.description, a.atttypid, a.atttypmod \
    FROM pg_catalog.pg_attribute a \
    JOIN pg_catalog.pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p', 'v', 'm', 'f') \
    LEFT JOIN pg_catalog.pg_attrdef e ON e.adrelid = a.attrelid AND e.adnum = a.attnum \
    LEFT JOIN pg_catalog.pg_description d \
        ON d.objoid = a.attrelid AND d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objsubid = a.attnum \
    WHERE a.attnum > 0 AND NOT a.attisdropped \
        AND ($1::pg_catalog.oid[] IS NULL OR c.relnamespace = ANY ($1)) ORDER BY a.attrelid, a.attnum";

/// A row for each column of a key.
const KEYS: &str = "SELECT k.conrelid, k.contype, k.conname, u.place, u.own, rn.nspname, r.relname, ra.attname \
    FROM pg_catalog.pg_constraint k \
    CROSS JOIN LATERAL ROWS FROM (pg_catalog.unnest(k.conkey), pg_catalog.unnest(k.confkey)) WITH ORDINALITY AS u(own, other, place) \
    LEFT JOIN pg_catalog.pg_class r ON r.oid = k.confrelid \
    LEFT JOIN pg_catalog.pg_namespace rn ON rn.oid = r.relnamespace \
    LEFT JOIN pg_catalog.pg_attribute ra ON ra.attrelid = k.confrelid AND ra.attnum = u.other \
    WHERE k.contype IN ('p', 'f') AND k.conrelid <> 0 \
        AND ($1::pg_catalog.oid[] IS NULL OR k.connamespace = ANY ($1)) ORDER BY k.conrelid, k.conname, u.place";

const INDEXES: &str = "SELECT i.indrelid, c.relname, i.indisunique, i.indkey \
    FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid \
    WHERE $1::pg_catalog.oid[] IS NULL OR c.relnamespace = ANY ($1) ORDER BY i.indrelid, c.relname";

const TRIGGERS: &str = "SELECT t.tgrelid, t.tgname FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid \
    WHERE NOT t.tgisinternal AND ($1::pg_catalog.oid[] IS NULL OR c.relnamespace = ANY ($1)) ORDER BY t.tgrelid, t.tgname";

/// Of the system's own only what a statement can call: nothing that takes or gives `internal` or C strings.
const ROUTINES: &str = "SELECT p.pronamespace, p.proname, pg_catalog.pg_get_function_arguments(p.oid), \
        pg_catalog.pg_get_function_result(p.oid) \
    FROM pg_catalog.pg_proc p \
    WHERE (p.pronamespace <> 'pg_catalog'::pg_catalog.regnamespace \
            OR NOT ARRAY[2281, 2275]::pg_catalog.oid[] && (p.prorettype || p.proargtypes::pg_catalog.oid[])) \
        AND ($1::pg_catalog.oid[] IS NULL OR p.pronamespace = ANY ($1)) ORDER BY p.proname, p.oid";
