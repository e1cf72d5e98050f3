//! The catalog in one flight: every question is sent before the first answer comes.
//!
//! Invariant: nothing is interpolated or bound; all names are qualified, so no search path changes what is read. The questions run
//! in one implicit transaction.

mod assemble;

use bytes::BytesMut;
use postgres_protocol::message::frontend;

pub use assemble::Answers;

/// One question after the other; their order is the order of [`assemble::Question`].
pub fn write_questions(out: &mut BytesMut) -> std::io::Result<()> {
    for sql in [DATABASE, SEARCH_PATH, SCHEMAS, RELATIONS, COLUMNS, KEYS, INDEXES, TRIGGERS, ROUTINES] {
        super::session::write_query(sql, out)?;
    }
    frontend::sync(out);
    Ok(())
}

const DATABASE: &str = "SELECT pg_catalog.current_database()";

const SEARCH_PATH: &str = "SELECT s FROM pg_catalog.unnest(pg_catalog.current_schemas(true)) WITH ORDINALITY AS a(s, n) ORDER BY n";

/// Temporary schemas of other sessions, and what lies behind long values, are nobody's to browse.
const SCHEMAS: &str = "SELECT n.oid, n.nspname, n.nspname IN ('pg_catalog', 'information_schema') \
    FROM pg_catalog.pg_namespace n \
    WHERE n.nspname !~ '^pg_(toast|temp_|toast_temp_)' OR n.oid = pg_catalog.pg_my_temp_schema() \
    ORDER BY n.nspname";

const RELATIONS: &str = "SELECT c.oid, c.relnamespace, c.relname, c.relkind, \
        CASE WHEN c.reltuples >= 0 AND c.relkind <> 'v' THEN c.reltuples::pg_catalog.int8 END, d.description \
    FROM pg_catalog.pg_class c \
    LEFT JOIN pg_catalog.pg_description d \
        ON d.objoid = c.oid AND d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objsubid = 0 \
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY c.relname";

const COLUMNS: &str = "SELECT a.attrelid, a.attnum, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull, \
        CASE WHEN a.attgenerated = '' THEN pg_catalog.pg_get_expr(e.adbin, e.adrelid) END, d.description, a.atttypid, a.atttypmod \
    FROM pg_catalog.pg_attribute a \
    JOIN pg_catalog.pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p', 'v', 'm', 'f') \
    LEFT JOIN pg_catalog.pg_attrdef e ON e.adrelid = a.attrelid AND e.adnum = a.attnum \
    LEFT JOIN pg_catalog.pg_description d \
        ON d.objoid = a.attrelid AND d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objsubid = a.attnum \
    WHERE a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attrelid, a.attnum";

const KEYS: &str = "SELECT k.conrelid, k.contype, k.conkey, k.confrelid, k.confkey \
    FROM pg_catalog.pg_constraint k WHERE k.contype IN ('p', 'f') AND k.conrelid <> 0 ORDER BY k.conrelid, k.conname";

const INDEXES: &str = "SELECT i.indrelid, c.relname, i.indisunique, i.indkey \
    FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid ORDER BY i.indrelid, c.relname";

const TRIGGERS: &str = "SELECT t.tgrelid, t.tgname FROM pg_catalog.pg_trigger t WHERE NOT t.tgisinternal ORDER BY t.tgrelid, t.tgname";

/// Of the system's own only what a statement can call: nothing that takes or gives `internal` or C strings.
const ROUTINES: &str = "SELECT p.pronamespace, p.proname, pg_catalog.pg_get_function_arguments(p.oid), \
        pg_catalog.pg_get_function_result(p.oid) \
    FROM pg_catalog.pg_proc p \
    WHERE p.pronamespace <> 'pg_catalog'::pg_catalog.regnamespace \
        OR NOT ARRAY[2281, 2275]::pg_catalog.oid[] && (p.prorettype || p.proargtypes::pg_catalog.oid[]) \
    ORDER BY p.proname, p.oid";
