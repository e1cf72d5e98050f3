//! The catalog: everything in one round trip.

use crate::setting::{connect, run, session, target};
use shared::wire::catalog::{Catalog, Relation, RelationKind, Schema};
use std::time::Duration;
use testing::postgres::clusters;
use testing::relay::Relay;

fn schema<'a>(catalog: &'a Catalog, name: &str) -> &'a Schema {
    catalog.schemas.iter().find(|schema| schema.name == name).unwrap()
}

fn relation<'a>(schema: &'a Schema, name: &str) -> &'a Relation {
    schema.relations.iter().find(|relation| relation.name == name).unwrap()
}

const SHOP: &str = "drop schema if exists shop cascade; create schema shop; set search_path = shop;
create table customers (id bigint primary key, name varchar(40) not null default 'niemand', gone int, born timestamptz(3));
alter table customers drop column gone;
comment on table customers is 'Who buys'; comment on column customers.name is 'As on the bill';
create table orders (customer bigint references customers, line int, total numeric(12,2), doubled numeric generated always as (total * 2) stored,
    primary key (line, customer));
create table notes (a int, b bigint, foreign key (a, b) references orders (line, customer));
create unique index by_name on customers (lower(name), id);
create view names as select name from customers;
create materialized view names_kept as select name from customers;
create function shout(word text, times int = 1) returns text language sql as 'select $1';
create procedure tidy() language sql as 'select 1';
create function on_change() returns trigger language plpgsql as 'begin return new; end';
create trigger changed before update on customers for each row execute function on_change();
create table parts (n int) partition by range (n); create table parts_1 partition of parts for values from (0) to (10);
analyze customers;";

#[tokio::test]
async fn names_types_and_keys_come_in_one_round_trip() {
    for cluster in clusters() {
        cluster.psql("postgres", SHOP);
        let relay = Relay::start(cluster.port, Duration::ZERO).await;
        let mut session = connect(&target(relay.port, "postgres")).await.unwrap();
        run(session.as_mut(), "set search_path = shop, public").await.unwrap();
        relay.passed();
        let catalog = session.catalog().await.unwrap();
        assert_eq!(relay.passed().flights, 1);
        assert_eq!(catalog.database, "postgres");
        assert_eq!(catalog.search_path, ["pg_catalog", "shop", "public"]);
        let shop = schema(&catalog, "shop");
        assert!(!shop.system && schema(&catalog, "pg_catalog").system && schema(&catalog, "information_schema").system);
        let names: Vec<(&str, RelationKind)> = shop.relations.iter().map(|relation| (relation.name.as_str(), relation.kind)).collect();
        let table = RelationKind::Table;
        assert_eq!(
            names,
            [
                ("customers", table),
                ("names", RelationKind::View),
                ("names_kept", RelationKind::MaterializedView),
                ("notes", table),
                ("orders", table),
                ("parts", table),
                ("parts_1", table),
            ]
        );
        let customers = relation(shop, "customers");
        assert_eq!((customers.comment.as_deref(), customers.estimated_rows), (Some("Who buys"), Some(0)));
        let columns: Vec<_> =
            customers.columns.iter().map(|c| (c.name.as_str(), c.type_name.as_str(), c.not_null, c.primary_key)).collect();
        assert_eq!(columns, [("id", "int8", true, 1), ("name", "varchar(40)", true, 0), ("born", "timestamptz(3)", false, 0)]);
        assert_eq!(customers.columns[1].default.as_deref(), Some("'niemand'::character varying"));
        assert_eq!(customers.columns[1].comment.as_deref(), Some("As on the bill"));
        let indexes: Vec<_> = customers.indexes.iter().map(|i| (i.name.as_str(), i.columns.join(","), i.unique)).collect();
        assert_eq!(indexes, [("by_name", ",id".to_owned(), true), ("customers_pkey", "id".to_owned(), true)]);
        assert_eq!(customers.triggers, ["changed"]);
        let orders = relation(shop, "orders");
        assert_eq!([orders.columns[0].primary_key, orders.columns[1].primary_key], [2, 1]);
        assert_eq!(orders.columns[3].default, None, "a generated column has no default");
        let key = &relation(shop, "notes").foreign_keys[0];
        assert_eq!(
            (key.columns.join(","), key.ref_relation.as_str(), key.ref_columns.join(",")),
            ("a,b".into(), "orders", "line,customer".into())
        );
        let routines: Vec<_> = shop.routines.iter().map(|r| (r.name.as_str(), r.arguments.as_str(), r.returns.as_str())).collect();
        assert_eq!(routines, [("on_change", "", "trigger"), ("shout", "word text, times integer DEFAULT 1", "text"), ("tidy", "", "")]);
        // The system's own by its names, and whole for whoever asks.
        let system = schema(&catalog, "pg_catalog");
        assert!(system.partial && system.routines.is_empty() && relation(system, "pg_class").columns.is_empty() && !shop.partial);
        let asked = session.catalog_of(&["pg_catalog", "of nobody"]).await.unwrap();
        assert_eq!(relay.passed().flights, 1);
        let [system] = asked.schemas.as_slice() else { panic!("{asked:?}") };
        assert!(!system.partial && system.routines.iter().any(|routine| routine.name == "generate_series"));
        assert!(relation(system, "pg_class").columns.iter().any(|column| column.name == "relname"));
    }
}

#[tokio::test]
async fn a_change_is_found_by_its_version_and_only_its_schema_is_read() {
    for cluster in clusters() {
        cluster.psql("postgres", "drop database if exists changing");
        cluster.psql("postgres", "create database changing");
        let two = "create schema a; create table a.t (id int primary key, name text); create schema b; create table b.u (t int references a.t, note text);
            create function b.f() returns int language sql as 'select 1'";
        cluster.psql("changing", two);
        let relay = Relay::start(cluster.port, Duration::ZERO).await;
        let mut target = target(relay.port, "postgres");
        target.fields.database = Some("changing".to_owned());
        let mut session = connect(&target).await.unwrap();
        let mut catalog = session.catalog().await.unwrap();
        relay.passed();
        let same = session.catalog_since(&catalog.known()).await.unwrap();
        let passed = relay.passed();
        assert!(same.is_unchanged(&catalog), "{same:?}");
        assert!(passed.flights == 1 && passed.to_client < 4_000, "{passed:?}");
        // Each changes what the catalog tells of exactly these schemas.
        for (change, schemas) in [
            ("create table b.v (x int)", &["b"][..]),
            ("drop table b.v", &["b"]),
            ("alter table b.u add extra int", &["b"]),
            ("alter table b.u rename extra to further", &["b"]),
            ("alter table b.u drop further", &["b"]),
            ("alter table b.u alter note set not null", &["b"]),
            ("alter table b.u alter note set default 'x'", &["b"]),
            ("comment on column b.u.note is 'words'", &["b"]),
            ("create index on b.u (note)", &["b"]),
            ("create or replace function b.f() returns int language sql as 'select 2'", &["b"]),
            ("drop function b.f()", &["b"]),
            ("alter table a.t rename name to called", &["a"]),
            ("alter table a.t rename id to number", &["a", "b"]),
            ("alter table a.t rename to tt", &["a", "b"]),
            ("create schema c", &["c"]),
        ] {
            cluster.psql("changing", change);
            let mut news = session.catalog_since(&catalog.known()).await.unwrap();
            let changed: Vec<&str> = news.schemas.iter().filter(|schema| !schema.unchanged).map(|schema| schema.name.as_str()).collect();
            assert_eq!(changed, schemas, "{change}");
            assert!(news.take_over(catalog), "{change}");
            assert_eq!(news, session.catalog().await.unwrap(), "{change}");
            let same = schemas.first().map(|name| schema(&news, name).clone());
            assert_eq!(session.catalog_of(&schemas[..1]).await.unwrap().schemas, Vec::from_iter(same), "{change}");
            catalog = news;
        }
        relay.passed();
        cluster.psql("changing", "drop schema c");
        let news = session.catalog_since(&catalog.known()).await.unwrap();
        assert!(!news.is_unchanged(&catalog) && news.schemas.iter().all(|schema| schema.unchanged));
    }
}

#[tokio::test]
async fn b05_a_right_to_a_schema_that_comes_or_goes_is_a_change_of_it() {
    for cluster in clusters() {
        cluster.psql("postgres", "drop database if exists rights");
        cluster.psql("postgres", "drop role if exists reader; drop role if exists readers; create role readers; create role reader login");
        cluster.psql("postgres", "create database rights");
        cluster.psql(
            "rights",
            "create schema closed; create table closed.t (n int); create schema other; grant usage on schema other to reader",
        );
        let relay = Relay::start(cluster.port, Duration::ZERO).await;
        let mut target = target(relay.port, "reader");
        target.fields.database = Some("rights".to_owned());
        let mut session = connect(&target).await.unwrap();
        relay.passed();
        let mut catalog = session.catalog().await.unwrap();
        assert_eq!(relay.passed().flights, 1);
        let denied = |catalog: &Catalog| schema(catalog, "closed").denied;
        assert!(denied(&catalog) && !schema(&catalog, "other").denied);
        for (change, is_denied) in [
            ("grant usage on schema closed to reader", false),
            ("revoke usage on schema closed from reader", true),
            ("grant usage on schema closed to readers", true),
            // Nothing of the schema changes with this, and yet it may be used now.
            ("grant readers to reader", false),
            ("revoke readers from reader", true),
        ] {
            cluster.psql("rights", change);
            let mut news = session.catalog_since(&catalog.known()).await.unwrap();
            let changed: Vec<&str> = news.schemas.iter().filter(|schema| !schema.unchanged).map(|schema| schema.name.as_str()).collect();
            assert_eq!(changed, ["closed"], "{change}");
            assert!(news.take_over(catalog), "{change}");
            assert_eq!(denied(&news), is_denied, "{change}");
            catalog = news;
        }
        session.close().await;
    }
}

#[tokio::test]
async fn a_large_database_is_told_by_its_names_and_a_schema_of_it_whole_when_it_is_asked_for() {
    for cluster in clusters() {
        cluster.psql("postgres", "drop database if exists large");
        cluster.psql("postgres", "create database large");
        let make = "do $$ begin for t in 1..1200 loop
            execute format('create table t%s (id int primary key, parent int references t%s, a text, b numeric(9,2), c date, d jsonb)', t, greatest(t - 1, 1));
            if t % 400 = 0 then commit; end if; end loop; end $$";
        cluster.psql("large", make);
        cluster.psql("large", "create schema apart; create table apart.few (id int primary key); create function apart.f() returns int language sql as 'select 1'");
        let relay = Relay::start(cluster.port, Duration::ZERO).await;
        let mut target = target(relay.port, "postgres");
        target.fields.database = Some("large".to_owned());
        let mut session = connect(&target).await.unwrap();
        relay.passed();
        let mut catalog = session.catalog().await.unwrap();
        let of_names = relay.passed();
        assert!(catalog.schemas.iter().all(|schema| schema.partial && schema.routines.is_empty()));
        let public = schema(&catalog, "public");
        assert_eq!(public.relations.len(), 1_200);
        assert!(public.relations.iter().all(|relation| relation.columns.is_empty() && relation.indexes.is_empty()));
        assert!(of_names.flights == 1 && of_names.to_client < 150_000, "{of_names:?}");
        // Only what was asked for moves.
        let apart = session.catalog_of(&["apart"]).await.unwrap();
        let of_apart = relay.passed();
        assert!(of_apart.flights == 1 && of_apart.to_client < 4_000, "{of_apart:?}");
        assert_eq!((apart.schemas.len(), apart.schemas[0].routines.len()), (1, 1));
        catalog.put_in(&["apart".to_owned()], apart);
        assert_eq!(relation(schema(&catalog, "apart"), "few").columns[0].primary_key, 1);
        let public = session.catalog_of(&["public"]).await.unwrap();
        let all = &schema(&public, "public").relations;
        assert!(all.len() == 1_200 && all.iter().all(|relation| relation.columns.len() == 6 && relation.foreign_keys.len() == 1));
        // What was told by its names is told so again when it has changed, what was told whole is told whole.
        relay.passed();
        let same = session.catalog_since(&catalog.known()).await.unwrap();
        assert!(same.is_unchanged(&catalog) && relay.passed().to_client < 4_000);
        cluster.psql("large", "alter table apart.few add note text; create table t0 (id int)");
        let mut news = session.catalog_since(&catalog.known()).await.unwrap();
        let told: Vec<_> =
            news.schemas.iter().filter(|schema| !schema.unchanged).map(|schema| (schema.name.as_str(), schema.partial)).collect();
        assert_eq!(told, [("apart", false), ("public", true)]);
        assert!(news.take_over(catalog));
        assert_eq!((relation(schema(&news, "apart"), "few").columns.len(), schema(&news, "public").relations.len()), (2, 1_201));
        assert!(schema(&news, "pg_catalog").partial && !schema(&news, "pg_catalog").relations.is_empty());
        session.close().await;
    }
}

#[tokio::test]
async fn a_catalog_in_a_failed_transaction_is_refused_and_leaves_the_session_as_it_was() {
    for cluster in clusters() {
        let mut session = session(cluster).await;
        run(session.as_mut(), "begin").await.unwrap();
        run(session.as_mut(), "select 1/0").await.unwrap_err();
        let error = session.catalog().await.unwrap_err();
        assert_eq!(error.problem.sqlstate.as_deref(), Some("25P02"));
        run(session.as_mut(), "rollback").await.unwrap();
        assert!(!session.catalog().await.unwrap().schemas.is_empty());
    }
}

#[tokio::test]
async fn names_of_every_kind_are_listed_and_can_be_read() {
    let long = "ä".repeat(31) + "x";
    let names =
        ["quo\"te", "apo'strophe", "emo🦀ji", "with space", "Ünïcode", "select", long.as_str(), "semi;colon", "per.iod", "back\\slash"];
    assert_eq!(long.len(), 63);
    for cluster in clusters() {
        cluster.psql("postgres", "drop database if exists named");
        cluster.psql("postgres", "create database named");
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        for name in names {
            let name = quoted(name);
            cluster.psql(
                "named",
                &format!("create schema {name}; create table {name}.{name} ({name} int primary key); insert into {name}.{name} values (5)"),
            );
        }
        let mut target = target(cluster.port, "postgres");
        target.fields.database = Some("named".to_owned());
        let mut session = connect(&target).await.unwrap();
        let catalog = session.catalog().await.unwrap();
        for name in names {
            let asked = session.catalog_of(&[name]).await.unwrap();
            assert_eq!(asked.schemas, [schema(&catalog, name).clone()]);
            let relation = relation(schema(&catalog, name), name);
            assert_eq!((relation.columns[0].name.as_str(), relation.columns[0].primary_key), (name, 1));
            let written = quoted(name);
            let batch = run(session.as_mut(), &format!("select {written} from {written}.{written}")).await.unwrap().0.unwrap();
            assert_eq!(batch.schema_ref().field(0).name(), name);
            assert_eq!(batch.schema_ref().field(0).metadata()["sheaf.origin"], format!("{name}.{name}.{name}"));
        }
        session.close().await;
    }
}

#[tokio::test]
async fn a11_a13_same_named_tables_and_an_apostrophe_cost_no_question_more() {
    for cluster in clusters() {
        cluster.psql("postgres", "drop database if exists same");
        cluster.psql("postgres", "create database same");
        let make = "do $$ begin for n in 1..300 loop execute format('create schema n%s', n); execute format('create table n%s.bugreport (a%s int)', n, n);
            if n % 50 = 0 then commit; end if; end loop; end $$";
        cluster.psql("same", make);
        cluster.psql("same", "create schema \"o'hara\"; create table \"o'hara\".t (id int)");
        let relay = Relay::start(cluster.port, Duration::ZERO).await;
        let mut target = target(relay.port, "postgres");
        target.fields.database = Some("same".to_owned());
        let mut session = connect(&target).await.unwrap();
        relay.passed();
        let catalog = session.catalog().await.unwrap();
        assert_eq!(relay.passed().flights, 1);
        let tables = catalog.schemas.iter().flat_map(|schema| &schema.relations).filter(|relation| relation.name == "bugreport");
        assert_eq!(tables.map(|relation| relation.columns.len()).sum::<usize>(), 300);
        assert_eq!(relation(schema(&catalog, "o'hara"), "t").columns[0].name, "id");
        // Asked for by its version as well.
        let mut known = catalog.known();
        known.known.remove("o'hara");
        let news = session.catalog_since(&known).await.unwrap();
        assert_eq!(news.schemas.iter().filter(|schema| !schema.unchanged).count(), 1);
        assert_eq!(relation(schema(&news, "o'hara"), "t").columns[0].name, "id");
    }
}
