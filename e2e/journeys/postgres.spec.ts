import { type Page } from "@playwright/test";
import { expect, test, type Workbench } from "./support/journey.ts";
import { Postgres } from "./support/postgres.ts";

let postgres: Postgres;
test.beforeAll(async () => {
  postgres = await Postgres.start();
});
test.afterAll(async () => {
  await postgres.stop();
});

test("connect to PostgreSQL: a wrong password is said where it is typed, the right one saves and runs", async ({ workbench: w, page }) => {
  await page.getByRole("button", { name: "New connection" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Connection" });
  await dialog.getByLabel("PostgreSQL").check({ force: true });
  await dialog.getByLabel("Name", { exact: true }).fill("Orders (test)");
  await dialog.getByLabel("Host", { exact: true }).fill("127.0.0.1");
  await dialog.getByLabel("Port", { exact: true }).fill(String(postgres.port));
  await dialog.getByLabel("Database", { exact: true }).fill("postgres");
  await dialog.getByLabel("User", { exact: true }).fill(postgres.user);
  await dialog.getByLabel("Password", { exact: true }).fill("wrong");
  await dialog.getByRole("button", { name: "Test" }).click();
  await expect(dialog).toContainText('password authentication failed for user "sheaf"');

  await dialog.getByLabel("Password", { exact: true }).fill(postgres.password);
  await dialog.getByRole("button", { name: "Test" }).click();
  await expect(dialog).toContainText(/PostgreSQL \d+/);
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog).toBeHidden();
  const row = w.explorer.getByRole("treeitem", { name: /Orders \(test\)/ });
  await expect(row).toHaveAttribute("aria-selected", "true");
  await expect(row).toHaveAttribute("aria-expanded", "true");
  await expect(w.status).toContainText("Orders (test)");
  await expect(w.editor).toBeFocused();

  await w.execute("SELECT g, md5(g::text) AS hash, 0.10::numeric(12,2) AS money, true AS yes FROM generate_series(1, 2000000) g");
  await expect(w.cell(1, 2)).toHaveText("c4ca4238a0b923820dcc509a6f75849b");
  await expect(w.cell(1, 3)).toHaveText("0.10");
  await expect(w.cell(1, 4)).toHaveText("t");
  await expect(w.grid).toHaveAttribute("aria-rowcount", "-1");

  await w.execute("SELECT pg_sleep(600)");
  await expect(w.cancel).toBeVisible();
  await w.cancel.click();
  await expect(w.messages).toContainText("canceling statement due to user request");
  await expect(w.messages).toContainText("57014");

  await w.execute("SELECT 'é' || nme FROM pg_class");
  await expect(w.messages).toContainText('column "nme" does not exist');

  // A transaction that has failed says so, and nothing claims that its COMMIT kept anything.
  await w.execute("BEGIN");
  await expect(w.status).toContainText("Transaction open");
  await w.execute("SELECT 1/0");
  await expect(w.status).toContainText("Transaction failed");
  await expect(page.getByRole("button", { name: "Commit", exact: true })).toBeHidden();
  await w.execute("COMMIT");
  await expect(w.messages).toContainText("The transaction had failed before: it was rolled back, and nothing of it is kept");
  await expect(w.status).not.toContainText("Transaction");

  // A COMMIT that is refused has rolled back: nothing is open any more, and nothing says so.
  await w.execute("CREATE TEMP TABLE once (a int UNIQUE DEFERRABLE INITIALLY DEFERRED)");
  await expect(w.status).toContainText("Done");
  await w.execute("BEGIN");
  await expect(w.status).toContainText("Transaction open");
  await w.execute("INSERT INTO once VALUES (1), (1)");
  await expect(w.status).toContainText("2 rows changed");
  await page.getByRole("button", { name: "Commit", exact: true }).click();
  await expect(w.messages).toContainText('duplicate key value violates unique constraint "once_a_key"');
  await expect(w.status).not.toContainText("Transaction");
  await expect(page.getByRole("button", { name: "Roll back", exact: true })).toBeHidden();

  // What acts behind a view is undone when the rest of its rows is given up, and that is said.
  await w.write(`CREATE TABLE acted (n int);
CREATE FUNCTION act(n int) RETURNS int LANGUAGE sql AS 'INSERT INTO acted VALUES (n) RETURNING n';
CREATE VIEW acting AS SELECT act(n) FROM generate_series(1, 5000) n;
SELECT 'made' AS made`);
  await page.keyboard.press("Control+Shift+Enter");
  await expect(w.cell(1, 1)).toHaveText("made");
  await w.execute("SELECT * FROM acting");
  await expect(w.status).toContainText("1,000+ rows");
  await w.execute("SELECT 'acted: ' || count(*) FROM acted");
  await expect(w.cell(1, 1)).toHaveText("acted: 0");
  await page.keyboard.press("Alt+5");
  await expect(w.messages).toContainText("all of it was undone, so that nothing is left half done");
});

/** Holds back what is asked of schemas until it is called: an answer that takes long, whatever the machine. */
async function holdSchemas(page: Page): Promise<() => void> {
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/catalog/schemas", async (route) => {
    await held;
    await route.continue();
  });
  return release;
}

/** Unfolds a system table whose columns are held back; what finds a row of the explorer from then on. */
async function unfoldHeld(w: Workbench) {
  const row = (name: string) => w.explorer.getByRole("treeitem", { name: new RegExp(`^${name}\\b`) });
  for (const name of ["information_schema", "sql_features"]) {
    await row(name).focus();
    await w.page.keyboard.press("ArrowRight");
  }
  await expect(row("Reading the columns")).toBeVisible();
  return row;
}

test("what is in a schema is read when it is unfolded, and its names are there before", async ({ workbench: w, page }) => {
  const release = await holdSchemas(page);
  await w.connect("PostgreSQL", "Large", postgres, "postgres");
  const row = await unfoldHeld(w);
  release();
  await expect(row("feature_id")).toBeVisible();
  await expect(row("Reading the columns")).toBeHidden();
});

test("completion asks for what is in a schema that a statement names, and completes when it is here", async ({ workbench: w, page }) => {
  const release = await holdSchemas(page);
  await w.connect("PostgreSQL", "Completed", postgres, "postgres");
  await expect(w.explorer.getByRole("treeitem", { name: /^information_schema\b/ })).toBeVisible();
  const asked = page.waitForRequest("**/catalog/schemas");
  await w.write("SELECT * FROM information_schema.sql_features f WHERE f");
  await page.keyboard.type(".feature_n");
  expect((await asked).postDataJSON().schemas).toContain("information_schema");
  await expect(w.completion).toBeHidden();
  release();
  await expect(w.completion).toContainText("feature_name");
});

test("a list that waits for the names of a schema does not come up over what was run meanwhile", async ({ workbench: w, page }) => {
  const release = await holdSchemas(page);
  await w.connect("PostgreSQL", "Run first", postgres, "postgres");
  const row = await unfoldHeld(w);
  await w.write("SELECT * FROM information_schema.sql_features f WHERE f");
  await page.keyboard.type(".feature_n");
  await page.keyboard.press("Control+Enter");
  await expect(w.messages).toContainText("feature_n does not exist");
  release();
  await expect(row("feature_id")).toBeVisible();
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  await expect(w.completion).toBeHidden();
  await page.keyboard.press("Control+Space");
  await expect(w.completion).toContainText("feature_name");
});

test("rows of a run before say whose they are and step back: under an error, while another runs, on another connection", async ({ workbench: w, page }) => {
  await w.connect("PostgreSQL", "First", postgres, "postgres");
  const place = page.getByRole("tabpanel");
  const before = () => w.cell(1, 1).evaluate((cell) => getComputedStyle(cell).color);
  await w.execute("SELECT 7 AS seven");
  await expect(w.cell(1, 1)).toHaveText("7");
  const own = await before();
  await expect(place).not.toContainText("Rows of the run before");

  await w.execute("SELECT nme");
  await expect(place).toContainText("Rows of the run before: SELECT 7 AS seven");
  expect(await before()).not.toBe(own);

  await w.execute("SELECT 8 AS eight");
  await expect(w.cell(1, 1)).toHaveText("8");
  expect(await before()).toBe(own);
  await w.execute("SELECT pg_sleep(600)");
  await expect(place).toContainText("Rows of the run before: SELECT 8 AS eight");
  expect(await before()).not.toBe(own);
  await w.cancel.click();
  await expect(w.run).toBeEnabled();

  await w.execute("SELECT 9 AS nine");
  await expect(w.cell(1, 1)).toHaveText("9");
  expect(await before()).toBe(own);
  await page.getByLabel("Console runs on").selectOption("Sample shop");
  await expect(place).toContainText("Rows of the run before, on First: SELECT 9 AS nine");
  expect(await before()).not.toBe(own);
});

test("what the database says beside a result looks as serious as it is", async ({ workbench: w }) => {
  await w.connect("PostgreSQL", "Said", postgres, "postgres");
  await w.execute("SET client_min_messages = log");
  await expect(w.status).toContainText("Done");
  await w.execute("DO $$ BEGIN RAISE LOG 'as a log'; RAISE NOTICE 'as a notice'; RAISE INFO 'as an info'; RAISE WARNING 'as a warning'; RAISE 'as an error'; END $$");
  const told = { "as a log": "Log", "as a notice": "Notice", "as an info": "Notice", "as a warning": "Warning", "as an error": "Error" };
  const colours = new Map<string, string>();
  for (const [words, severity] of Object.entries(told)) {
    const entry = w.messages.locator(".entry").filter({ has: w.page.locator(".entry-text", { hasText: words }) });
    const glyph = entry.getByRole("img", { name: severity, exact: true });
    await expect(glyph).toBeVisible();
    colours.set(severity, await glyph.evaluate((it) => getComputedStyle(it).color));
  }
  expect(new Set(colours.values()).size).toBe(4);
});

test("b04 b05 a schema that may not be used says so, and takes nothing else with it", async ({ workbench: w, page }) => {
  await w.connect("PostgreSQL", "Owner", postgres, "postgres");
  await w.write(`CREATE ROLE guest LOGIN PASSWORD 'bound';
CREATE SCHEMA closed; CREATE TABLE closed.secrets (pin int); CREATE TABLE open_to_all AS SELECT 7 AS n; GRANT SELECT ON open_to_all TO guest;
SELECT 'made' AS made`);
  await page.keyboard.press("Control+Shift+Enter");
  await expect(w.cell(1, 1)).toHaveText("made");

  await w.connect("PostgreSQL", "Guest", { port: postgres.port, user: "guest", password: "bound" }, "postgres");
  const closed = w.explorer.getByRole("treeitem", { name: /^closed\s+no permission/ });
  await closed.focus();
  await page.keyboard.press("ArrowRight");
  await expect(w.explorer.getByRole("treeitem", { name: "No permission to use it" })).toBeVisible();
  await w.execute("SELECT n FROM open_to_all");
  await expect(w.cell(1, 1)).toHaveText("7");
  await w.execute("SELECT * FROM closed.secrets");
  await expect(w.messages).toContainText("permission denied for schema closed");
  // The owner may open its table, the guest is not offered it.
  await page.keyboard.press("Control+p");
  await page.keyboard.type("secrets");
  await expect(page.getByRole("option", { name: /secrets/ })).toHaveCount(1);
  await expect(page.getByRole("option", { name: /secrets/ })).toContainText("Owner");
});

test("a value that is refused is marked in the form, which comes again", async ({ workbench: w, page }) => {
  await w.connect("PostgreSQL", "Values", postgres, "postgres");
  const form = page.getByRole("dialog", { name: "Values" });
  await w.execute("SELECT $1::text AS word, $2::int + 1 AS next");
  await form.getByLabel("$1", { exact: true }).fill("seven");
  await form.getByLabel("$2", { exact: true }).fill("seven");
  await form.getByRole("button", { name: "Run" }).click();
  const refused = form.getByLabel("$2", { exact: true });
  await expect(refused).toHaveAttribute("aria-invalid", "true");
  await expect(refused).toHaveAccessibleDescription('invalid input syntax for type integer: "seven"');
  await expect(form.getByRole("alert")).toBeVisible();
  await expect(refused).toBeFocused();
  await expect(form.getByLabel("$1", { exact: true })).toHaveAttribute("aria-invalid", "false");
  await refused.fill("7");
  await expect(refused).toHaveAttribute("aria-invalid", "false");
  await page.keyboard.press("Enter");
  await expect(w.cell(1, 2)).toHaveText("8");
});

test("own schemas come first, names in their natural order, and a filter leaves only where there is a hit", async ({ workbench: w, page }) => {
  await w.connect("PostgreSQL", "Sorted", postgres, "postgres");
  await w.write("CREATE SCHEMA zoo; CREATE TABLE zoo.t10 (a int); CREATE TABLE zoo.t2 (a int); CREATE TABLE zoo.t1 (a int); SELECT 'made' AS made");
  await page.keyboard.press("Control+Shift+Enter");
  await expect(w.cell(1, 1)).toHaveText("made");
  const zoo = w.explorer.getByRole("treeitem", { name: /^zoo\b/ });
  await zoo.focus();
  await page.keyboard.press("ArrowRight");
  await expect(w.explorer.getByRole("treeitem", { name: /^t10\b/ })).toBeVisible();
  const labels = () => w.explorer.locator(".tree-label").allTextContents();
  const all = await labels();
  const place = (name: string) => all.lastIndexOf(name);
  expect([place("t1"), place("t2"), place("t10")]).toEqual([1, 2, 3].map((by) => place("zoo") + by));
  expect(place("information_schema")).toBeGreaterThan(place("t10"));
  const filter = page.getByLabel("Filter tables and views");
  await filter.fill("t10");
  await expect(w.explorer.getByText("Sample shop")).toBeHidden();
  expect((await labels()).slice(-3)).toEqual(["Sorted", "zoo", "t10"]);
  await filter.fill("no such name anywhere");
  await expect(w.explorer.getByRole("treeitem", { name: "No table or view of that name" })).toBeVisible();
  await filter.fill("");
  await expect(w.explorer.getByText("Sample shop")).toBeVisible();
});
