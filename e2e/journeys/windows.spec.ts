import type { BrowserContext } from "@playwright/test";
import { expect, test, Workbench } from "./support/journey.ts";

test("e20 what was written last is there again: whichever window closes first, and after a crash", async ({ workbench: w, page, context, sheaf }) => {
  const kept = (on: typeof page, text: string) => expect.poll(() => on.evaluate((text) => Object.values(localStorage).some((one) => one.includes(text)), text)).toBe(true);
  await w.write("SELECT 'older'");
  await kept(page, "older");
  const other = await context.newPage();
  await other.goto(sheaf.origin);
  const v = new Workbench(other);
  await expect(v.editor).toContainText("older");
  await v.write("SELECT 'newest'");
  await expect(w.editor).toContainText("newest");
  // The one with the newer text first, then the one that had the older.
  await other.close();
  await page.close();
  const again = await context.newPage();
  await again.goto(sheaf.origin);
  const u = new Workbench(again);
  await expect(u.editor).toContainText("newest");
  await expect(again.getByRole("tablist", { name: "Consoles" }).getByRole("tab")).toHaveCount(1);

  await u.write("SELECT 'before the crash'");
  await kept(again, "before the crash");
  const crashed = again.waitForEvent("crash");
  // No answer comes to this one.
  void (await context.newCDPSession(again)).send("Page.crash").catch(() => {});
  await crashed;
  const risen = await context.newPage();
  await risen.goto(sheaf.origin);
  await expect(new Workbench(risen).editor).toContainText("before the crash");
  await risen.close();
});

/** The console's text is shared by the windows; what each runs is run by its own toolbar. */
async function another(context: BrowserContext, origin: string, storage: Record<string, string> = {}): Promise<Workbench> {
  const page = await context.newPage();
  await page.addInitScript((storage) => {
    if (sessionStorage.getItem("copied")) return;
    Object.entries({ ...storage, copied: "yes" }).forEach(([key, value]) => sessionStorage.setItem(key, value));
  }, storage);
  await page.goto(origin);
  const w = new Workbench(page);
  await expect(w.editor).toBeVisible();
  await expect(w.status).toContainText("Sample shop");
  return w;
}

const OPEN = "Transaction open";
const APART = "this one has a session of its own";
const button = (w: Workbench, name: string) => w.page.getByRole("toolbar", { name: "Console" }).getByRole("button", { name, exact: true });

/** Runs a statement; the other windows have its text by then. */
async function runs(w: Workbench, sql: string): Promise<void> {
  await w.execute(sql);
  await kept(w, sql);
}

/** What storage holds by then is what a window finds that opens now. */
const kept = (w: Workbench, text: string) =>
  expect.poll(() => w.page.evaluate((text) => Object.values(localStorage).some((one) => one.includes(text)), text)).toBe(true);

test("two windows with one console: each has a session and a transaction of its own, over a reload too", async ({ workbench: a, context, sheaf }) => {
  await runs(a, "CREATE TABLE of_two_windows(a)");
  await expect(a.status).toContainText("Done");
  await runs(a, "BEGIN");
  await expect(a.status).toContainText(OPEN);
  await runs(a, "INSERT INTO of_two_windows VALUES (1)");
  await expect(a.status).toContainText("1 row changed");
  await kept(a, "INSERT INTO of_two_windows");
  const b = await another(context, sheaf.origin);
  await expect(b.editor).toContainText("INSERT INTO of_two_windows");
  await expect(b.status).toContainText(APART);
  await expect(b.status).not.toContainText(OPEN);
  await expect(button(b, "Commit")).toBeHidden();
  await runs(b, "SELECT count(*) FROM of_two_windows");
  await expect(b.cell(1, 1)).toHaveText("0");
  await expect(b.status).not.toContainText(OPEN);
  await expect(a.status).toContainText(OPEN);
  await expect(a.status).not.toContainText(APART);
  await runs(b, "CREATE TEMP TABLE only_here(a)");
  await expect(b.status).toContainText("Done");

  for (const one of [a, b]) {
    await one.page.reload();
    await expect(one.editor).toBeVisible();
  }
  await expect(a.status).toContainText(OPEN);
  await expect(b.status).toContainText(APART);
  await expect(b.status).not.toContainText(OPEN);
  await runs(b, "SELECT count(*) + 7 FROM only_here");
  await expect(b.cell(1, 1)).toHaveText("7");
  await button(a, "Commit").click();
  await expect(a.status).not.toContainText(OPEN);
  await runs(b, "SELECT count(*) FROM of_two_windows");
  await expect(b.cell(1, 1)).toHaveText("1");

  // What one window closes is not lost to the other.
  await runs(a, "BEGIN");
  await expect(a.status).toContainText(OPEN);
  await b.page.keyboard.press("Alt+w");
  await expect(b.editor).toBeHidden();
  await b.page.close();
  await runs(a, "DROP TABLE of_two_windows");
  await expect(a.status).toContainText("Done");
  await expect(a.status).toContainText(OPEN);
  await button(a, "Commit").click();
  await expect(a.status).not.toContainText(OPEN);
});

test("two windows that had nothing open: the second to start gets a session of its own", async ({ workbench: a, context, sheaf }) => {
  await a.write("SELECT 'nothing yet'");
  await kept(a, "nothing yet");
  const b = await another(context, sheaf.origin);
  await expect(b.editor).toContainText("nothing yet");
  await expect(b.status).not.toContainText(APART);
  await a.page.bringToFront();
  await runs(a, "BEGIN");
  await expect(a.status).toContainText(OPEN);
  await b.page.bringToFront();
  await runs(b, "SELECT 2 AS two");
  await expect(b.cell(1, 1)).toHaveText("2");
  await expect(b.status).toContainText(APART);
  await expect(b.status).not.toContainText(OPEN);
  await expect(a.status).toContainText(OPEN);
  // How the first commits is its own as well.
  await b.page.getByRole("combobox", { name: "Transactions" }).selectOption("manual");
  await runs(b, "SELECT 3 AS three");
  await expect(b.status).toContainText(OPEN);
  await expect(a.editor).toContainText("three");
  await expect(a.page.getByRole("combobox", { name: "Transactions" })).toHaveValue("auto");
  await button(b, "Roll back").click();
  await expect(b.status).not.toContainText(OPEN);
  await expect(a.status).toContainText(OPEN);
  await a.page.bringToFront();
  await button(a, "Roll back").click();
  await expect(a.status).not.toContainText(OPEN);
  await b.page.close();
});

test("what a window only takes in it does not write back, however else the console is its own", async ({ workbench: a, context, sheaf }) => {
  await runs(a, "SELECT 1 AS one");
  await expect(a.cell(1, 1)).toHaveText("1");
  const page = await context.newPage();
  await page.clock.install();
  await page.addInitScript(() => {
    const [set, counter] = [Storage.prototype.setItem, window as unknown as { writes: number }];
    counter.writes = 0;
    Storage.prototype.setItem = function (key: string, value: string) {
      counter.writes += Number(key.startsWith("sheaf.console."));
      set.call(this, key, value);
    };
  });
  await page.goto(sheaf.origin);
  const b = new Workbench(page);
  await expect(b.editor).toContainText("SELECT 1 AS one");
  await page.getByRole("combobox", { name: "Transactions" }).selectOption("manual");
  await b.execute("SELECT 2 AS two");
  await expect(b.status).toContainText(OPEN);
  const writes = () => page.evaluate(() => (window as unknown as { writes: number }).writes);
  await page.clock.runFor(2_000);
  const before = await writes();
  expect(before).toBeGreaterThan(0);
  await a.page.bringToFront();
  await expect(a.editor).toContainText("SELECT 2 AS two");
  for (const n of [3, 4, 5]) {
    await a.write(`SELECT ${n} AS typed_here`);
    await expect(b.editor).toContainText(`SELECT ${n} AS typed_here`);
    await page.clock.runFor(2_000);
  }
  expect(await writes()).toBe(before);
  for (const one of [a, b]) await expect(one.page.getByRole("tablist", { name: "Consoles" }).getByRole("tab")).toHaveCount(1);
  await page.close();
});

test("a window that was duplicated, with all that it keeps for itself, does not get what its original has", async ({ workbench: a, page, context, sheaf }) => {
  await runs(a, "BEGIN");
  await expect(a.status).toContainText(OPEN);
  await runs(a, "SELECT 'of the original'");
  await expect(a.cell(1, 1)).toHaveText("of the original");
  await kept(a, "of the original");
  await expect.poll(() => page.evaluate(() => Object.keys(sessionStorage).some((key) => key.startsWith("sheaf.session.")))).toBe(true);
  const storage = await page.evaluate(() => ({ ...sessionStorage }));
  const b = await another(context, sheaf.origin, storage as Record<string, string>);
  await expect(b.status).toContainText(APART);
  await expect(b.status).not.toContainText(OPEN);
  await runs(b, "SELECT 'of the copy'");
  await expect(b.cell(1, 1)).toHaveText("of the copy");
  await expect(b.status).not.toContainText(OPEN);
  await b.page.reload();
  await expect(b.status).toContainText(APART);
  await page.reload();
  await expect(a.status).toContainText(OPEN);
  await expect(a.status).not.toContainText(APART);
  // A copy of the copy, whose own session is not the first either.
  const ofCopy = await b.page.evaluate(() => ({ ...sessionStorage }));
  const c = await another(context, sheaf.origin, ofCopy as Record<string, string>);
  await expect(c.status).toContainText(APART);
  await runs(b, "BEGIN");
  await expect(b.status).toContainText(OPEN);
  await runs(c, "SELECT 'of the third'");
  await expect(c.cell(1, 1)).toHaveText("of the third");
  await expect(c.status).not.toContainText(OPEN);
  await c.page.close();
  await button(b, "Roll back").click();
  await expect(b.status).not.toContainText(OPEN);
  await b.page.close();
  await button(a, "Roll back").click();
  await expect(a.status).not.toContainText(OPEN);
});

test("a window that is opened in the place of a closed one finds what that one left open", async ({ workbench: a, context, sheaf }) => {
  await runs(a, "BEGIN");
  await expect(a.status).toContainText(OPEN);
  await a.page.close();
  const b = await another(context, sheaf.origin);
  await expect(b.status).toContainText(OPEN);
  await expect(b.status).not.toContainText(APART);
  await button(b, "Roll back").click();
  await expect(b.status).not.toContainText(OPEN);
  await b.page.close();
});
