import { test as base } from "@playwright/test";
import { expect, test, Workbench } from "./support/journey.ts";
import { Postgres } from "./support/postgres.ts";
import { Server } from "./support/server.ts";

test("a connection is changed and deleted from the explorer; its consoles keep their texts", async ({ workbench: w, page }) => {
  const dialog = page.getByRole("dialog", { name: "Connection" });
  await page.getByRole("button", { name: "New connection" }).first().click();
  await dialog.getByLabel("File", { exact: true }).fill("nowhere.sqlite");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog.getByLabel("File", { exact: true })).toHaveAttribute("aria-invalid", "true");
  await expect(dialog).toContainText("The whole path is needed");
  await dialog.getByLabel("Name", { exact: true }).fill("");
  await dialog.getByLabel("File", { exact: true }).fill("/tmp/sheaf-journey-nowhere.sqlite");
  await dialog.getByRole("button", { name: "Save" }).click();
  const row = (name: string) => w.explorer.getByRole("treeitem", { name: new RegExp(`^${name} `) });
  await expect(row("sheaf-journey-nowhere.sqlite")).toBeVisible();
  await w.write("SELECT 'written on it'");

  await row("sheaf-journey-nowhere.sqlite").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Edit…" }).click();
  await expect(dialog.getByLabel("File", { exact: true })).toHaveValue("/tmp/sheaf-journey-nowhere.sqlite");
  await dialog.getByLabel("Name", { exact: true }).fill("Old shop");
  await dialog.getByLabel("Red").check({ force: true });
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog).toBeHidden();
  await expect(row("Old shop")).toBeVisible();
  await expect(w.status).toContainText("Old shop");

  await row("Old shop").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  const question = page.getByRole("dialog", { name: "Delete connection" });
  await expect(question).toContainText("Old shop");
  await question.getByRole("button", { name: "Keep" }).click();
  await expect(row("Old shop")).toBeVisible();
  await row("Old shop").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await question.getByRole("button", { name: "Delete" }).click();
  await expect(question).toBeHidden();
  await expect(row("Old shop")).toBeHidden();
  await expect(w.editor).toContainText("written on it");
  await expect(w.status).not.toContainText("Old shop");
  // No text goes to another database by itself: a connection is chosen, then it runs.
  await page.keyboard.press("Alt+2");
  await page.keyboard.press("Control+Enter");
  await expect(w.messages).toContainText("This console has no connection: choose one above the text");
  await page.getByLabel("Console runs on").selectOption("Sample shop");
  await page.keyboard.press("Alt+2");
  await page.keyboard.press("Control+Enter");
  await expect(w.cell(1, 1)).toHaveText("written on it");
});

base("after a new start of the server the password is asked for again, and then the statement runs", async ({ page }) => {
  const postgres = await Postgres.start();
  const server = await Server.start();
  try {
    await page.goto(await server.launch());
    const w = new Workbench(page);
    const dialog = page.getByRole("dialog", { name: "Connection" });
    await page.getByRole("button", { name: "New connection" }).first().click();
    await dialog.getByLabel("PostgreSQL").check({ force: true });
    await dialog.getByLabel("Name", { exact: true }).fill("Books");
    await dialog.getByLabel("Host", { exact: true }).fill("127.0.0.1");
    await dialog.getByLabel("Port", { exact: true }).fill(String(postgres.port));
    await dialog.getByLabel("User", { exact: true }).fill(postgres.user);
    await dialog.getByLabel("Password", { exact: true }).fill(postgres.password);
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect(dialog).toBeHidden();
    await w.execute("SELECT 'before' AS word");
    await expect(w.cell(1, 1)).toHaveText("before");

    await server.kill();
    await server.restart();
    await w.execute("SELECT 'after' AS word");
    await expect(dialog).toBeVisible();
    await expect(dialog.getByRole("alert")).toContainText(`The server asks for the password of ${postgres.user}`);
    await expect(dialog.getByLabel("Host", { exact: true })).toHaveValue("127.0.0.1");
    await expect(dialog.getByLabel("Password", { exact: true })).toBeFocused();
    await page.keyboard.type(postgres.password);
    await page.keyboard.press("Enter");
    await expect(dialog).toBeHidden();
    await expect(w.editor).toContainText("after");
    await page.keyboard.press("Alt+2");
    await page.keyboard.press("Control+Enter");
    await expect(w.cell(1, 1)).toHaveText("after");
  } finally {
    await server.stop();
    await postgres.stop();
  }
});

test("a window that opens before the first one's console is kept shows it as soon as it is", async ({ workbench: w, page, context, sheaf }) => {
  const other = await context.newPage();
  // As where both open at once: nothing is kept yet, and what the server knows is still to come.
  await other.addInitScript(() => Object.keys(localStorage).filter((key) => key.startsWith("sheaf.console.")).forEach((key) => localStorage.removeItem(key)));
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await other.route("**/api/v1/connections", async (route) => {
    await held;
    await route.continue();
  });
  const asked = other.waitForRequest("**/api/v1/connections");
  await other.goto(sheaf.origin);
  await asked;
  await page.bringToFront();
  await w.write("SELECT 'just kept'");
  const v = new Workbench(other);
  await expect(v.editor).toContainText("just kept");
  release();
  await expect(v.status).toContainText("Sample shop");
  await expect(v.editor).toContainText("just kept");
  await expect(other.getByRole("tablist", { name: "Consoles" }).getByRole("tab")).toHaveCount(1);
  await other.close();
});

test("two windows with one console: what one writes comes to the other, and nothing is overwritten where both wrote", async ({ workbench: w, page, context, sheaf }) => {
  await w.write("SELECT 'first'");
  // Another window finds what is kept, and a text is kept once the keys have rested.
  await expect.poll(() => page.evaluate(() => Object.values(localStorage).some((kept) => kept.includes("first")))).toBe(true);
  const other = await context.newPage();
  await other.goto(sheaf.origin);
  const v = new Workbench(other);
  await expect(v.editor).toContainText("first");
  await v.write("SELECT 'from the other window'");
  await expect(w.editor).toContainText("from the other window");

  // Both write before either has heard of the other: each keeps its own text, the other's opens beside it.
  await page.bringToFront();
  await w.editor.click();
  await page.keyboard.press("Control+End");
  await page.keyboard.insertText(" -- here");
  await v.editor.click();
  await other.keyboard.press("Control+End");
  await other.keyboard.insertText(" -- there");
  const texts = async (on: Workbench) => {
    const all = [];
    for (const tab of await on.page.getByRole("tablist", { name: "Consoles" }).getByRole("tab").all()) {
      await tab.click();
      all.push(await on.editor.innerText());
    }
    return all.join("\n");
  };
  await expect.poll(() => texts(w)).toContain("-- here");
  await expect.poll(async () => (await texts(w)) + (await texts(v))).toContain("-- there");
  await other.close();
});
