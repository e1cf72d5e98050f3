import { expect, test } from "./support/journey.ts";

/** The first thing a person does: open it, find the big table, go to its end. */
test("from the first start to the millionth row", async ({ workbench: w, page }) => {
  const explorer = w.explorer;
  await expect(explorer.getByRole("treeitem").first()).toBeVisible();
  await w.execute("SELECT * FROM page_views ORDER BY id");
  await expect(w.grid).toBeVisible();
  await expect(w.grid).toHaveAttribute("aria-rowcount", "-1");
  await expect(w.cell(1, 1)).toHaveText("1");

  await w.cell(1, 1).click();
  await page.keyboard.press("Control+End");
  await expect(w.cell(1_000_000, 1)).toHaveText("1000000", { timeout: 60_000 });
  await expect(w.grid).toHaveAttribute("aria-rowcount", "1000001");
  await expect(w.status).toContainText(/1,?000,?000/);

  await page.keyboard.press("Control+Home");
  await expect(w.cell(1, 1)).toHaveText("1");
});

test("the explorer shows tables, columns with their types, and opens a table", async ({ workbench: w, page }) => {
  const tree = w.explorer;
  const table = tree.getByRole("treeitem", { name: /^customers\b/ });
  if (!(await table.isVisible())) {
    await tree.getByRole("treeitem").first().focus();
    for (const key of ["ArrowRight", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
  }
  await expect(table).toBeVisible();
  await table.click();
  await page.keyboard.press("ArrowRight");
  await expect(tree.getByRole("treeitem", { name: /^id\b/ }).first()).toContainText(/integer/i);
  await table.focus();
  await page.keyboard.press("Enter");
  await expect(w.grid).toBeVisible();
  await expect(w.grid.getByRole("columnheader").first()).toContainText("id");
});

test("wheel, keys and thumb reach rows far down and the nodes stay few", async ({ workbench: w, page }) => {
  await w.execute("SELECT * FROM page_views ORDER BY id");
  await expect(w.cell(1, 1)).toHaveText("1");
  await w.cell(1, 1).click();
  await page.keyboard.press("PageDown");
  await page.mouse.wheel(0, 20_000);
  await expect.poll(async () => Number(await w.grid.getByRole("gridcell").first().textContent())).toBeGreaterThan(300);
  expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThan(3_000);
});
