//! Who may know whom, as a table; and the few rules of form that a compiler does not check.
//!
//! The table is docs/architecture.md in another notation: change them together.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)] // A panic is a test's report.

#[path = "tidy/source.rs"]
mod source;

use source::{Source, sources, text_files};

/// A module of the server, and the modules of the server it may use. What is not here may use nothing.
const SERVER: &[(&str, &[&str])] = &[
    ("lib", &[]),
    ("main", &[]),
    ("serve", &["access", "app", "config", "connections", "engine", "http", "runs", "sample", "store"]),
    ("http", &["access", "app", "connections", "error", "runs"]),
    ("config", &["connections"]),
    ("app", &["access", "connections", "error", "runs", "store"]),
    ("connections", &["access", "engine", "error", "store"]),
    ("error", &["store"]),
    ("runs", &["access", "engine", "spool"]),
    ("store", &["access"]),
    ("access", &[]),
    ("engine", &[]),
    ("spool", &[]),
    ("sample", &[]),
];

/// A part of the interface, and the parts it may use. `grid`, `editor`, `explorer` and `panels` never use each other.
const INTERFACE: &[(&str, &[&str])] = &[
    ("lib", &["app"]),
    ("app", &["boot", "api", "commands", "editor", "explorer", "flows", "grid", "panels", "state", "ui"]),
    ("boot", &["api", "state"]),
    // The table of commands names what they do, wherever it is done.
    ("commands", &["api", "explorer", "flows", "state", "ui"]),
    ("editor", &["api", "commands", "flows", "state", "ui"]),
    ("explorer", &["api", "commands", "flows", "state", "ui"]),
    ("grid", &["api", "commands", "flows", "state", "ui"]),
    ("panels", &["api", "boot", "commands", "flows", "state", "ui"]),
    ("flows", &["api", "state"]),
    ("state", &["api"]),
    ("ui", &["state"]),
    ("api", &[]),
];

/// A foreign crate, and the only modules of the server that may name it.
const CRATES: &[(&str, &[&str])] = &[
    ("axum", &["http", "error"]),
    ("hyper", &["http"]),
    ("hyper_util", &["http"]),
    ("tower", &["http"]),
    ("utoipa", &["http"]),
    ("rust_embed", &["http"]),
    ("clap", &["config", "main"]),
    ("sqlx", &["store"]),
    ("rusqlite", &["engine", "sample"]),
    ("postgres_protocol", &["engine"]),
    ("rustls", &["engine"]),
    ("russh", &["engine"]),
    ("tokio_rustls", &["engine"]),
    ("adbc_driver_manager", &["engine"]),
    ("landlock", &["engine"]),
    ("seccompiler", &["engine"]),
];

/// Text, the only files under a folder that may have it, and why.
const ONLY_IN: &[(&str, &str, &[&str], &str)] = &[
    ("TcpStream::connect", "backend/src", &["backend/src/engine/dial.rs"], "sockets outward are judged by `dial`"),
    ("UnixStream::connect", "backend/src", &["backend/src/engine/dial.rs"], "sockets outward are judged by `dial`"),
    ("lookup_host", "backend/src", &["backend/src/engine/dial.rs"], "names are resolved once, by `dial`"),
    (
        "Command::new",
        "backend/src",
        &["backend/src/serve.rs", "backend/src/engine/worker/process.rs"],
        "Sheaf starts no program but the person's browser and itself",
    ),
    ("std::time", "shared/src", &[], "shared code has no clock"),
    ("std::fs", "shared/src", &[], "shared code does no IO"),
    ("std::net", "shared/src", &[], "shared code does no IO"),
    ("std::thread", "shared/src", &[], "shared code has no threads"),
    ("async fn", "shared/src", &[], "shared code is not async"),
    ("web_sys", "shared/src", &[], "shared code is of both sides"),
];

/// Files of the interface that must work without a browser.
const PURE: &[&str] = &["geometry", "fetch_plan", "page_cache", "selection", "unseen"];

/// What would put markup or style of foreign text into the page, or be stopped by its content security policy.
const SINKS: &[&str] = &[
    "inner_html",
    "innerHTML",
    "outerHTML",
    "outer_html",
    "insertAdjacentHTML",
    "insert_adjacent_html",
    "srcdoc",
    "document.write",
    "eval(",
    "new Function",
];

const LINES_MAX: usize = 500;
/// Tables, which may be longer.
const TABLES: &[&str] = &["shared/src/complete/sources.rs", "shared/src/sql/dialects/reserved.rs", "shared/src/sql/outline/walk.rs"];

fn report(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

fn check_edges(root: &str, table: &[(&str, &[&str])]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources(&[root]) {
        let module = source.module(root);
        let Some((_, allowed)) = table.iter().find(|(name, _)| *name == module) else {
            faults.push(format!("{}: the module `{module}` has no line in the table of edges", source.path));
            continue;
        };
        for (line, used) in source.crate_modules() {
            let known = table.iter().any(|(name, _)| *name == used);
            if known && used != module && !allowed.contains(&used.as_str()) {
                faults.push(format!("{}:{line}: `{module}` must not know `{used}`", source.path));
            }
        }
    }
    faults
}

#[test]
fn the_server_s_modules_know_only_whom_they_may() {
    report(&check_edges("backend/src", SERVER));
}

#[test]
fn the_interface_s_parts_know_only_whom_they_may() {
    report(&check_edges("frontend/src", INTERFACE));
}

#[test]
fn each_foreign_crate_stays_where_it_belongs() {
    let mut faults = Vec::new();
    for source in sources(&["backend/src"]) {
        let module = source.module("backend/src");
        for (name, allowed) in CRATES {
            if allowed.contains(&module.as_str()) {
                continue;
            }
            faults.extend(source.lines_naming(name).map(|line| format!("{}:{line}: only {allowed:?} may name `{name}`", source.path)));
        }
    }
    report(&faults);
}

#[test]
fn some_things_are_done_in_one_place_only() {
    let mut faults = Vec::new();
    for (text, root, places, why) in ONLY_IN {
        for source in sources(&[root]) {
            if places.contains(&source.path.as_str()) {
                continue;
            }
            faults.extend(source.lines_with(text).map(|line| format!("{}:{line}: `{text}`: {why}", source.path)));
        }
    }
    report(&faults);
}

#[test]
fn pure_files_of_the_interface_need_no_browser() {
    let mut faults = Vec::new();
    for source in sources(&["frontend/src"]) {
        let is_pure = PURE.contains(&source.name()) || source.module("frontend/src") == "state";
        if is_pure {
            faults.extend(source.lines_naming("web_sys").map(|line| format!("{}:{line}: a pure file names web_sys", source.path)));
        }
    }
    report(&faults);
}

#[test]
fn no_text_becomes_markup_or_an_inline_style() {
    let mut faults = Vec::new();
    for file in text_files(&["frontend/src", "frontend/editor", "static"], &["rs", "ts", "js", "html"]) {
        for (line, text) in file.code_lines() {
            faults.extend(SINKS.iter().filter(|sink| text.contains(**sink)).map(|sink| format!("{}:{line}: `{sink}`", file.path)));
            // `style:width=` goes through the style object; the string form is an attribute, which the policy stops.
            if file.path.ends_with(".rs") && (text.contains(" style=") || text.trim_start().starts_with("style=")) {
                faults.push(format!("{}:{line}: a style as text", file.path));
            }
            let inline = [" style=", "<style", " onclick=", " onload=", "javascript:"];
            if file.path.ends_with(".html") && (inline.iter().any(|form| text.contains(form)) || is_inline_script(text)) {
                faults.push(format!("{}:{line}: inline script or style", file.path));
            }
        }
    }
    report(&faults);
}

fn is_inline_script(line: &str) -> bool {
    line.contains("<script") && !line.contains("src=")
}

#[test]
fn every_module_opens_with_what_it_is_for() {
    let all = sources(&["shared", "backend", "frontend/src", "e2e", "xtask/src", "bench"]);
    report(
        &all.iter()
            .filter(|source| !source.is_test() && !source.text.starts_with("//!"))
            .map(|source| format!("{}: no `//!` at its head", source.path))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn files_stay_short_and_beside_their_folders() {
    let mut faults = Vec::new();
    for source in sources(&["shared", "backend", "frontend/src", "e2e/src", "testing/src", "xtask/src", "bench"]) {
        let lines = source.lines_of_code();
        if lines > LINES_MAX && !source.is_test() && !TABLES.contains(&source.path.as_str()) {
            faults.push(format!("{}: {lines} lines, more than {LINES_MAX}", source.path));
        }
        if source.name() == "mod" {
            faults.push(format!("{}: name.rs beside name/, never mod.rs", source.path));
        }
    }
    report(&faults);
}

#[test]
fn names_say_what_a_thing_is() {
    let empty = ["Manager", "Helper", "Util", "Utils", "Service"];
    let mut faults = Vec::new();
    for source in sources(&["shared/src", "backend/src", "frontend/src", "e2e/src", "testing/src", "xtask/src"]) {
        for (line, text) in source.code_lines() {
            let named = ["struct ", "enum ", "trait ", "type "].iter().find_map(|keyword| text.split_once(keyword));
            let name: String = named.map(|(_, rest)| rest.chars().take_while(|c| c.is_alphanumeric()).collect()).unwrap_or_default();
            if empty.iter().any(|ending| name.ends_with(ending)) {
                faults.push(format!("{}:{line}: `{name}` says nothing", source.path));
            }
        }
    }
    report(&faults);
}

#[test]
fn the_reader_of_sources_sees_what_it_should() {
    let source = Source {
        path: "backend/src/http/routes/runs.rs".to_owned(),
        text: "//! Head: crate::nothing\nuse crate::{access::Grant, runs};\nuse crate::app::App; // crate::store\n\
               fn f() { crate::error::fault(); }\n#[cfg(test)]\nmod tests { use crate::engine; }\n"
            .to_owned(),
    };
    assert_eq!(source.module("backend/src"), "http");
    let used: Vec<(usize, String)> = source.crate_modules();
    let expected = [(2, "access"), (2, "runs"), (3, "app"), (4, "error")];
    assert_eq!(used, expected.map(|(line, name)| (line, name.to_owned())));
    assert_eq!(source.lines_of_code(), 4);
}
