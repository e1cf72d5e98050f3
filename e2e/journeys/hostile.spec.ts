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
