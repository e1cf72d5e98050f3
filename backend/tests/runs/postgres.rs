//! PostgreSQL: what passes on the link, what the server still holds, and links that break.

use super::{House, cell, house, read, receive_window};
use backend::engine::Target;
use backend::engine::catalog::CatalogAsk;
use backend::engine::dial::RECEIVE_WINDOW_BYTES;
use shared::ids::ConnectionId;
use shared::problem::ErrorCode;
use shared::wire::connection::{ConnectionFields, EngineKind};
use shared::wire::run::{Notice, RunState, TransactionState};
use std::time::Duration;
use testing::postgres::{Cluster, clusters};
use testing::relay::{NARROW_BYTES, Relay, sent_ahead};

const WIDE: &str = "select n, repeat('x', 100) from generate_series(1, 2000000) n";

fn at(port: u16) -> House {
    let mut fields = ConnectionFields::new("test", EngineKind::Postgres);
    fields.host = Some("127.0.0.1".to_owned());
    fields.port = Some(port);
    fields.database = Some("postgres".to_owned());
    fields.user = Some("postgres".to_owned());
    house(Target::new(fields, shared::wire::secrets::Secrets::default()))
}

/// What the server has of Sheaf besides the asker: sessions, and those that work or hold something.
fn server_side(cluster: &Cluster) -> (usize, usize) {
    let sql = "select count(*), count(*) filter (where state <> 'idle') from pg_stat_activity where application_name like 'sheaf%'";
    let line = cluster.psql("postgres", sql);
    let (all, busy) = line.trim().split_once('|').unwrap();
    (all.parse().unwrap(), busy.parse().unwrap())
}

/// Asks the server until it is so: a closed link is noticed there a moment later.
async fn until_server_side(cluster: &'static Cluster, is: impl Fn((usize, usize)) -> bool) {
    for _ in 0..300 {
        // Elsewhere: links must go on meanwhile.
        if is(tokio::task::spawn_blocking(|| server_side(cluster)).await.unwrap()) {
            return;
        }
    }
    panic!("the server still has {:?}", server_side(cluster));
}

#[tokio::test]
async fn the_life_of_results_on_a_real_server() {
    // One after the other: each looks at all that the server has.
    for cluster in clusters() {
        pages_move_their_own_rows_and_closing_frees_the_session(cluster).await;
        rows_come_in_one_round_trip_and_the_end_of_their_query_in_another(cluster).await;
        an_abandoned_stream_moves_a_page_and_a_window(cluster).await;
        a_cancelled_console_keeps_its_session(cluster).await;
        a_cancelled_read_tells_the_servers_words(cluster).await;
        a_change_refused_at_its_end_is_told_whoever_gave_it_up(cluster).await;
        values_are_bound_as_the_server_reads_them(cluster).await;
        a_transaction_is_the_consoles_own(cluster).await;
        a_refused_commit_says_that_nothing_is_open_any_more(cluster).await;
        a_cut_link_leaves_what_was_read(cluster).await;
        e05_notices_are_told_while_the_statement_runs(cluster).await;
        e18_the_rest_of_a_result_is_that_of_the_run_on_the_screen(cluster).await;
        a_shutdown_leaves_nothing_on_the_server(cluster).await;
        e14_a_dead_path_is_found_out_before_a_statement_is_sent_into_it(cluster).await;
    }
}

async fn pages_move_their_own_rows_and_closing_frees_the_session(cluster: &'static Cluster) {
    let relay = Relay::start(cluster.port, Duration::ZERO).await;
    let house = at(relay.port);
    let begun = house.run(WIDE, None).await.unwrap();
    assert_eq!((begun.status.state, begun.status.page_rows), (RunState::Paused, 1000));
    let first = relay.passed();
    assert!(first.to_client < 160_000, "{first:?}");
    house.page(&begun.status.id, 1).await.unwrap();
    // Page 1 and the four pages read ahead, and no more.
    house.until(|status| status.rows_ready == 6000 && status.state == RunState::Paused).await;
    let next = relay.passed();
    assert!(next.to_client < 5 * 160_000, "{next:?}");
    house.runs.close(&house.grant, &begun.status.id).await.unwrap();
    assert_eq!(house.runs.census().active, 0);
    until_server_side(cluster, |(_, busy)| busy == 0).await;
    house.runs.shut_down().await;
    until_server_side(cluster, |(all, _)| all == 0).await;
}

/// From a server that is far away; far enough for a machine that has other work, too.
async fn rows_come_in_one_round_trip_and_the_end_of_their_query_in_another(cluster: &'static Cluster) {
    cluster.psql("postgres", "drop table if exists little; create table little as select n from generate_series(1, 3) n");
    let relay = Relay::start(cluster.port, Duration::from_millis(150)).await;
    let house = at(relay.port);
    house.run("select 1", Some("k")).await.unwrap();
    let begun = house.run("select n from little", Some("k")).await.unwrap();
    let told = (begun.status.state, begun.status.total_rows, begun.status.further, begun.status.transaction);
    assert_eq!(told, (RunState::Running, Some(3), false, TransactionState::None));
    assert_eq!(cell(&begun.page0.unwrap(), 2, 0), "3");
    let ended = house.runs.settled(&house.grant, &begun.status.id).await.unwrap();
    assert_eq!((ended.state, ended.total_rows, ended.further), (RunState::Done, Some(3), false));
    // A text that says that it has few has its end with them.
    let begun = house.run("select count(*) from little", Some("k")).await.unwrap();
    assert_eq!((begun.status.state, begun.status.further), (RunState::Done, false));
    // The console's next statement waits for the end of what is shown already.
    house.run("select n from little", Some("k")).await.unwrap();
    let next = house.run("select n from little where n = 2", Some("k")).await.unwrap();
    assert_eq!(cell(&next.page0.unwrap(), 0, 0), "2");
    house.runs.shut_down().await;
}

/// A plan that may be parallel is streamed: what nobody reads lies in the window, and a session of no console is closed for the rest.
async fn an_abandoned_stream_moves_a_page_and_a_window(cluster: &'static Cluster) {
    let relay = Relay::narrow(cluster.port).await;
    let house = at(relay.port);
    let streamed = "select n, repeat('x', 250) from generate_series(1, 2000000) n where n > 0";
    for (sql, closes) in [(streamed.to_owned(), true), (streamed.replace("2000000", "1010"), false)] {
        let begun = house.run(&sql, None).await.unwrap();
        assert_eq!(begun.status.state, RunState::Paused);
        let page = relay.passed().to_client;
        assert!(page <= 290_000, "{page}");
        if !closes {
            // The end of this one has come with its page: the session is kept.
            sent_ahead(cluster.port).await;
        }
        house.runs.close(&house.grant, &begun.status.id).await.unwrap();
        assert_eq!(house.runs.census().sessions, usize::from(!closes), "{sql}");
        until_server_side(cluster, |left| left == (usize::from(!closes), 0)).await;
        let rest = relay.passed().to_client;
        let window = receive_window(RECEIVE_WINDOW_BYTES);
        println!("page {page}, abandoned {rest}, window {window}");
        assert!(rest <= window + NARROW_BYTES, "{rest}, {window}");
    }
    // A console's session is kept, with all that is in it.
    house.run("create temp table kept as select 42 as answer", Some("k")).await.unwrap();
    house.run(streamed, Some("k")).await.unwrap();
    let next = house.run("select answer from kept", Some("k")).await.unwrap();
    assert_eq!(cell(&next.page0.unwrap(), 0, 0), "42");
    house.runs.shut_down().await;
}

async fn a_cancelled_console_keeps_its_session(cluster: &'static Cluster) {
    let house = at(cluster.port);
    house.run("create temp table kept as select 42 as answer", Some("k")).await.unwrap();
    let (ended, ()) = tokio::join!(house.run("select pg_sleep(600)", Some("k")), async {
        until_server_side(cluster, |(_, busy)| busy > 0).await;
        let running = house.until(|status| status.state == RunState::Running).await;
        house.runs.cancel(&house.grant, &running.id).unwrap();
    });
    let problem = ended.unwrap_err();
    assert_eq!((problem.code, problem.sqlstate.as_deref()), (ErrorCode::Cancelled, Some("57014")));
    assert_eq!(problem.message, "canceling statement due to user request");
    // At once, again and again: no cancel of the earlier statement reaches a later one.
    for _ in 0..50 {
        let next = house.run("select answer, pg_sleep(0.001) from kept", Some("k")).await.unwrap();
        assert_eq!(cell(&next.page0.unwrap(), 0, 0), "42");
    }
    house.runs.shut_down().await;
}

async fn a_cancelled_read_tells_the_servers_words(cluster: &'static Cluster) {
    let house = at(cluster.port);
    let slow = "select n, case when n > 3000 then pg_sleep(600) end from generate_series(1, 5000) n";
    let id = house.run(slow, Some("k")).await.unwrap().status.id;
    house.runs.read_to_end(&house.grant, &id).unwrap();
    let sleeping = || cluster.psql("postgres", "select count(*) from pg_stat_activity where wait_event = 'PgSleep'");
    while tokio::task::spawn_blocking(sleeping).await.unwrap().trim() != "1" {}
    house.runs.cancel(&house.grant, &id).unwrap();
    let status = house.until(|status| status.state.is_final()).await;
    let problem = status.problem.unwrap();
    assert_eq!((status.state, problem.code), (RunState::Cancelled, ErrorCode::Cancelled));
    assert_eq!((problem.message.as_str(), problem.sqlstate.as_deref()), ("canceling statement due to user request", Some("57014")));
    assert_eq!(house.page(&id, 4).await.unwrap_err().message, problem.message);
    assert_eq!(cell(&house.page(&id, 1).await.unwrap(), 999, 0), "2000", "what was read stays");
    assert_eq!(cell(&house.run("select 1", Some("k")).await.unwrap().page0.unwrap(), 0, 0), "1");
    house.runs.shut_down().await;
}

async fn a_change_refused_at_its_end_is_told_whoever_gave_it_up(cluster: &'static Cluster) {
    let house = at(cluster.port);
    cluster.psql("postgres", "drop table if exists once; create table once (a int unique deferrable initially deferred)");
    let twice = "insert into once select n % 4000 from generate_series(1, 5000) n returning a";
    let cancelled = house.run(twice, Some("k")).await.unwrap().status.id;
    house.runs.cancel(&house.grant, &cancelled).unwrap();
    let cancelled = house.until(|status| status.id == cancelled && status.state.is_final()).await;
    let given_up = house.run(twice, Some("k")).await.unwrap().status.id;
    assert_eq!(cell(&house.run("select count(*) from once", Some("k")).await.unwrap().page0.unwrap(), 0, 0), "0");
    let given_up = house.runs.status(&house.grant, &given_up).unwrap();
    assert_eq!((cancelled.state, given_up.state), (RunState::Cancelled, RunState::Partial));
    for status in [cancelled, given_up] {
        let detail = status.problem.unwrap().detail.unwrap();
        let told = "The statement itself did not take effect: duplicate key value violates unique constraint \"once_a_key\"";
        assert_eq!((detail.as_str(), status.rows_affected), (told, None));
    }
    house.runs.shut_down().await;
}

/// The server says what each value is taken for; nothing is put into the text.
async fn values_are_bound_as_the_server_reads_them(cluster: &'static Cluster) {
    let house = at(cluster.port);
    let sql = "select $1::int8 as a, $2::numeric as b, $3 || '!' as c, $4::date as d, $5::bool as e, $1 + 1 as f";
    let params = serde_json::json!([9_007_199_254_740_993_i64, "123456789012345678901234567890.10", "'; drop table t; --", null, true]);
    let page = house.run_with(sql, params, None).await.unwrap().page0.unwrap();
    let seen: Vec<String> = (0..6).map(|column| cell(&page, 0, column)).collect();
    let wanted = ["9007199254740993", "123456789012345678901234567890.10", "'; drop table t; --!", "", "t", "9007199254740994"];
    assert_eq!(seen, wanted);
    let refused = house.run_with("select $1::int", serde_json::json!(["none"]), Some("k")).await.unwrap_err();
    assert_eq!((refused.sqlstate.as_deref(), refused.detail.as_deref()), (Some("22P02"), Some("CONTEXT: parameter $1")));
    for (sql, params, told) in [
        ("select $1::int + $2::int", serde_json::json!([1]), "The statement has 2 parameters, and 1 value was given."),
        ("select $1::int", serde_json::json!([]), "The statement has 1 parameter, and 0 values were given."),
        ("select 1", serde_json::json!([1, 2]), "The statement has 0 parameters, and 2 values were given."),
    ] {
        let missing = house.run_with(sql, params, Some("k")).await.unwrap_err();
        assert_eq!((missing.code, missing.message.as_str()), (ErrorCode::Rejected, told));
    }
    assert_eq!(cell(&house.run("select 7", Some("k")).await.unwrap().page0.unwrap(), 0, 0), "7", "the session goes on");
    house.runs.shut_down().await;
}

async fn a_transaction_is_the_consoles_own(cluster: &'static Cluster) {
    let house = at(cluster.port);
    cluster.psql("postgres", "drop table if exists t; create table t as select 1 as a");
    assert!(house.run("begin", Some("k")).await.unwrap().status.transaction.is_open());
    assert!(house.run("update t set a = 2", Some("k")).await.unwrap().status.transaction.is_open());
    let other = house.run("select a from t", None).await.unwrap();
    assert_eq!(cell(&other.page0.unwrap(), 0, 0), "1");
    let refused = house.run("select nothing", Some("k")).await.unwrap_err();
    assert_eq!((refused.code, refused.sqlstate.as_deref(), refused.position), (ErrorCode::Rejected, Some("42703"), Some(7)));
    assert_eq!(refused.transaction, Some(TransactionState::Failed));
    let aborted = house.run("select 1", Some("k")).await.unwrap_err();
    assert_eq!(aborted.sqlstate.as_deref(), Some("25P02"), "the console's own transaction, as the server has it");
    assert_eq!(aborted.transaction, Some(TransactionState::Failed));
    let committed = house.run("/* keep it */ commit", Some("k")).await.unwrap().status;
    assert_eq!(committed.transaction, TransactionState::None);
    let told: Vec<_> = committed.notices.iter().map(|notice| notice.message.as_str()).collect();
    assert_eq!(told, ["The transaction had failed before: it was rolled back, and nothing of it is kept"]);
    // Who asks for it back is told nothing, and neither is who loses nothing.
    for sql in ["begin", "select nothing", "abort", "begin", "commit"] {
        let silent = house.run(sql, Some("k")).await;
        assert!(silent.is_err() || silent.unwrap().status.notices.is_empty(), "{sql}");
    }
    let lone = house.run("select nothing", Some("k")).await.unwrap_err();
    assert_eq!(lone.transaction, Some(TransactionState::None), "outside a transaction nothing else fails");
    // What anybody leaves in a session of the pool is undone.
    house.run("begin", None).await.unwrap();
    house.run("set search_path to nowhere", None).await.unwrap();
    assert_eq!(cell(&house.run("select a from t", None).await.unwrap().page0.unwrap(), 0, 0), "1");
    let returned = house.run("update t set a = a + 1 returning a", None).await.unwrap();
    assert_eq!((returned.status.rows_affected, returned.status.state), (Some(1), RunState::Done));
    let catalog = house.runs.catalog(&house.grant, house.target.clone(), ConnectionId("c".to_owned()), CatalogAsk::First).await.unwrap();
    assert!(catalog.schemas.iter().any(|schema| schema.relations.iter().any(|relation| relation.name == "t")));
    house.runs.shut_down().await;
}

async fn a_refused_commit_says_that_nothing_is_open_any_more(cluster: &'static Cluster) {
    let house = at(cluster.port);
    cluster.psql("postgres", "drop table if exists once; create table once (a int unique deferrable initially deferred)");
    for sql in ["begin", "insert into once values (1)", "insert into once values (1)"] {
        assert_eq!(house.run(sql, Some("k")).await.unwrap().status.transaction, TransactionState::Open, "{sql}");
    }
    let refused = house.run("commit", Some("k")).await.unwrap_err();
    assert_eq!((refused.sqlstate.as_deref(), refused.transaction), (Some("23505"), Some(TransactionState::None)));
    // What the console knows of itself is as true: nothing is left of it to be lost.
    let next = house.run("select count(*) from once", Some("k")).await.unwrap();
    assert_eq!((cell(&next.page0.unwrap(), 0, 0), next.status.transaction), ("0".to_owned(), TransactionState::None));
    house.runs.shut_down().await;
}

async fn a_cut_link_leaves_what_was_read(cluster: &'static Cluster) {
    let relay = Relay::start(cluster.port, Duration::ZERO).await;
    let mut house = at(relay.port);
    let id = house.run(WIDE, Some("k")).await.unwrap().status.id;
    let page1 = house.page(&id, 1).await.unwrap();
    relay.cut();
    let problem = house.page(&id, 100).await.unwrap_err();
    assert_eq!(problem.code, ErrorCode::Partial);
    let status = house.runs.status(&house.grant, &id).unwrap();
    assert_eq!((status.state, status.problem.unwrap().code), (RunState::Partial, ErrorCode::ConnectionLost));
    assert_eq!(house.page(&id, 1).await.unwrap(), page1);
    assert_eq!(read(&page1).num_rows(), 1000);
    // The server is there again, by another way: the console goes on in a new session.
    house.target.fields.port = Some(cluster.port);
    let next = house.run("select 1", Some("k")).await.unwrap();
    assert_eq!((next.status.state, next.status.notices.len()), (RunState::Done, 1));
    house.runs.shut_down().await;
    until_server_side(cluster, |(all, _)| all == 0).await;
}

async fn e05_notices_are_told_while_the_statement_runs(cluster: &'static Cluster) {
    let house = at(cluster.port);
    // The second notice waits for a lock that the first one's hearer gives up.
    house.run("select pg_advisory_lock(5)", Some("holder")).await.unwrap();
    let block = "do $$ begin raise notice 'n=1'; perform pg_advisory_lock(5); raise notice 'n=2'; end $$";
    let (done, ()) = tokio::join!(house.run(block, Some("k")), async {
        let heard = house.until(|status| !status.notices.is_empty()).await;
        assert_eq!((heard.state, heard.notices[0].message.as_str(), heard.notices.len()), (RunState::Running, "n=1", 1));
        house.run("select pg_advisory_unlock(5)", Some("holder")).await.unwrap();
    });
    let said = |notices: &[Notice]| notices.iter().map(|notice| format!("{}: {}", notice.severity, notice.message)).collect::<Vec<_>>();
    assert_eq!(said(&done.unwrap().status.notices), ["NOTICE: n=1", "NOTICE: n=2"]);
    // Far more than are kept: the first ones, and how many more there were.
    let flood = house.run("do $$ begin for i in 1..5000 loop raise notice 'n=%', i; end loop; end $$", Some("k")).await.unwrap();
    let notices = flood.status.notices;
    assert_eq!((notices.len(), notices[999].message.as_str()), (1001, "n=1000"));
    assert_eq!(notices[1000].message, "The first 1000 messages of a statement were kept; 4000 further ones are left off");
    // What another session notifies comes with the next answer.
    house.run("listen news", Some("k")).await.unwrap();
    house.run("notify news, 'it is out'", Some("holder")).await.unwrap();
    let next = house.run("select 1", Some("k")).await.unwrap();
    assert_eq!(said(&next.status.notices), ["NOTIFICATION: news: it is out"]);
    house.runs.shut_down().await;
}

async fn e18_the_rest_of_a_result_is_that_of_the_run_on_the_screen(cluster: &'static Cluster) {
    let house = at(cluster.port);
    cluster.psql("postgres", "drop sequence if exists e18; create sequence e18");
    let sql = "select nextval('e18') as made, n from generate_series(1, $1::int) n where n <= $1::int";
    let id = house.run_with(sql, serde_json::json!([3500]), Some("k")).await.unwrap().status.id;
    house.runs.read_to_end(&house.grant, &id).unwrap();
    let whole = house.until(|status| status.id == id && status.state.is_final()).await;
    assert_eq!((whole.state, whole.total_rows), (RunState::Done, Some(3500)));
    for _ in 0..2 {
        let last = house.page(&id, 3).await.unwrap();
        assert_eq!((cell(&last, 499, 0), cell(&last, 499, 1)), ("3500".to_owned(), "3500".to_owned()));
    }
    assert_eq!(cluster.psql("postgres", "select last_value from e18").trim(), "3500", "each row was made once");
    house.runs.shut_down().await;
}

async fn e14_a_dead_path_is_found_out_before_a_statement_is_sent_into_it(cluster: &'static Cluster) {
    let relay = Relay::start(cluster.port, Duration::ZERO).await;
    let house = at(relay.port);
    house.run("begin", Some("open")).await.unwrap();
    house.run("create temp table kept (a int)", Some("k")).await.unwrap();
    house.run("select 1", None).await.unwrap();
    let (sleeping, ()) = tokio::join!(house.run("select pg_sleep(600)", Some("busy")), async {
        until_server_side(cluster, |(_, busy)| busy > 1).await;
        let running = house.until(|status| status.state == RunState::Running).await;
        // From here on nothing comes through, nothing is closed, and only the clock goes on.
        relay.stall();
        tokio::time::pause();
        house.runs.cancel(&house.grant, &running.id).unwrap();
    });
    let problem = sleeping.unwrap_err();
    assert!(problem.message.contains("did not stop the statement in time"), "{problem:?}");
    tokio::time::advance(Duration::from_secs(60)).await;
    let lost = house.run("select 1", Some("open")).await.unwrap_err();
    assert!(lost.message.contains("open transaction") && lost.message.contains("not sent"), "{lost:?}");
    for console in [Some("k"), None] {
        let begun = tokio::time::Instant::now();
        let problem = house.run("select 1", console).await.unwrap_err();
        assert_eq!(problem.code, ErrorCode::ConnectFailed, "{problem:?}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
    tokio::time::resume();
    relay.cut();
    // The path is there again: the next statement runs, and says what was lost.
    let mut house = house;
    house.target.fields.port = Some(cluster.port);
    let next = house.run("select 1", Some("k")).await.unwrap();
    assert_eq!((next.status.state, next.status.notices.len()), (RunState::Done, 1));
    house.runs.shut_down().await;
    if !cluster.is_since(14) {
        // It does not notice while it works that nobody is left.
        cluster.psql("postgres", "select pg_terminate_backend(pid) from pg_stat_activity where query = 'select pg_sleep(600)'");
    }
    until_server_side(cluster, |(all, _)| all == 0).await;
}

async fn a_shutdown_leaves_nothing_on_the_server(cluster: &'static Cluster) {
    let house = at(cluster.port);
    house.run(WIDE, Some("parked")).await.unwrap();
    house.run("begin", Some("open")).await.unwrap();
    house.run("select 1", None).await.unwrap();
    let (ended, ()) = tokio::join!(house.run("select pg_sleep(600)", Some("busy")), async {
        until_server_side(cluster, |(all, busy)| all >= 3 && busy >= 2).await;
        house.runs.shut_down().await;
    });
    assert!(ended.is_err());
    until_server_side(cluster, |(all, _)| all == 0).await;
    assert!(std::fs::read_dir(house.spool.path().join("spool")).map_or(0, Iterator::count) == 0);
}
