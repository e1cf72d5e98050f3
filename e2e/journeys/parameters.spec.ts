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

test("the form shows the statement and what each value is for, and NULL is not taken over from another statement", async ({ workbench: w, page }) => {
  const form = page.getByRole("dialog", { name: "Values" });
  await w.execute("SELECT id\nFROM orders\nWHERE id = :order AND :note IS NULL");
  const statement = form.getByRole("note", { name: "Statement" });
  await expect(statement).toHaveText("SELECT id FROM orders WHERE id = :order AND :note IS NULL");
  await expect(statement.locator("mark")).toHaveText([":order", ":note"]);
  await expect(statement.locator("mark.now")).toHaveText(":order");
  await expect(form.locator("label").first()).toHaveText(/:order\s+INTEGER/);
  await form.getByLabel(":order", { exact: true }).fill("1");
  await form.getByLabel(":note is taken for").selectOption("NULL");
  await expect(statement.locator("mark.now")).toHaveText(":note");
  await form.getByRole("button", { name: "Run" }).click();
  await expect(w.cell(1, 1)).toHaveText("1");

  // The same statement again has NULL again, another one has not.
  await page.keyboard.press("Alt+2");
  await page.keyboard.press("Control+Enter");
  await expect(form.getByLabel(":note", { exact: true })).toBeDisabled();
  await page.keyboard.press("Escape");
  await w.execute("SELECT :note AS word, :order AS number");
  await expect(form.getByLabel(":note", { exact: true })).toBeEnabled();
  await expect(form.getByLabel(":note is taken for")).toHaveValue("typed");
  await expect(form.getByLabel(":order", { exact: true })).toHaveValue("1");
  await page.keyboard.press("Escape");
});
