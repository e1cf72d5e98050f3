import { expect, test } from "./support/journey.ts";
import { Far } from "./support/far.ts";
import { Postgres } from "./support/postgres.ts";

let postgres: Postgres;
let far: Far;
test.beforeAll(async () => {
  postgres = await Postgres.start();
  far = await Far.start(postgres.port, 75);
});
test.afterAll(async () => {
  await far.stop();
  await postgres.stop();
});

/** Behind `late` a function writes a row that is refused at the end of the transaction. */
const MADE = `CREATE TABLE parent (n int PRIMARY KEY);
CREATE TABLE child (n int REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
CREATE FUNCTION act() RETURNS int LANGUAGE sql VOLATILE AS 'INSERT INTO child VALUES (9) RETURNING n';
CREATE VIEW plain AS SELECT 3 AS n;
CREATE VIEW late AS SELECT act() AS n;`;

test("rows from a server far away are there before the end of their query, which is told without a word too much", async ({ workbench: w, page }) => {
  await w.connect("PostgreSQL", "Far", { user: postgres.user, password: postgres.password, port: far.port }, "postgres");
  await w.write(MADE);
  await page.keyboard.press("Control+Shift+Enter");
  await expect(w.status).toContainText("5 statements");
  const [asked, wrong]: [string[], string[]] = [[], []];
  page.on("request", (request) => asked.push(request.url()));
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  await w.execute("SELECT n FROM plain");
  await expect(w.cell(1, 1)).toHaveText("3");
  await expect(w.status).toContainText("1 row");
  await expect.poll(() => asked.filter((url) => url.endsWith("settled=true")).length).toBe(1);
  expect(asked.filter((url) => url.endsWith("/next"))).toEqual([]);

  // Where the end is refused nothing happened: no rows are left to be taken for something, and there is no second result.
  await w.execute("SELECT n FROM late");
  await expect(w.messages).toContainText("violates foreign key constraint");
  await expect(w.messages).not.toContainText("Result 2");
  await expect(w.grid).toBeHidden();
  await expect(page.getByRole("tablist", { name: "Results" })).toBeHidden();
  await w.execute("SELECT count(*) FROM child");
  await expect(w.cell(1, 1)).toHaveText("0");

  // A script goes from end to end, and stops where one is refused.
  await w.write("SELECT n FROM plain; SELECT n FROM late; SELECT n + 1 FROM plain;");
  await page.keyboard.press("Control+Shift+Enter");
  await expect(w.messages).toContainText("Statement 2 of 3");
  await expect(w.messages).toContainText("Script stopped at statement 2 of 3: 1 done, 1 failed, 1 not run");
  expect(wrong).toEqual([]);
});
