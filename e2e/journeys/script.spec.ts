import { expect, test, type Workbench } from "./support/journey.ts";

const results = (w: Workbench) => w.page.getByRole("tablist", { name: "Results" });

async function runScript(w: Workbench, sql: string) {
  await w.write(sql);
  await w.page.keyboard.press("Control+Shift+Enter");
}

test("a script shows every result, each under its own tab, and the keyboard alone goes through them", async ({ workbench: w, page }) => {
  await runScript(w, "SELECT 1 AS one;\nCREATE TEMP TABLE seen(a);\nINSERT INTO seen VALUES (1), (2);\nSELECT * FROM seen;\nSELECT id, name FROM products;");
  const tabs = results(w).getByRole("tab");
  await expect(tabs).toHaveCount(3);
  await expect(tabs).toHaveText([/^1\s*SELECT 1 AS one\s*1 row$/, /^4\s*seen\s*2 rows$/, /^5\s*products\s*[\d,]+\+? rows$/]);
  await expect(w.status).toContainText("5 statements");
  await expect(w.grid.getByRole("columnheader")).toHaveCount(2);

  await page.keyboard.press("Alt+Shift+Comma");
  await expect(tabs.nth(1)).toHaveAttribute("aria-selected", "true");
  await expect(w.grid.getByRole("gridcell")).toHaveText(["1", "2"]);
  await page.keyboard.press("Alt+3");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Alt+Shift+Comma");
  await expect(w.grid.getByRole("gridcell")).toHaveText(["1"]);
  await tabs.first().focus();
  await page.keyboard.press("ArrowRight");
  await expect(tabs.nth(1)).toBeFocused();
  await page.keyboard.press("End");
  await expect(tabs.nth(2)).toBeFocused();
  await expect(tabs.nth(2)).toHaveAttribute("aria-selected", "true");

  // What changed no rows has its line, and the whole its time.
  await page.keyboard.press("Alt+5");
  await expect(w.messages).toContainText(/2 rows changed in [\d.]+ ms/);
  await expect(w.messages).toContainText(/Script done: 5 statements in [\d.]+ m?s/);

  // The next run closes them together.
  await w.execute("SELECT 'alone' AS word");
  await expect(w.cell(1, 1)).toHaveText("alone");
  await expect(results(w)).toHaveCount(0);
});

test("e07 a script says which statement failed, marks it, and stops there; told otherwise it goes on", async ({ workbench: w, page }) => {
  const script = "SELECT 1;\nSELECT 2;\nSELECT * FROM nope;\nSELECT 4;";
  await runScript(w, script);
  const tabs = results(w).getByRole("tab");
  await expect(tabs).toHaveCount(3);
  await expect(tabs.nth(2)).toContainText("failed");
  await expect(tabs.nth(1)).toHaveAttribute("aria-selected", "true");
  await expect(w.messages).toContainText(/Statement 3 of 4, line 3(, column 15)?: no such table: nope/);
  await expect(w.messages).toContainText("Script stopped at statement 3 of 4: 2 done, 1 failed, 1 not run");
  await expect(w.status).toContainText("Failed at 3 of 4");
  await expect(page.getByRole("note", { name: "Error" })).toContainText("no such table: nope");
  await tabs.nth(2).click();
  await expect(page.getByText("Statement 3 of 4 failed")).toBeVisible();

  const how = page.getByRole("button", { name: "How to run" });
  await how.click();
  await page.getByRole("menuitemcheckbox", { name: "Continue after errors" }).click();
  await runScript(w, script);
  await expect(tabs).toHaveCount(4);
  await expect(w.cell(1, 1)).toHaveText("4");
  await expect(w.messages).toContainText("Script done with errors: 3 done, 1 failed");
  await expect(w.status).toContainText("1 of 4 failed");
  // Kept for this window, over a reload.
  await page.reload();
  await expect(w.editor).toBeVisible();
  await how.click();
  await expect(page.getByRole("menuitemcheckbox", { name: "Continue after errors" })).toHaveAttribute("aria-checked", "true");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Shift+p");
  await page.keyboard.type("stop at the first");
  await page.keyboard.press("Enter");
  await runScript(w, script);
  await expect(w.status).toContainText("Failed at 3 of 4");
});

test("more results than a console holds: the oldest is closed, and its tab says so", async ({ workbench: w, page }) => {
  await runScript(w, Array.from({ length: 52 }, (_, n) => `SELECT ${n + 1} AS n;`).join("\n"));
  await expect(w.status).toContainText("52 statements");
  const tabs = results(w).getByRole("tab");
  await expect(tabs).toHaveCount(52);
  await expect(w.cell(1, 1)).toHaveText("52");
  await expect(tabs.nth(1)).toContainText("closed");
  await expect(tabs.nth(2)).toContainText("1 row");
  await tabs.first().click();
  await expect(page.getByText("The result of statement 1 was closed")).toBeVisible();
  await tabs.nth(2).click();
  await expect(w.cell(1, 1)).toHaveText("3");
});

test("what a script defines is asked for once; where no answer comes, the list that is shown stays", async ({ workbench: w, page }) => {
  let asked = 0;
  page.on("request", (request) => (asked += /\/catalog(\/changes)?$/.test(new URL(request.url()).pathname) ? 1 : 0));
  const of = (what: string) => Array.from({ length: 20 }, (_, n) => `${what} made_${n}`);
  const row = (name: string) => w.explorer.getByRole("treeitem", { name: new RegExp(`^${name}\\b`) });
  await runScript(w, `${of("CREATE TABLE").join("(a);\n")}(a);`);
  await expect(w.status).toContainText("20 statements");
  await expect(row("made_19")).toBeVisible();
  expect(asked).toBe(1);

  await page.route("**/catalog/changes", (route) => route.abort());
  await runScript(w, of("DROP TABLE").join(";\n"));
  await expect(row("This list may be old")).toBeVisible();
  await expect(row("made_19")).toBeVisible();
  await page.unroute("**/catalog/changes");
  await row("This list may be old").getByRole("button", { name: "Retry" }).click();
  await expect(row("made_19")).toBeHidden();
  await expect(row("This list may be old")).toBeHidden();
  await expect(row("customers")).toBeVisible();
});
