import { expect, test } from "./support/journey.ts";

/** No pointer anywhere in this file. */
test("the keyboard alone: write, complete, run, walk the result, read a cell, come back", async ({ workbench: w, page }) => {
  await page.keyboard.press("Alt+2");
  await expect(w.editor).toBeFocused();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("SELECT id, name FROM pro", { delay: 20 });
  await expect(w.completion).toBeVisible();
  await page.keyboard.type("duc", { delay: 60 });
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+Enter");
  await expect(w.cell(1, 1)).toHaveText("1");

  await page.keyboard.press("Alt+3");
  await expect(w.grid).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  const name = await w.cell(2, 2).textContent();
  await page.keyboard.press("Enter");
  const viewer = page.getByRole("dialog", { name: "Cell" }).or(page.getByRole("complementary", { name: "Cell" }));
  await expect(viewer).toContainText(name!);
  await page.keyboard.press("Escape");
  await expect(viewer).toBeHidden();
  await expect(w.grid).toBeFocused();

  await page.keyboard.press("Alt+1");
  await expect(w.explorer.getByRole("treeitem").and(page.locator(":focus"))).toHaveCount(1);
  await page.keyboard.press("Control+Shift+p");
  const palette = page.getByRole("dialog", { name: "Command palette" });
  await expect(palette).toBeVisible();
  await page.keyboard.type("new console");
  await page.keyboard.press("Enter");
  await expect(palette).toBeHidden();
  await expect(page.getByRole("tablist", { name: "Consoles" }).getByRole("tab")).toHaveCount(2);
});

test("the palette lists what can be done now, and nothing else", async ({ workbench: w, page }) => {
  const palette = page.getByRole("dialog", { name: "Command palette" });
  const offered = async (word: string) => {
    await page.keyboard.press("Control+Shift+p");
    await page.keyboard.type(word);
    const titles = await palette.getByRole("option").allInnerTexts();
    await page.keyboard.press("Escape");
    await expect(palette).toBeHidden();
    return titles.map((title) => title.split("\n")[0]!.trim());
  };
  expect(await offered("commit")).not.toContain("Commit the transaction");
  expect(await offered("cancel")).not.toContain("Cancel what runs");
  await w.execute("BEGIN");
  await expect(w.status).toContainText("Transaction open");
  expect(await offered("commit")).toContain("Commit the transaction");
  expect(await offered("roll")).toContain("Roll the transaction back");
  await w.execute("ROLLBACK");
  await expect(w.status).not.toContainText("Transaction open");
});

test("a column is made wider, narrower and fitted by keys", async ({ workbench: w, page }) => {
  await w.execute("SELECT 'short' AS a, 'a rather long text that wants its room' AS b");
  await expect(w.cell(1, 1)).toHaveText("short");
  await page.keyboard.press("Alt+3");
  await expect(w.grid).toBeFocused();
  const width = () => w.grid.getByRole("columnheader").first().evaluate((head) => Math.round(head.getBoundingClientRect().width));
  const before = await width();
  await page.keyboard.press("Alt+Shift+ArrowRight");
  await page.keyboard.press("Alt+Shift+ArrowRight");
  expect(await width()).toBe(before + 32);
  await page.keyboard.press("Alt+Shift+ArrowLeft");
  expect(await width()).toBe(before + 16);
  await page.keyboard.press("Alt+Shift+ArrowUp");
  expect(await width()).toBeLessThanOrEqual(before);
});

test("a table opened by its name has the focus, and whatever closes gives it back", async ({ workbench: w, page }) => {
  const focus = () => page.evaluate(() => document.activeElement?.tagName ?? "");
  const open = async (keys: string, name: string) => {
    await page.keyboard.press(keys);
    const field = page.getByRole("dialog").getByRole("combobox");
    await expect(field).toBeFocused();
    await page.keyboard.type(name);
    await expect(page.getByRole("dialog").getByRole("option", { selected: true })).toContainText(name);
    await page.keyboard.press("Enter");
    await expect(field).toBeHidden();
  };
  await w.write("SELECT 1");
  await open("Control+p", "customers");
  await expect(w.grid).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await expect(w.grid.getByRole("columnheader").first()).toContainText("id");
  await open("Control+p", "orders");
  await expect(w.grid).toBeFocused();

  for (const [keys, name] of [["Control+Shift+p", "Command palette"], ["Control+p", "Open anything"], ["F1", "Keys"]] as const) {
    await page.keyboard.press("Alt+2");
    await expect(w.editor).toBeFocused();
    await page.keyboard.press(keys);
    await expect(page.getByRole("dialog")).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(page.getByRole("dialog")).toBeHidden();
    await expect(w.editor, `after ${name}`).toBeFocused();
  }

  for (const command of ["Close console", "Next console", "New console", "Reopen closed console", "Theme: dark", "Show or hide messages"]) {
    await open("Control+Shift+p", command);
    await expect.poll(focus, { message: `after ${command}` }).not.toBe("BODY");
  }
});
