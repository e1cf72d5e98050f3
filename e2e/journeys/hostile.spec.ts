import type { Locator } from "@playwright/test";
import { expect, test, Workbench } from "./support/journey.ts";
import { Postgres } from "./support/postgres.ts";
import { Server } from "./support/server.ts";

let postgres: Postgres;
let server: Server;
test.beforeAll(async () => {
  postgres = await Postgres.start();
  server = await Server.start(`postgres://${postgres.user}:${postgres.password}@127.0.0.1:${postgres.port}/postgres`);
});
test.afterAll(async () => {
  await server.stop();
  await postgres.stop();
});

/** Each would call `alert` in a page that takes text for markup. */
const PAYLOADS = [
  "<img src=x onerror=alert(1)>",
  "<svg onload=alert(2)>",
  "<script>alert(3)</script>",
  '"><img src=x onerror=alert(4)>',
  "<iframe srcdoc='<script>parent.alert(5)</script>'></iframe>",
  "<a href=javascript:alert(6) autofocus onfocus=alert(7)>x</a>",
  "<style>@import 'http://127.0.0.1:1/x'</style>",
  "<math><mi xlink:href='data:x,<script>alert(8)</script>'>",
  "{{constructor.constructor('alert(9)')()}}",
  "</div></section><h1 onmouseover=alert(10) style='position:fixed;inset:0'>all over</h1>",
];
const TABLE = "<h1 onmouseover=alert(1)>t";
const COLUMN = "<svg onload=alert(2)>";

test("z01 z02 z03 z05 names, values, plans and errors are text wherever they are shown", async ({ page, faults }) => {
  void faults; // The fixture fails on an uncaught error, a policy report and anything on the console, where `alert` writes too.
  await page.addInitScript(() => {
    window.alert = (words) => console.error(`alert: ${words}`);
  });
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("dialog", (dialog) => asked.push(`dialog ${dialog.message()}`));
  await page.goto(await server.launch());
  const w = new Workbench(page);
  await expect(w.explorer.getByRole("treeitem").first()).toBeVisible();
  const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
  await w.execute(`CREATE TABLE ${quoted(TABLE)} (${quoted(COLUMN)} int, "<b onclick=alert(3)>c" text DEFAULT '<i onclick=alert(4)>')`);
  await expect(w.messages).toContainText("CREATE TABLE");
  await w.execute(`COMMENT ON TABLE ${quoted(TABLE)} IS '<img src=x onerror=alert(5)>'`);
  await w.execute(`CREATE INDEX "<b onclick=alert(6)>i" ON ${quoted(TABLE)} (${quoted(COLUMN)})`);

  // The explorer, folded out, hovered over and by its menu.
  const table = w.explorer.getByRole("treeitem", { name: TABLE });
  await expect(table).toBeVisible();
  await table.hover();
  await table.click({ button: "right" });
  await page.keyboard.press("Escape");
  await table.focus();
  await page.keyboard.press("ArrowRight");
  await expect(w.explorer.getByRole("treeitem", { name: COLUMN })).toBeVisible();

  // Values, column heads and the viewer.
  const values = PAYLOADS.map((payload) => `('${payload.replaceAll("'", "''")}')`).join(", ");
  await w.execute(`SELECT v AS ${quoted(COLUMN)}, v::json IS NOT NULL AS j FROM (SELECT to_json(p)::text AS v FROM (VALUES ${values}) a(p)) b`);
  await expect(w.cell(PAYLOADS.length, 1)).toBeVisible();
  for (const [at, payload] of PAYLOADS.entries()) await expect(w.cell(at + 1, 1)).toHaveText(JSON.stringify(payload));
  await expect(w.grid.getByRole("columnheader", { name: COLUMN })).toBeVisible();
  for (const row of [1, 3, 10]) {
    await w.cell(row, 1).dblclick();
    await page.keyboard.press("Escape");
  }

  // A plan, an error's words, a user's name, completion of the names.
  await w.execute(`EXPLAIN (FORMAT JSON) SELECT * FROM ${quoted(TABLE)}`);
  await expect(w.cell(1, 1)).toContainText(TABLE);
  await w.execute(`SELECT ${quoted(COLUMN)} + '<img src=x onerror=alert(7)>'::int FROM ${quoted(TABLE)}`);
  await expect(w.messages).toContainText("<img src=x onerror=alert(7)>");
  await w.execute('CREATE ROLE "<script>alert(1)</script>" LOGIN');
  await w.execute('SET ROLE "<script>alert(1)</script>"');
  await w.execute("SELECT current_user");
  await expect(w.cell(1, 1)).toHaveText("<script>alert(1)</script>");
  await w.write("SELECT * FROM h1");
  await page.keyboard.press("Control+Space");
  await expect(w.completion).toContainText(TABLE);
  await page.keyboard.press("Escape");

  const foreign = asked.filter((url) => !url.startsWith(server.origin) && !url.startsWith("blob:") && !url.startsWith("data:"));
  expect(foreign).toEqual([]);
});

test("a character that turns a line around is shown as a mark", async ({ workbench: w }) => {
  await w.write("SELECT 1 AS one -- \u202E eno SA 1 TCELES");
  await expect(w.editor.locator(".cm-specialChar")).toHaveCount(1);
  await w.page.keyboard.press("Control+Enter");
  await expect(w.cell(1, 1)).toHaveText("1");
});

/** Of each class one, between letters: control, a blank that is no space, one that can't be seen, one that turns the line around. */
const UNSEEN = { "\u0001": "SOH", "\u001b": "ESC", "\u00a0": "NBSP", "\u200b": "ZWSP", "\u200d": "ZWJ", "\u2066": "LRI", "\u202e": "RLO", "\ufeff": "BOM" };

test("what turns a line around or can't be seen is a mark in cells, heads and names, and is copied as it is", async ({ page, context, faults }) => {
  void faults;
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(await server.launch());
  const w = new Workbench(page);
  await expect(w.explorer.getByRole("treeitem").first()).toBeVisible();
  const marks = (where: Locator) => where.locator(".mark").evaluateAll((all) => all.map((mark) => mark.getAttribute("data-mark")));
  const value = `a${Object.keys(UNSEEN).join("b")}z`;
  const escaped = [...value].map((c) => `\\u${c.codePointAt(0)!.toString(16).padStart(4, "0")}`).join("");
  const name = "us\u202Ers";
  await w.execute(`SELECT E'${escaped}' AS "na\u202Eme", 'ünïcödé, مرحبا, 👨\u200d👩\u200d👧' AS seen, E'one\\ntwo\\tthree' AS lines`);
  await expect(w.cell(1, 1)).toHaveText(value);
  expect(await marks(w.cell(1, 1))).toEqual(Object.values(UNSEEN));
  expect(await marks(w.cell(1, 2))).toEqual([]);
  expect(await marks(w.cell(1, 3))).toEqual(["↵", "→"]);
  expect(await marks(w.grid.getByRole("columnheader").first())).toEqual(["RLO"]);
  await expect(w.cell(1, 1).getByRole("img", { name: "Right-to-left override (U+202E)" })).toBeVisible();
  // In the order of the text: the letters behind the override do not run backwards.
  const places = await w.cell(1, 1).locator(".mark").evaluateAll((all) => all.map((mark) => mark.getBoundingClientRect().left));
  expect(places).toEqual([...places].sort((one, other) => one - other));
  await w.cell(1, 1).click();
  await page.keyboard.press("Control+c");
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(value);
  // A cell that had marks has none of them when another value takes its place.
  await w.execute("SELECT 'plain' AS word, 2 AS two, 3 AS three");
  await expect(w.cell(1, 1)).toHaveText("plain");
  expect(await marks(w.grid)).toEqual([]);

  await w.execute(`CREATE TABLE "${name}" (id int)`);
  await expect(w.messages).toContainText("CREATE TABLE");
  const table = w.explorer.getByRole("treeitem").filter({ hasText: name });
  await expect(table).toBeVisible();
  expect(await marks(table)).toEqual(["RLO"]);
  expect(await table.getAttribute("title")).toBe("us⟨RLO⟩rs");
  await w.write("SELECT * FROM us");
  await page.keyboard.press("Control+Space");
  await expect(w.completion.getByRole("option", { name: "us⟨RLO⟩rs" })).toBeVisible();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+p");
  const found = page.getByRole("option").filter({ hasText: name });
  await expect(found).toBeVisible();
  expect(await marks(found)).toEqual(["RLO"]);
  await found.click();
  const tab = page.getByRole("tab", { selected: true }).filter({ hasText: name }).first();
  await expect(tab).toBeVisible();
  expect(await marks(tab)).toEqual(["RLO"]);
});
