import AxeBuilder from "@axe-core/playwright";
import type { Locator } from "@playwright/test";
import { expect, test } from "./support/journey.ts";

for (const theme of ["light", "dark"] as const) {
  test(`the ${theme} theme follows the system and has no serious fault of accessibility`, async ({ workbench: w, page }) => {
    await page.emulateMedia({ colorScheme: theme });
    await w.execute("SELECT * FROM customers");
    await expect(w.cell(1, 1)).toBeVisible();
    const [red = 0, green = 0, blue = 0] = await page.evaluate(() => {
      const canvas = document.createElement("canvas").getContext("2d")!;
      canvas.fillStyle = getComputedStyle(document.body).backgroundColor;
      canvas.fillRect(0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data];
    });
    const light = (red + green + blue) / 3;
    if (theme === "dark") expect(light).toBeLessThan(80);
    else expect(light).toBeGreaterThan(200);
    const report = await new AxeBuilder({ page }).analyze();
    const serious = report.violations.filter((violation) => violation.impact === "serious" || violation.impact === "critical");
    expect(serious.map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.target.join(" ")).join(", ")}`)).toEqual([]);
  });
}

for (const theme of ["light", "dark"] as const) {
  test(`what steps back can still be read in the ${theme} theme: rows of a run before, messages, marks, the form for values`, async ({ workbench: w, page }) => {
    await page.emulateMedia({ colorScheme: theme });
    const serious = async () => {
      const report = await new AxeBuilder({ page }).analyze();
      const found = report.violations.filter((violation) => violation.impact === "serious" || violation.impact === "critical");
      return found.map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.target.join(" ")).join(", ")}`);
    };
    await w.execute("SELECT 'a' || char(8238) || 'b' AS word, 1 AS one, NULL AS none");
    await expect(w.cell(1, 2)).toHaveText("1");
    await w.execute("SELECT nme");
    await expect(w.messages).toContainText("no such column: nme");
    await expect(page.getByRole("tabpanel")).toContainText("Rows of the run before");
    await page.getByLabel("Filter tables and views").fill("orders");
    expect(await serious()).toEqual([]);
    await w.execute("SELECT * FROM orders WHERE id = :id");
    await expect(page.getByRole("dialog", { name: "Values" })).toBeVisible();
    expect(await serious()).toEqual([]);
  });
}

test("eight rows stay beside the messages where the window is small", async ({ workbench: w, page }) => {
  await page.setViewportSize({ width: 1024, height: 700 });
  for (const word of ["one", "two", "three"]) {
    await w.execute(`SELECT ${word}`);
    await expect(w.messages).toContainText(`no such column: ${word}`);
  }
  await w.execute("SELECT * FROM page_views");
  await expect(w.cell(1, 1)).toHaveText("1");
  await page.getByRole("button", { name: /^Messages/ }).click();
  await expect(w.messages).toBeVisible();
  const grid = (await w.grid.boundingBox())!;
  const eighth = (await w.cell(8, 1).boundingBox())!;
  expect(eighth.y + eighth.height).toBeLessThanOrEqual(grid.y + grid.height + 1);
});

/** How many entries of the log are seen whole, and whether the newest is one of them. */
const whole = (log: Locator) =>
  log.evaluate((list) => {
    const box = list.getBoundingClientRect();
    const seen = [...list.children].map((entry) => entry.getBoundingClientRect()).map((own) => own.top >= box.top - 1 && own.bottom <= box.bottom + 1);
    return { entries: seen.filter(Boolean).length, newest: seen.at(-1) };
  });

test("three messages are seen whole where the window is small, and the newest stays in sight where it was", async ({ workbench: w, page }) => {
  for (const number of [1, 2, 3, 4, 5, 6, 7, 8]) {
    await w.execute(`SELECT ${number} AS n, id FROM page_views`);
    await expect(w.cell(1, 1)).toHaveText(String(number));
  }
  await page.getByRole("button", { name: /^Messages/ }).click();
  await expect(w.messages).toBeVisible();
  await expect.poll(async () => (await whole(w.messages)).newest).toBe(true);
  await page.setViewportSize({ width: 1024, height: 700 });
  await expect.poll(() => whole(w.messages)).toEqual({ entries: 3, newest: true });
  await expect(w.cell(8, 1)).toBeInViewport({ ratio: 1 });
  // Who reads on top is left there.
  await w.messages.evaluate((list) => list.scrollTo(0, 0));
  await page.setViewportSize({ width: 1024, height: 690 });
  await expect.poll(() => w.messages.evaluate((list) => list.scrollTop)).toBe(0);
});

test("the name of a console is seen whole as long as it is not very long", async ({ workbench: w, page }) => {
  await page.setViewportSize({ width: 1024, height: 700 });
  await page.evaluate(() => {
    const kept = { title: "Console 1 (other window)", text: "SELECT 1", connection: null, made: 9 };
    localStorage.setItem("sheaf.console.journey", JSON.stringify(kept));
  });
  await page.reload();
  await expect(w.editor).toBeVisible();
  for (let more = 0; more < 6; more++) await page.keyboard.press("Alt+n");
  const tab = page.getByRole("tab", { name: "Console 1 (other window)" });
  await tab.click();
  await expect(tab).toHaveAttribute("title", "Console 1 (other window)");
  const [title, close] = [await tab.locator(".tab-title").evaluate((own) => ({ cut: own.scrollWidth - own.clientWidth, end: own.getBoundingClientRect().right })),
    (await tab.locator(".tab-close").boundingBox())!];
  expect(title.cut).toBe(0);
  expect(title.end).toBeLessThanOrEqual(close.x);
});

test("a sentence about a copy goes by itself", async ({ workbench: w, page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.clock.install();
  await page.reload();
  await w.execute("SELECT 1 AS one UNION ALL SELECT 2");
  await expect(w.cell(2, 1)).toHaveText("2");
  await w.cell(1, 1).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Control+c");
  const note = page.getByRole("log", { name: "Result note" });
  await expect(note).toHaveText("Copied 2 rows");
  await page.clock.runFor(5_000);
  await expect(note).toBeVisible();
  await page.clock.runFor(2_000);
  await expect(note).toBeHidden();
});

test("the connection dialog and the palette have no serious fault of accessibility", async ({ workbench: w, page }) => {
  await expect(w.editor).toBeVisible();
  await page.keyboard.press("Control+Shift+p");
  const palette = page.getByRole("dialog", { name: "Command palette" });
  await expect(palette.getByRole("combobox")).toBeFocused();
  for (const open of ["palette", "connection"]) {
    if (open === "connection") {
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "New connection" }).first().click();
      await expect(page.getByRole("dialog", { name: "Connection" })).toBeVisible();
      const readOnly = page.getByRole("checkbox", { name: "Read-only", exact: true });
      await expect(readOnly).toHaveAccessibleDescription("The database refuses writes");
    }
    const report = await new AxeBuilder({ page }).analyze();
    const serious = report.violations.filter((violation) => violation.impact === "serious" || violation.impact === "critical");
    expect(serious.map((violation) => `${open} ${violation.id}: ${violation.nodes.map((node) => node.target.join(" ")).join(", ")}`)).toEqual([]);
  }
});

test("an idle page with a result open asks for nothing and draws nothing", async ({ workbench: w, page }) => {
  await page.clock.install();
  await page.reload();
  await w.execute("SELECT * FROM page_views");
  await expect(w.cell(1, 1)).toHaveText("1");
  await page.evaluate(() => {
    const counts = { frames: 0, timers: 0, requests: 0 };
    Object.assign(window, { counts });
    const frame = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (callback) => (counts.frames++, frame(callback));
    const timeout = window.setTimeout.bind(window) as (handler: TimerHandler, ms?: number, ...rest: unknown[]) => number;
    window.setTimeout = ((handler: TimerHandler, ms?: number, ...rest: unknown[]) => (counts.timers++, timeout(handler, ms, ...rest))) as typeof window.setTimeout;
    const request = window.fetch.bind(window);
    window.fetch = (...args) => (counts.requests++, request(...args));
  });
  // A minute of the page's own clock, at once: whatever it armed would fire in it and arm again.
  await page.clock.runFor(60_000);
  expect(await page.evaluate(() => (window as unknown as { counts: object }).counts)).toEqual({ frames: 0, timers: 0, requests: 0 });
});
