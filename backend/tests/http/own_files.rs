//! Sheaf's own store is not a database to work on, by whatever name it is asked for.

use crate::support::{Client, Server};
use serde_json::json;
use shared::problem::ErrorCode;
use std::path::{Path, PathBuf};

const SENTENCE: &str = "That file is Sheaf's own store; it is not a database to work on.";

/// Names of the store: itself, through links, on a way around.
fn names(data: &Path) -> Vec<PathBuf> {
    std::os::unix::fs::symlink(data.join("sheaf.sqlite"), data.join("linked.sqlite")).unwrap();
    std::os::unix::fs::symlink(data, data.join("folder")).unwrap();
    std::fs::create_dir(data.join("inner")).unwrap();
    std::fs::hard_link(data.join("sheaf.sqlite"), data.join("hard.sqlite")).unwrap();
    let mut names =
        ["sheaf.sqlite", "linked.sqlite", "folder/sheaf.sqlite", "inner/../folder/sheaf.sqlite", "hard.sqlite", "sheaf.sqlite-wal"]
            .map(|name| data.join(name))
            .to_vec();
    if cfg!(target_os = "linux") {
        let store = data.join("sheaf.sqlite");
        names.push(PathBuf::from(format!("/proc/self/root{}", store.display())));
        names.push(PathBuf::from(format!("/proc/self/cwd/{}", relative(&store))));
        names.push(PathBuf::from(format!("/proc/thread-self/root{}", store.display())));
    }
    names
}

/// From the folder this process works in.
fn relative(path: &Path) -> String {
    let up = std::env::current_dir().unwrap().components().count() - 1;
    format!("{}{}", "../".repeat(up), path.strip_prefix("/").unwrap().display())
}

async fn refused(client: &Client<'_>, connection: &str, sql: &str) {
    let problem = client.run(&json!({"connection": connection, "sql": sql, "session": "k"})).await.problem(422);
    assert_eq!((problem.code, problem.message.as_str()), (ErrorCode::CannotOpen, SENTENCE), "{sql}");
}

#[tokio::test]
async fn z43_the_store_is_no_connection_by_any_name() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let id = client.sqlite("CREATE TABLE t(a)").await;
    for path in names(data.path()) {
        let fields = json!({"name": "own", "engine": "sqlite", "path": path});
        for route in ["/api/v1/connections", "/api/v1/connections/test"] {
            assert_eq!(client.post(route, &fields).await.problem(422).message, SENTENCE, "{path:?}");
        }
        assert_eq!(client.patch(&format!("/api/v1/connections/{id}"), &json!({"path": path})).await.problem(422).message, SENTENCE);
        assert_eq!(client.post(&format!("/api/v1/connections/{id}/test"), &json!({"path": path})).await.problem(422).message, SENTENCE);
    }
    // What became a name of it only after it was saved.
    std::fs::remove_file(data.path().join("0.sqlite")).unwrap();
    std::os::unix::fs::symlink(data.path().join("sheaf.sqlite"), data.path().join("0.sqlite")).unwrap();
    let problem = client.run(&json!({"connection": id, "sql": "SELECT * FROM connections"})).await.problem(422);
    assert_eq!(problem.message, SENTENCE);
}

#[tokio::test]
async fn z43_the_store_is_not_attached_by_any_name() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let id = client.sqlite("CREATE TABLE t(a)").await;
    for path in names(data.path()) {
        let shown = path.display().to_string();
        let encoded = shown.replace("sqlite", "%73qlite");
        refused(&client, &id, &format!("ATTACH '{shown}' AS own")).await;
        refused(&client, &id, &format!("ATTACH DATABASE '{}' AS \"o\"\"wn\"", relative(&path))).await;
        refused(&client, &id, &format!("ATTACH 'file:{shown}?mode=ro' AS own")).await;
        refused(&client, &id, &format!("ATTACH 'file://localhost{encoded}?cache=private' AS own")).await;
        for query in ["mode=rw", "mode=rwc", "immutable=1", "nolock=1&mode=memory", "cache=shared", "psow=0#x"] {
            refused(&client, &id, &format!("ATTACH 'file:{shown}?{query}' AS own")).await;
        }
        refused(&client, &id, &format!("ATTACH 'file:{}' AS own", relative(&path))).await;
        refused(&client, &id, &format!("ATTACH 'file:////{shown}' AS own")).await;
        refused(&client, &id, &format!("VACUUM INTO '{shown}'")).await;
        refused(&client, &id, &format!("VACUUM INTO 'file:{encoded}'")).await;
    }
    // By an expression, which tells nothing before it is open; inside a transaction as well.
    let store = data.path().join("sheaf.sqlite").display().to_string();
    let (head, tail) = store.split_at(store.len() - 3);
    for expression in
        [format!("'{head}' || '{tail}'"), format!("trim('file:{store}')"), format!("(SELECT '{}')", relative(Path::new(&store)))]
    {
        refused(&client, &id, &format!("ATTACH {expression} AS \"o\"\"wn\"")).await;
        assert_eq!(client.run(&json!({"connection": id, "session": "k", "sql": "BEGIN IMMEDIATE"})).await.status, 204);
        refused(&client, &id, &format!("ATTACH {expression} AS own")).await;
        assert_eq!(client.run(&json!({"connection": id, "session": "k", "sql": "ROLLBACK"})).await.status, 204);
    }
    let list = client.run(&json!({"connection": id, "session": "k", "sql": "PRAGMA database_list"})).await.page();
    assert_eq!(list.num_rows(), 1, "nothing of it is left attached");
    // Other files are, by every such name.
    let other = data.path().join("other.sqlite");
    std::fs::write(&other, "").unwrap();
    for (n, name) in [format!("'{}'", other.display()), format!("'file:{}?mode=rw'", other.display()), format!("trim('{}')", "/nowhere")]
        .iter()
        .enumerate()
    {
        let answer = client.run(&json!({"connection": id, "session": "k", "sql": format!("ATTACH {name} AS o{n}")})).await;
        assert_eq!(answer.status, if n < 2 { 204 } else { 422 }, "{name}: {}", answer.text());
    }
    // The store is whole and takes the next connection.
    client.sqlite("CREATE TABLE u(a)").await;
}

#[tokio::test]
async fn z43_a_read_only_connection_attaches_nothing() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let client = server.sign_in().await;
    let id = client.sqlite("CREATE TABLE t(a)").await;
    assert_eq!(client.patch(&format!("/api/v1/connections/{id}"), &json!({"read_only": true})).await.status, 204);
    let other = data.path().join("other.sqlite");
    std::fs::write(&other, "").unwrap();
    for path in names(data.path()).into_iter().chain([other, data.path().join("none.sqlite"), PathBuf::from(":memory:"), PathBuf::new()]) {
        for sql in [
            format!("ATTACH '{}' AS o", path.display()),
            format!("ATTACH 'file:{}?mode=ro' AS o", path.display()),
            format!("ATTACH trim('{}') AS o", path.display()),
            format!("VACUUM INTO '{}'", path.display()),
        ] {
            let problem = client.run(&json!({"connection": id, "sql": sql, "session": "k"})).await.problem(422);
            assert_eq!(problem.code, ErrorCode::Rejected, "{sql}: {}", problem.message);
        }
    }
    let list = client.run(&json!({"connection": id, "session": "k", "sql": "PRAGMA database_list"})).await.page();
    assert_eq!(list.num_rows(), 1);
    assert!(!data.path().join("none.sqlite").exists());
}
