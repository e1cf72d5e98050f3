import { test as base, expect } from "@playwright/test";
import { Server } from "./support/server.ts";
import { test as journey, Workbench } from "./support/journey.ts";

base("a closed server is said once, and the text is still there", async ({ page }) => {
  const server = await Server.start();
  try {
    await page.goto(await server.launch());
    const w = new Workbench(page);
    await w.execute("SELECT 1 AS one");
    await expect(w.cell(1, 1)).toHaveText("1");
    await server.kill();
    await w.execute("SELECT 2 AS two");
    await expect(w.messages).toContainText("No answer came to this statement");
    await expect(w.status).toContainText("does not answer");
    await expect(page.getByText("does not answer")).toHaveCount(1);
    await expect(w.editor).toContainText("SELECT 2 AS two");
    await expect(w.cell(1, 1)).toHaveText("1");
  } finally {
    await server.stop();
  }
});

base("a server that comes back is believed: nothing still says that it does not answer, and a run it lost offers no rest", async ({ page }) => {
  const server = await Server.start();
  try {
    await page.goto(await server.launch());
    const w = new Workbench(page);
    // The sample is made beside the first start.
    await expect(w.explorer.getByRole("treeitem", { name: /^customers\b/ })).toBeVisible({ timeout: 60_000 });
    await w.execute("SELECT * FROM page_views");
    await expect(w.cell(1, 1)).toHaveText("1");
    const rest = page.getByRole("button", { name: "Read to the end" });
    await expect(rest).toBeVisible();
    await server.kill();
    await w.grid.focus();
    await page.keyboard.press("Control+End");
    await expect(page.getByRole("log", { name: "Result note" })).toContainText("could not be read");
    await expect(page.getByText("does not answer")).toHaveCount(1);
    await server.restart();
    await expect(page.getByRole("log", { name: "Result note" })).toBeHidden();
    await expect(w.status).not.toContainText("does not answer");
    await expect(rest).toBeHidden();
    await expect(page.getByRole("note")).toContainText("run the statement again");
    await expect(w.cell(1, 1)).toHaveText("1");
    await w.execute("SELECT 2 AS two");
    await expect(w.cell(1, 1)).toHaveText("2");
  } finally {
    await server.stop();
  }
});

base("a transaction can't be ended while the server does not answer, and is gone with a server that was started anew", async ({ page }) => {
  const server = await Server.start();
  try {
    await page.goto(await server.launch());
    const w = new Workbench(page);
    await w.execute("BEGIN");
    await expect(w.status).toContainText("Transaction open");
    const commit = page.getByRole("button", { name: "Commit", exact: true }), rollBack = page.getByRole("button", { name: "Roll back", exact: true });
    await expect(commit).toBeEnabled();
    await server.kill();
    for (const button of [commit, rollBack]) {
      await expect(button).toBeDisabled();
      await expect(button).toHaveAttribute("title", "Sheaf's server does not answer");
    }
    await expect(w.status).toContainText("A transaction was open");
    await server.restart();
    await expect(commit).toBeHidden();
    const lost = "The transaction that was open here is gone with the server";
    await expect(w.status).toContainText(lost);
    await expect(w.messages.getByText(lost)).toHaveCount(1);
    await expect(w.status).not.toContainText("does not answer");
    await w.execute("SELECT 1 AS one");
    await expect(w.cell(1, 1)).toHaveText("1");
    await expect(w.status).not.toContainText(/transaction/i);
  } finally {
    await server.stop();
  }
});

for (const [name, damage] of [
  ["cut short", (bytes: Buffer) => bytes.subarray(0, Math.floor(bytes.length / 2))],
  ["corrupt", (bytes: Buffer) => Buffer.from(bytes.map((byte, at) => (at > 400 ? byte ^ 0x5a : byte)))],
] as const) {
  journey(`a page that arrives ${name} offers Retry, and nothing else is lost`, async ({ workbench: w, page }) => {
    let damaged = true;
    await page.route(/\/api\/v1\/runs\/[^/]+\/pages\/\d+$/, async (route) => {
      const response = await route.fetch();
      const body = await response.body();
      const headers = { ...response.headers() };
      delete headers["content-length"];
      await route.fulfill({ response, headers, body: damaged ? damage(body) : body });
    });
    await w.execute("SELECT * FROM page_views ORDER BY id");
    await expect(w.cell(1, 1)).toHaveText("1");
    await w.cell(1, 1).click();
    await page.mouse.wheel(0, 60_000);
    const retry = page.getByRole("button", { name: "Retry" }).first();
    await expect(retry).toBeVisible();
    damaged = false;
    await retry.click();
    await expect(retry).toBeHidden();
    await page.keyboard.press("Control+Home");
    await expect(w.cell(1, 1)).toHaveText("1");
    // A page that is read ahead may still be on its way through the route.
    await page.unrouteAll({ behavior: "wait" });
  });
}

journey("why a connection has no catalog is told in the explorer to its last word, with Retry", async ({ workbench: w, page }) => {
  await page.getByRole("button", { name: "New connection" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Connection" });
  await dialog.getByLabel("PostgreSQL").check({ force: true });
  await dialog.getByLabel("Name", { exact: true }).fill("Nobody there");
  await dialog.getByLabel("Host", { exact: true }).fill("127.0.0.1");
  await dialog.getByLabel("Port", { exact: true }).fill("1");
  await dialog.getByRole("button", { name: "Save" }).click();
  const row = w.explorer.getByRole("treeitem").filter({ has: page.getByRole("button", { name: "Retry" }) });
  await expect(row).toContainText(/refused/i);
  const cut = await row.locator(".tree-label").evaluate((label) => {
    const own = label.getBoundingClientRect(), box = label.closest("[role=treeitem]")!.getBoundingClientRect();
    return { wide: label.scrollWidth - label.clientWidth, high: own.bottom > box.bottom || own.right > box.right };
  });
  expect(cut).toEqual({ wide: 0, high: false });
  await expect(row.getByRole("button", { name: "Retry" })).toBeInViewport({ ratio: 1 });
});

journey("an address without a launch code tells how to get one", async ({ browser, sheaf }) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(sheaf.origin);
  await expect(page.getByText("sheaf open")).toBeVisible();
  await context.close();
});

journey("a fresh launch link in a tab that is open signs in again and leaves the address", async ({ workbench: w, page, sheaf }) => {
  const link = await sheaf.launch();
  await page.evaluate((fragment) => (location.hash = fragment), new URL(link).hash);
  await expect(page).toHaveURL(`${sheaf.origin}/`);
  await expect(w.explorer).toBeVisible();
});
