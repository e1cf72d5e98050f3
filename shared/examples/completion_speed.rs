//! Prints how long completion takes: `cargo run --release -p shared --example completion_speed`.
//! Figures only; what must not grow is asserted as counts in `tests/completion.rs`.

use shared::complete::{CatalogIndex, suggest};
use shared::sql::{Script, split};
use shared::wire::catalog::{Catalog, Column, Relation, Routine, Schema};
use shared::wire::connection::EngineKind;
use std::hint::black_box;
use std::time::Instant;

const WORDS: [&str; 16] = [
    "customer", "order", "line", "daily", "archive", "invoice", "payment", "stock", "price", "user", "event", "log", "region", "store",
    "audit", "token",
];

fn name(n: usize) -> String {
    let word = |at: usize| WORDS.get(at % 16).copied().unwrap_or("x");
    format!("{}_{}_{n}", word(n), word(n / 16))
}

fn catalog(tables: usize, routines: usize, columns: usize) -> Catalog {
    let column = |n: usize| Column { name: format!("{}_id", name(n)), type_name: "integer".into(), ..Column::default() };
    let relation =
        |n: usize| Relation { name: name(n), columns: (0..columns).map(|c| column(c + n % 50)).collect(), ..Relation::default() };
    let routine = |n: usize| Routine { name: format!("fn_{}", name(n)), arguments: "a integer".into(), returns: "integer".into() };
    let schema = Schema {
        name: "public".into(),
        relations: (0..tables).map(relation).collect(),
        routines: (0..routines).map(routine).collect(),
        ..Schema::default()
    };
    Catalog { database: "speed".into(), search_path: vec!["public".into()], schemas: vec![schema] }
}

/// Median microseconds of many goes.
fn measure(mut go: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..400)
        .map(|_| {
            let start = Instant::now();
            go();
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

fn main() {
    for (tables, routines, columns) in [(1_000, 5_000, 10), (100_000, 0, 10)] {
        let catalog = catalog(tables, routines, columns);
        let start = Instant::now();
        let index = CatalogIndex::build(&catalog);
        println!(
            "{tables} tables, {routines} routines, {} columns: index built in {:.1} ms",
            tables * columns,
            start.elapsed().as_secs_f64() * 1e3
        );
        let cases = [
            "SELECT * FROM c",
            "SELECT * FROM cust",
            "SELECT * FROM custord",
            "SELECT * FROM ",
            "SELECT * FROM e",
            "SELECT fn_c FROM customer_order_16 a",
            "SELECT a.c FROM customer_order_16 a",
            "SELECT o",
        ];
        for text in cases {
            let cursor = text.find(" FROM customer").unwrap_or(text.len());
            let found = suggest(&index, text, cursor, EngineKind::Postgres);
            let time = measure(|| {
                black_box(suggest(&index, text, cursor, EngineKind::Postgres));
            });
            println!("  {time:8.1} us  {text:40} {} items, {:?}", found.items.len(), found.effort);
        }
        let time = measure(|| {
            black_box(index.search("custord", 50));
        });
        println!("  {time:8.1} us  search custord");
    }
    let mut text = String::new();
    while text.len() < 1 << 20 {
        text.push_str("SELECT o.id, o.total, 'a line' FROM orders o WHERE o.customer_id = 17 AND o.status = 'paid';\n");
    }
    println!("split of 1 MiB: {:.0} us", measure(|| drop(black_box(split(&text, EngineKind::Postgres)))));
    let mut script = Script::new(text, EngineKind::Postgres);
    println!("edit in the middle of 1 MiB: {:.1} us", measure(|| script.edit(500_000, 0, "x")));
    println!(
        "statement at a cursor of 1 MiB: {:.1} us",
        measure(|| {
            black_box(script.statement_at(900_000));
        })
    );
}
