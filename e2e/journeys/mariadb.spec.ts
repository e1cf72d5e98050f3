import { expect, test } from "./support/journey.ts";
import { Mariadb } from "./support/mariadb.ts";

let mariadb: Mariadb;
test.beforeAll(async () => {
  mariadb = await Mariadb.start();
});
test.afterAll(async () => {
  await mariadb.stop();
});

test("connect to MariaDB by the dialog: a mighty user is no read-only one, then run, bind, page, read an error, cancel", async ({ workbench: w, page }) => {
  await page.getByRole("button", { name: "New connection" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Connection" });
  await dialog.getByLabel("MySQL").check({ force: true });
  await dialog.getByLabel("Name", { exact: true }).fill("Shop (test)");
  await dialog.getByLabel("Host", { exact: true }).fill("127.0.0.1");
  await dialog.getByLabel("Port", { exact: true }).fill(String(mariadb.port));
  await dialog.getByLabel("Database", { exact: true }).fill("shop");
  await dialog.getByLabel("User", { exact: true }).fill(mariadb.user);
  await dialog.getByLabel("Password", { exact: true }).fill("wrong");
  await dialog.getByRole("button", { name: "Test" }).click();
  await expect(dialog).toContainText("Access denied for user 'sheaf'");

  await dialog.getByLabel("Password", { exact: true }).fill(mariadb.password);
  await dialog.getByLabel("Read-only").check({ force: true });
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog).toContainText("A read-only connection needs a user who can't get around it, and this one has FILE.");
  await dialog.getByLabel("Read-only").uncheck({ force: true });
  await dialog.getByRole("button", { name: "Test" }).click();
  await expect(dialog).toContainText(/MariaDB \d+/);
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog).toBeHidden();
  await expect(w.status).toContainText("Shop (test)");
  await expect(w.editor).toBeFocused();

  // A script as the client takes it, all of it by its key.
  await w.write("DELIMITER ;;\nCREATE PROCEDURE dbl(n INT) BEGIN DECLARE m INT; SET m = n; SELECT m * 2 AS dbl; END;;\nDELIMITER ;\nCALL dbl(3);");
  await page.keyboard.press("Control+Shift+Enter");
  await expect(w.cell(1, 1)).toHaveText("6");

  await w.execute("SELECT ? AS word, ? + 1 AS next");
  const form = page.getByRole("dialog", { name: "Values" });
  await form.getByLabel("?1", { exact: true }).fill("it's");
  await form.getByLabel("?2", { exact: true }).fill("41");
  await form.getByRole("button", { name: "Run" }).click();
  await expect(w.cell(1, 1)).toHaveText("it's");
  await expect(w.cell(1, 2)).toHaveText("42");

  await w.execute("SELECT seq, MD5(seq) AS hash, CAST('838:59:59' AS TIME) AS t, b'101' AS b FROM seq_1_to_100000");
  await expect(w.cell(1, 2)).toHaveText("c4ca4238a0b923820dcc509a6f75849b");
  await expect(w.cell(1, 3)).toHaveText("838:59:59");
  await expect(w.grid).toHaveAttribute("aria-rowcount", "-1");
  await w.cell(1, 1).click();
  for (let pages = 0; pages < 100; pages++) await page.keyboard.press("PageDown");
  await expect(w.grid.getByRole("gridcell", { name: /^1\d\d\d$/ }).first()).toBeVisible();

  await w.execute("SELECT 'é', nme FROM information_schema.TABLES");
  await expect(w.messages).toContainText("Unknown column 'nme'");
  await expect(w.messages).toContainText("42S22");

  await w.execute("SELECT SLEEP(30)");
  await expect(w.cancel).toBeVisible();
  await w.cancel.click();
  await expect(w.messages).toContainText("Query execution was interrupted");
  await w.execute("SELECT 'goes on' AS word");
  await expect(w.cell(1, 1)).toHaveText("goes on");
});

test("a CALL shows all its results, a tab each, tells the error behind them, and is stopped between two", async ({ workbench: w, page }) => {
  await w.connect("MySQL", "Calls", mariadb, "shop");
  const procedures = [
    "three() BEGIN SELECT 21 AS a; SELECT 1 AS nothing FROM DUAL WHERE FALSE; INSERT INTO kept VALUES (1), (2); SELECT seq AS n FROM seq_1_to_5000; END",
    "wrong() BEGIN SELECT 'first' AS a; SELECT 'second' AS a; SELECT nme FROM kept; END",
    "waits() BEGIN SELECT 'shown' AS a; SELECT SLEEP(600); END",
  ];
  await w.write(`DELIMITER ;;\nCREATE TABLE kept (n INT);;\n${procedures.map((text) => `CREATE PROCEDURE ${text};;\n`).join("")}`);
  await page.keyboard.press("Control+Shift+Enter");
  await expect(w.status).toContainText("4 statements");

  const tabs = page.getByRole("tablist", { name: "Results" }).getByRole("tab");
  await w.execute("CALL three()");
  await expect(tabs).toHaveText([/^1\s*CALL three\(\)\s*1 row$/, /^2\s*CALL three\(\)\s*0 rows$/, /^3\s*CALL three\(\)\s*5,000 rows$/]);
  await expect(tabs.nth(2)).toHaveAttribute("aria-selected", "true");
  await expect(w.grid).toHaveAttribute("aria-rowcount", "5001");
  await page.keyboard.press("Alt+Shift+Period");
  await expect(w.cell(1, 1)).toHaveText("21");
  await page.keyboard.press("Alt+5");
  await expect(w.messages).toContainText(/1 row in [\d.]+ m?s/);
  await expect(w.messages).toContainText(/5,000 rows, 2 changed in [\d.]+ m?s/);

  // In a script the next statement waits for the last result.
  await w.write("CALL three();\nSELECT COUNT(*) AS n FROM kept;");
  await page.keyboard.press("Control+Shift+Enter");
  await expect(tabs).toHaveText([/^1\s*CALL/, /^1\.2\s*CALL/, /^1\.3\s*CALL.*5,000 rows$/, /^2\s*kept\s*1 row$/]);
  await expect(w.cell(1, 1)).toHaveText("4");
  await expect(w.status).toContainText("2 statements");

  await w.execute("CALL wrong()");
  await expect(tabs).toHaveText([/^1\s*CALL wrong\(\)\s*1 row$/, /^2\s*CALL wrong\(\)\s*1 row$/, /^3.*failed$/]);
  await expect(w.status).toContainText("Failed at result 3");
  await expect(w.cell(1, 1)).toHaveText("second");
  await tabs.nth(2).click();
  await expect(page.getByText("Result 3 failed")).toBeVisible();
  await expect(w.messages).toContainText("Result 3: Unknown column 'nme'");

  await w.execute("CALL waits()");
  await expect(w.cell(1, 1)).toHaveText("shown");
  await expect(w.cancel).toBeVisible();
  await w.cancel.click();
  await expect(w.status).toContainText("Cancelled at result 2");
  await expect(w.cell(1, 1)).toHaveText("shown");
  await w.execute("SELECT 'goes on' AS word");
  await expect(w.cell(1, 1)).toHaveText("goes on");
});
