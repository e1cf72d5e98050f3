// Reads a SQLite file with node:sqlite, as often as it is asked: one word a line on stdin (all, get, prepared-get), and for each a line
// of JSON on stdout: milliseconds, rows and the sum of the first column, so that a wrong answer is seen.
// usage: node sqlite.mjs FILE SQL_ALL SQL_ONE GETS
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";

const [file, all, one, gets] = process.argv.slice(2);
const db = new DatabaseSync(file, { readOnly: true });
const prepared = db.prepare(one);
const ways = {
  all() {
    return db.prepare(all).all();
  },
  get() {
    const rows = [];
    for (let n = 0; n < Number(gets); n += 1) rows.push(db.prepare(one).get());
    return rows;
  },
  "prepared-get"() {
    const rows = [];
    for (let n = 0; n < Number(gets); n += 1) rows.push(prepared.get());
    return rows;
  },
};
for await (const way of createInterface({ input: process.stdin })) {
  const started = performance.now();
  const rows = ways[way]();
  const ms = performance.now() - started;
  console.log(JSON.stringify({ ms, rows: rows.length, sum: rows.reduce((sum, row) => sum + row.id, 0) }));
}
