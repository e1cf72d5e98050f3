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
