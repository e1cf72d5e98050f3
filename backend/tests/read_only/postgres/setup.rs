//! What there is to be written over: something of every kind, all of it the attacker's own.

use testing::postgres::Cluster;

/// `act` writes; everything named `acting…` calls it in a way of its own.
const SET_UP: &str = "
create role helper nologin;
grant helper to writer;
create role bystander login;
grant create on database postgres to writer;
do $$ declare name text; begin
    for name in select e.name from pg_available_extensions e where e.name in ('dblink', 'file_fdw', 'adminpack') loop
        execute 'create extension ' || name;
    end loop;
end $$;
create foreign data wrapper plain;
create server files foreign data wrapper plain;
set role writer;
create table guarded (n int primary key, t text default 'kept_row');
insert into guarded values (1), (2), (3);
create index guarded_t on guarded (t);
create table child (n int references guarded, m serial);
insert into child values (1);
create table heap (n int, b int[]);
create index heap_brin on heap using brin (n);
create index heap_gin on heap using gin (b);
create sequence counter;
create view seen as select n, t from guarded;
create materialized view stored as select n from guarded;
create unique index stored_n on stored (n);
create type mood as enum ('good', 'bad');
create type pair as (a int, b int);
create domain positive as int check (value > 0);
create function act(n int) returns int language sql volatile as 'insert into guarded values (n + 1000) returning n';
create function act_as_owner(n int) returns int language plpgsql volatile security definer as
    'begin insert into guarded values (n + 2000); return n; end';
create function act_after_setting(n int) returns int language plpgsql volatile as
    'begin perform set_config(''transaction_read_only'', ''off'', false); insert into guarded values (n + 3000); return n; end';
create function act_in_a_part(n int) returns int language plpgsql volatile as
    'begin begin set transaction read write; exception when others then null; end; insert into guarded values (n + 4000); return n; end';
create function act_by_text(n int) returns int language plpgsql volatile as
    'begin execute ''insert into guarded values ('' || n + 5000 || '')''; return n; end';
create function act_said_stable(n int) returns int language plpgsql stable as
    'begin perform act(n); return n; end';
create function act_with_bytes(n int) returns oid language sql volatile as 'select lo_from_bytea(0, ''x'')';
create function note() returns trigger language plpgsql as 'begin perform act(77); return new; end';
create trigger noted instead of insert on seen for each row execute function note();
create procedure proceed() language plpgsql as
    'begin commit; set transaction read write; insert into guarded values (6000); commit; end';
create procedure proceed_as_owner() language plpgsql security definer as 'begin insert into guarded values (7000); end';
create operator @@@@ (procedure = act, rightarg = int);
create domain acting_domain as int check (act(value) > 0);
create aggregate acting_sum (int) (sfunc = int4pl, stype = int, finalfunc = act);
create view acting as select act(n) from guarded;
create view acting_bytes as select lo_create(0) as made;
create table ruled (n int);
create rule ruled as on insert to ruled do instead insert into guarded values (new.n);
create table parted (n int) partition by range (n);
create table parted_1 partition of parted for values from (0) to (10);
create schema other;
create statistics counted on n, t from guarded;
create text search configuration words (copy = simple);
create text search dictionary terms (template = simple);
create collation ordered (locale = 'C');
create policy all_of_it on guarded using (true);
grant insert, select on guarded, counter to helper;
select lo_from_bytea(4242, 'kept');
create publication published for table guarded;
reset role;
";

pub fn make(cluster: &Cluster) {
    cluster.psql("postgres", SET_UP);
}
