//! The same statements through psql and through Sheaf: every cell compared, NULL told from the empty text, for every type there is.

use crate::setting::{connect, target};
use arrow_array::Array;
use backend::engine::Session;
use testing::postgres::{Cluster, clusters};

/// Marks that stand in no value below.
const SEPARATORS: &str = "\\pset fieldsep '\\037'\n\\pset recordsep '\\036'\n\\pset null '\\001'\n";

/// What is made before, in a database of its own.
const MADE: &str = "
    create type colour as enum ('red', 'dark blue', 'ünder\"scored');
    create type pair as (x int, label text);
    create type nested as (one pair, many pair[], at timestamptz);
    create domain positive as int check (value > 0);
    create domain amount as numeric(12,2);
    create domain listed as text[];
    create domain paired as pair;
    create table t (n int, v text); insert into t values (1, 'a b'), (null, null), (3, '');
    create function nothing() returns void language sql as 'select';
";

const EXTENSIONS: &[(&str, &str)] = &[
    ("hstore", "select 'a=>1, \"b c\"=>NULL'::hstore, ''::hstore, null::hstore, array['a=>1']::hstore[]"),
    ("citext", "select 'MiXed'::citext, array['A', null]::citext[]"),
    ("cube", "select '(1,2),(3,4.5)'::cube, '1'::cube"),
    ("ltree", "select 'a.b.c'::ltree, 'a.*{1,2}'::lquery, 'a & b*'::ltxtquery"),
    ("isn", "select '978-0-393-04002-9'::isbn13, '1436-4522'::issn"),
    ("seg", "select '1.5 .. 2.50'::seg, '~6'::seg"),
    ("intarray", "select '1&(2|3)'::query_int"),
    ("uuid-ossp", "select uuid_nil()"),
];

/// Each several rows or columns of one kind.
const STATEMENTS: &[&str] = &[
    "select v::int2 from unnest(array[-32768, 0, null, 32767]) v",
    "select v::int4, v::int8, v::oid from unnest(array[0, null, 2147483647]) v",
    "select v from unnest(array[-9223372036854775808, null, 9223372036854775807]) v",
    "select v::numeric from unnest(array['NaN', '1e-130', '-0.00', '1e300', '123456789012345678901234567890.123456789', null]) v",
    "select v::numeric(38,10), v::numeric(20,0) from unnest(array['0', '-1.5', '9999999999.0000000001', null]) v",
    "select v::numeric(38,10) from unnest(array['NaN', '1']) v",
    "select v::numeric(60,30) from unnest(array['1.5', '-123456789012345678901234567890']) v",
    "select 0.5::numeric(4,4), (-0.0001)::numeric(4,4)",
    "select v::float8 from unnest(array['NaN', 'Infinity', '-Infinity', '-0', '0', '1e-5', '123456789012345680', '5e-324', '0.1', null]) v",
    "select v::float4 from unnest(array['NaN', 'Infinity', '-Infinity', '-0', '0', '1e-5', '16777216', '1e-45', '0.1', null]) v",
    "select v::money from unnest(array['1.5', '-92233720368547758.08', '92233720368547758.07', null]) v",
    "select 'a'::char, 'ab'::char(5), 'ab'::varchar(5), 'ab  '::bpchar, 'x'::\"char\", ''::\"char\", 'n'::name, ''::text, null::text",
    "select e'tab\\there', e'new\\nline', e'\\r', e'quote\"s ''', e'back\\\\slash', 'Grüße 村 🦀', e'\\u200e\\ufeff', repeat('ä', 5000)",
    "select v::bytea from unnest(array['\\x', '\\x00ff5c27', null, '\\x414243']) v",
    "select v::date from unnest(array['infinity', '-infinity', '4713-01-01 BC', '0001-12-31 BC', '0001-01-01', '1582-10-15', '2024-02-29', '5874897-12-31', null]) v",
    "select v::date from unnest(array['0001-01-01', '1582-10-04', '1969-12-31', '2024-02-29', '9999-12-31', null]) v",
    "select v::timestamp from unnest(array['infinity', '-infinity', '4713-01-01 BC', '0001-01-01', '294276-12-31 23:59:59.999999', '2024-01-01 00:00:00.1', null]) v",
    "select v::timestamptz from unnest(array['infinity', '-infinity', '4713-01-02 BC', '1890-01-01 12:00+00', '1945-05-24 02:00+00', '2024-03-31 01:00+00', '2024-10-27 00:30+00', '294276-12-30 23:59:59+00', null]) v",
    "select v::timestamp, v::timestamptz, v::time from unnest(array['0001-01-02 00:00', '1890-01-01 12:00:00.000001', '1945-05-24 02:00', '2024-03-31 01:00', '2024-10-27 00:30', '294246-12-31 23:59:59.5', null]) v",
    "select v::interval from unnest(array['0', '1 year', '-1 year 2 mons -3 days', '-1 day +00:00:01', '00:00:00.000001', '-2562047:47:16.854775', '14 mons -3 days', null]) v",
    "select v::numeric from unnest(array['0.00', '-0.05', '123456789012345678901234567890123456.78', null]) v",
    "select v::numeric from unnest(array['1', '-1e75', null]) v",
    "select v::timestamp(0), v::timestamptz(3) from unnest(array['2024-01-01 10:00:00.123456', null]) v",
    "select v::time, v::time(2) from unnest(array['00:00', '23:59:59.999999', '24:00:00', null]) v",
    "select v::timetz from unnest(array['00:00+15:59', '23:59:59.999999-15:59', '24:00:00+00', '12:00:00+05:30:15', null]) v",
    "select v::interval from unnest(array['0', '1 year', '-1 year 2 mons -3 days', '1 day -00:00:01', '-178000000 years', '00:00:00.000001', '1000000:00:00', null]) v",
    "select '1 day 02:03:04.5'::interval day to minute, '5'::interval year, '1.5'::interval second(1)",
    "select true, false, null::bool, array[true, null]",
    "select v::colour, array[v::colour] from unnest(array['red', 'dark blue', 'ünder\"scored', null]) v",
    "select '(1,2)'::point, '{1,2,3}'::line, '[(0,0),(1,1)]'::lseg, '(3,3),(0,0)'::box, '[(0,0),(1,1)]'::path, '((0,0),(1,1))'::path, '((0,0),(1,0),(1,1))'::polygon, '<(0,0),5>'::circle, '(NaN,-0)'::point, '(1e300,Infinity)'::point",
    "select '192.168.0.1'::inet, '192.168.0.1/24'::inet, '::ffff:1.2.3.4'::inet, '2001:db8::/32'::cidr, '10/8'::cidr, '08:00:2b:01:02:03'::macaddr, '08:00:2b:01:02:03:04:05'::macaddr8",
    "select B'1', B'1010'::bit(4), B''::varbit, B'10101'::varbit(9), null::bit(3)",
    "select 'the:1A quick:2,3B ''it''''s'''::tsvector, ''::tsvector, '!a & (b:*A | c <2> d)'::tsquery",
    "select 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid, null::uuid",
    "select '<?xml version=\"1.0\"?><a b=\"c\">&amp;</a>'::xml, '<a/>text'::xml",
    "select '{\"b\":1,  \"a\" : 1e2, \"a\":null}'::json, ' [1 ,2]'::json, '{\"b\":1,  \"a\" : 1e2, \"a\":null}'::jsonb, '\"\\u00e4\\n\"'::jsonb, '12345678901234567890.10'::jsonb, 'null'::json, null::json, '$.a[*] ? (@ > 1)'::jsonpath",
    "select '{}'::int[], '{NULL}'::int[], '{{1,2},{3,NULL}}'::int[], '{{{1}},{{2}}}'::int8[], '[0:1]={1,2}'::int[], '[-2:-1][3:4]={{1,2},{3,4}}'::text[], array['', null, 'NULL', '{', '\"', '\\', 'a,b', ' '], array[1.50, 'NaN']::numeric[]",
    "select array['2024-01-01']::date[], array[now() - now()], array['\\x00'::bytea], array[row(1,'a')::pair, null], array['(1,1),(0,0)'::box, '(2,2),(1,1)'], array['a'::\"char\"], array[B'1'], array['{\"a\": 1}'::jsonb, null]",
    "select row(1, 'a,b \"c\"')::pair, row(null, null)::pair, null::pair, row(row(1,'x')::pair, array[row(2,null)::pair], '2024-01-01')::nested",
    "select row(), row(1), row(1, row(null, 'x'), array[1,2]), row('')",
    "select t from t order by n",
    "select t.*, t from t order by n",
    "select '[1,10)'::int4range, '(1,)'::int8range, 'empty'::numrange, '[1.5,2.50]'::numrange, '[2024-01-01,)'::daterange, '[2024-01-01 00:00,infinity)'::tsrange, '[2024-01-01,2024-02-01)'::tstzrange, array['[1,2)'::int4range]",
    "select 5::positive, 1.5::amount, '{a,NULL}'::listed, row(1,'a')::paired, null::positive, array[1, 2]::positive[], array[1.5]::amount[]",
    "select 0::oid, 4294967295::oid, 'pg_class'::regclass, 'int4'::regtype, 'now'::regproc, 'sum(int4)'::regprocedure, '+(int4,int4)'::regoperator, 'simple'::regdictionary, 'english'::regconfig, 'pg_catalog'::regnamespace, 'postgres'::regrole, '0'::regclass, '99999'::regtype",
    "select '16/B374D848'::pg_lsn, '0/0'::pg_lsn, '5'::xid, '4294967295'::xid, '0'::cid, '(4294967295,65535)'::tid, '10:20:10,14,15'::txid_snapshot",
    "select 'postgres=arwdDxt/postgres'::aclitem, array['=r/postgres'::aclitem], (select relacl from pg_class where relname = 'pg_class'), 'a cursor'::refcursor",
    "select null, 'unknown', 1 as a, 2 as a, 'x' as \" \", 4 as \"q\"\"q\"",
    "select nothing(), nothing() is null",
    "select typname, typlen, typbyval, typcategory, typdelim, typinput, typdefault, typacl from pg_type order by oid limit 300",
    "select oid, relname, reltuples, relpages, relfrozenxid, relminmxid, reloptions, relacl, relpartbound from pg_class order by oid limit 200",
    "select indkey, indcollation, indclass, indoption, indexprs from pg_index order by indexrelid limit 60",
    "select proname, proargtypes, proallargtypes, proargmodes, proargnames, prosrc, proconfig from pg_proc order by oid limit 400",
    "select * from pg_statistic limit 0",
    "select stxkind, stxkeys from pg_statistic_ext",
    "select histogram_bounds, most_common_vals, most_common_freqs, correlation from pg_stats where schemaname = 'pg_catalog' order by tablename, attname limit 50",
    "select ev_action from pg_rewrite order by oid limit 3",
    "explain select 1",
    "show all",
    "values (1, 'a'), (2, null)",
    "table t",
];

/// Of version 13 and later.
const SINCE_13: &[&str] = &[
    "select v::xid8 from unnest(array['0', '5', '9223372036854775808', '18446744073709551615', null]) v",
    "select '18446744073709551615'::xid8, '10:20:10,14'::pg_snapshot, '\"C\"'::regcollation",
];

/// Of version 14 and later.
const SINCE_14: &[&str] = &[
    "select v::numeric from unnest(array['Infinity', '-Infinity', '1']) v",
    "select '{[1,3),[5,9)}'::int4multirange, '{}'::nummultirange, '{[2024-01-01,2024-01-02)}'::datemultirange, array['{[1,2)}'::int4multirange], '{[2024-01-01 00:00,)}'::tstzmultirange",
];

/// What the session is set to before, in both.
const SETTINGS: &[&str] = &[
    "",
    "set bytea_output = escape",
    "set intervalstyle = postgres_verbose",
    "set intervalstyle = sql_standard",
    "set intervalstyle = iso_8601",
    "set datestyle = 'SQL, DMY'",
    "set datestyle = 'German'",
    "set datestyle = 'Postgres, MDY'",
    "set timezone = 'Asia/Kathmandu'",
    "set timezone = 'America/St_Johns'",
    "set timezone = '+13:45'",
    "set extra_float_digits = 0",
    "set extra_float_digits = -5",
    "set quote_all_identifiers = on",
];

/// Settings that Sheaf's sessions have of their own.
const OWN: [&str; 4] = ["application_name", "client_connection_check_interval", "lock_timeout", "idle_in_transaction_session_timeout"];

/// What psql prints for each statement, in one go.
fn printed(cluster: &Cluster, setting: &str, statements: &[&str]) -> Vec<Vec<Vec<String>>> {
    let statements: String = statements.iter().map(|statement| format!("{statement};\n\\qecho '\\035'\n")).collect();
    let text = cluster.psql("differential", &format!("set extra_float_digits = 3;\n{setting};\n{SEPARATORS}{statements}"));
    let table = |text: &str| {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\u{1e}').unwrap_or(text);
        match text {
            "" => Vec::new(),
            text => text.split('\u{1e}').map(|line| line.split('\u{1f}').map(str::to_owned).collect()).collect(),
        }
    };
    text.split("\u{1d}\n").map(table).collect()
}

async fn shown(session: &mut dyn Session, statement: &str) -> Vec<Vec<String>> {
    let (batch, _) = crate::setting::run(session, statement).await.unwrap_or_else(|error| panic!("{statement}: {error:?}"));
    let batch = batch.unwrap();
    let cell = |row, column| match batch.column(column).is_null(row) {
        true => "\u{1}".to_owned(),
        false => crate::setting::cell(&batch, row, column),
    };
    (0..batch.num_rows()).map(|row| (0..batch.num_columns()).map(|column| cell(row, column)).collect()).collect()
}

#[tokio::test]
async fn every_cell_of_every_type_is_what_psql_prints() {
    for cluster in clusters() {
        cluster.psql("postgres", "drop database if exists differential");
        cluster.psql("postgres", "create database differential");
        cluster.psql("differential", MADE);
        let mut target = target(cluster.port, "postgres");
        target.fields.database = Some("differential".to_owned());
        let mut statements = STATEMENTS.to_vec();
        statements.extend(cluster.is_since(13).then_some(SINCE_13).into_iter().flatten());
        statements.extend(cluster.is_since(14).then_some(SINCE_14).into_iter().flatten());
        for (extension, statement) in EXTENSIONS {
            let known = format!("select count(*) from pg_available_extensions where name = '{extension}'");
            assert_eq!(cluster.psql("differential", &known), "1\n", "{extension}: the server's package brings it");
            cluster.psql("differential", &format!("create extension if not exists \"{extension}\""));
            statements.push(statement);
        }
        let mut wrong = Vec::new();
        let mut cells = 0;
        for setting in SETTINGS {
            let mut session = connect(&target).await.unwrap();
            if !setting.is_empty() {
                crate::setting::run(session.as_mut(), setting).await.unwrap();
            }
            let all = printed(cluster, setting, &statements);
            for (statement, mut theirs) in statements.iter().zip(all) {
                let mut ours = shown(session.as_mut(), statement).await;
                if *statement == "show all" {
                    for rows in [&mut theirs, &mut ours] {
                        rows.retain(|row| !OWN.contains(&row[0].as_str()) && !row[0].starts_with("tcp_"));
                    }
                }
                if theirs.is_empty() && ours.len() == 1 {
                    // psql prints one empty cell as nothing.
                    theirs = vec![vec![String::new()]];
                }
                cells += ours.iter().map(Vec::len).sum::<usize>();
                if theirs != ours {
                    let at = theirs.iter().zip(&ours).position(|(a, b)| a != b);
                    wrong.push(format!(
                        "{setting}: {statement}\n  psql  {:?}\n  sheaf {:?}",
                        at.map(|at| &theirs[at]),
                        at.map(|at| &ours[at])
                    ));
                }
            }
            session.close().await;
        }
        println!("{cells} cells compared");
        assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    }
}
