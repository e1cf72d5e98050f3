import { expect, test } from "./support/journey.ts";

test("values of parameters are asked for, travel beside the statement, and are remembered", async ({ workbench: w, page }) => {
  await w.execute("SELECT :word AS word, typeof(:n) AS kind, :n + 1 AS next, typeof(:none) AS missing");
  const form = page.getByRole("dialog", { name: "Values" });
  await expect(form).toBeVisible();
  await expect(form.getByLabel(":word", { exact: true })).toBeFocused();
  await page.keyboard.type("'; DROP TABLE orders; --");
  await form.getByLabel(":n", { exact: true }).fill("41");
  await form.getByLabel(":none is taken for").selectOption("NULL");
  await page.keyboard.press("Tab");
  await form.getByRole("button", { name: "Run" }).click();
  await expect(form).toBeHidden();
  await expect(w.cell(1, 1)).toHaveText("'; DROP TABLE orders; --");
  await expect(w.cell(1, 2)).toHaveText("integer");
  await expect(w.cell(1, 3)).toHaveText("42");
  await expect(w.cell(1, 4)).toHaveText("null");

  await w.execute("SELECT :n AS again");
  await expect(form.getByLabel(":n", { exact: true })).toHaveValue("41");
  await page.keyboard.press("Enter");
  await expect(w.cell(1, 1)).toHaveText("41");

  await w.execute("SELECT :n AS not_now");
  await page.keyboard.press("Escape");
  await expect(form).toBeHidden();
  await expect(w.cell(1, 1)).toHaveText("41");
  await expect(w.run).toBeEnabled();
});
