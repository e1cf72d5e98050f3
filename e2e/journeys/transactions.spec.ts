import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "./support/journey.ts";
import { Postgres } from "./support/postgres.ts";

test("transactions that end by hand: opened by the first statement, shown, and ended by the keyboard", async ({ workbench: w, page }) => {
  const command = async (name: string) => {
    await page.keyboard.press("Control+Shift+p");
    await page.keyboard.type(name);
    await page.keyboard.press("Enter");
    await expect(page.getByRole("dialog")).toBeHidden();
  };
  const mode = page.getByRole("combobox", { name: "Transactions" });
  await w.execute("CREATE TABLE by_hand(a)");
  await expect(w.status).toContainText("Done");
  await command("commit by hand");
  await expect(mode).toHaveValue("manual");
  await expect(w.status).not.toContainText("Transaction open");
  await w.execute("SELECT nothing FROM by_hand");
  await expect(w.status).toContainText("Failed");
  await expect(w.status).not.toContainText("Transaction");
  await w.execute("INSERT INTO by_hand VALUES (1)");
  await expect(w.status).toContainText("Transaction open");
  await command("roll the transaction back");
  await expect(w.status).not.toContainText("Transaction open");
  await w.execute("SELECT count(*) FROM by_hand");
  await expect(w.cell(1, 1)).toHaveText("0");
  await expect(w.status).toContainText("Transaction open");
  await page.keyboard.press("Alt+w");
  await expect(page.getByRole("dialog", { name: "Close console" })).toBeVisible();
  await page.keyboard.press("Escape");
  // A reload of the page loses nothing of it, nor does a choice in a list.
  await page.reload();
  await expect(w.editor).toBeVisible();
  await expect(w.status).toContainText("Transaction open");
  await w.editor.focus();
  await command("commit the transaction");
  await expect(w.status).not.toContainText("Transaction open");
  // What was defined inside is followed once it is there for everybody.
  await w.execute("CREATE TABLE made_by_hand(a)");
  await expect(w.status).toContainText("Transaction open");
  await command("commit the transaction");
  await expect(w.explorer.getByRole("treeitem", { name: /^made_by_hand\b/ })).toBeVisible();
  await w.execute("DROP TABLE made_by_hand");
  await expect(w.status).toContainText("Transaction open");
  await command("commit the transaction");
  await expect(w.explorer.getByRole("treeitem", { name: /^made_by_hand\b/ })).toBeHidden();
  // The mode is the console's own, and outlives a reload.
  await page.keyboard.press("Alt+n");
  await expect(page.getByRole("tabpanel").getByRole("combobox", { name: "Transactions" })).toHaveValue("auto");
  await page.reload();
  await expect(w.editor).toBeVisible();
  await page.keyboard.press("Alt+Comma");
  await expect(page.getByRole("tabpanel").getByRole("combobox", { name: "Transactions" })).toHaveValue("manual");
  await command("commit each statement");
  await w.execute("DROP TABLE by_hand");
  await expect(w.status).toContainText("Done");
  await expect(w.status).not.toContainText("Transaction open");
});

test("a console with an open transaction stays on its connection until that is ended", async ({ workbench: w, page }) => {
  const folder = await mkdtemp(join(tmpdir(), "sheaf-journey-other-"));
  try {
    // An empty file is an empty database.
    await writeFile(join(folder, "other.sqlite"), "");
    const dialog = page.getByRole("dialog", { name: "Connection" });
    const place = page.getByLabel("Console runs on");
    const chosen = place.locator("option:checked");
    await page.getByRole("button", { name: "New connection" }).first().click();
    await dialog.getByLabel("File", { exact: true }).fill(join(folder, "other.sqlite"));
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect(chosen).toHaveText("other.sqlite");
    await w.execute("BEGIN");
    await expect(w.status).toContainText("Transaction open");
    await w.execute("CREATE TABLE kept(a)");
    await expect(w.status).toContainText("Done");
    await place.selectOption("Sample shop");
    await expect(w.messages).toContainText("This console stays where it is: it has an open transaction");
    await expect(chosen).toHaveText("other.sqlite");
    // Neither is it lost unasked with its connection.
    await w.explorer.getByRole("treeitem", { name: /^other\.sqlite\b/ }).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Delete…" }).click();
    const question = page.getByRole("dialog", { name: "Delete connection" });
    await expect(question).toContainText("A console on it has an open transaction: it will be rolled back");
    await question.getByRole("button", { name: "Keep" }).click();
    await w.execute("COMMIT");
    await expect(w.status).not.toContainText("Transaction open");
    await place.selectOption("Sample shop");
    await expect(chosen).toHaveText("Sample shop");
    await place.selectOption("other.sqlite");
    await w.execute("SELECT count(*) FROM kept");
    await expect(w.cell(1, 1)).toHaveText("0");
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("e05 notices are shown while the statement runs, one after the other", async ({ workbench: w, page }) => {
  const postgres = await Postgres.start();
  try {
    await w.connect("PostgreSQL", "Notices", postgres, "postgres");
    await w.execute("SELECT pg_advisory_lock(5)");
    await expect(w.status).toContainText("1 row");
    await page.keyboard.press("Alt+n");
    await w.execute("DO $$ BEGIN RAISE NOTICE 'n=1'; PERFORM pg_advisory_lock(5); RAISE NOTICE 'n=2'; END $$");
    await expect(w.messages).toContainText("NOTICE: n=1");
    await expect(w.messages).not.toContainText("n=2");
    await expect(w.cancel).toBeVisible();
    await page.keyboard.press("Alt+Comma");
    await w.execute("SELECT pg_advisory_unlock(5)");
    await page.keyboard.press("Alt+Period");
    await expect(w.messages).toContainText("NOTICE: n=2");
    await expect(w.messages).toContainText(/Done in/);
    await expect(w.messages.getByText("NOTICE: n=1")).toHaveCount(1);
    // A warning among notices shows at the count, until the next statement.
    const button = page.getByRole("button", { name: /^Messages/ });
    const body = "BEGIN RAISE WARNING 'beware'; RAISE NOTICE 'n=3'; RAISE NOTICE 'n=4'; RETURN 7; END";
    await w.execute(`CREATE FUNCTION pg_temp.warn() RETURNS int LANGUAGE plpgsql AS $$ ${body} $$`);
    await expect(w.messages).toContainText("CREATE FUNCTION");
    await w.execute("SELECT pg_temp.warn()");
    await expect(w.cell(1, 1)).toHaveText("7");
    await expect(button).toHaveClass(/warned/);
    await w.execute("SELECT 8");
    await expect(w.cell(1, 1)).toHaveText("8");
    await expect(button).not.toHaveClass(/warned|fault/);
  } finally {
    await postgres.stop();
  }
});
