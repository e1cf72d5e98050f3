import { expect, test as base, type Locator, type Page } from "@playwright/test";
import { Server } from "./server.ts";

/** What a page must never show: a policy report, an uncaught error, an error on the console. */
type Faults = string[];

export const test = base.extend<{ faults: Faults; workbench: Workbench }, { sheaf: Server }>({
  sheaf: [
    async ({}, use) => {
      const server = await Server.start();
      await use(server);
      await server.stop();
    },
    { scope: "worker" },
  ],

  faults: async ({ page }, use) => {
    const faults: Faults = [];
    page.on("pageerror", (error) => faults.push(`uncaught: ${error.message}`));
    page.on("console", (message) => {
      // A refused statement is an answer with status 422; the browser logs every such answer as an error of its own.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) faults.push(`console: ${message.text()}`);
    });
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
    });
    await use(faults);
    expect(faults).toEqual([]);
  },

  workbench: async ({ page, sheaf, faults }, use) => {
    void faults;
    await page.goto(await sheaf.launch());
    const workbench = new Workbench(page);
    // The sample is made beside the first start; who completes before it is there has nothing to complete from.
    await expect(workbench.explorer.getByRole("treeitem", { name: /^customers\b/ })).toBeVisible({ timeout: 60_000 });
    await use(workbench);
  },
});

export { expect };

/** The interface by the names that a screen reader hears. */
export class Workbench {
  constructor(readonly page: Page) {}

  get explorer(): Locator {
    return this.page.getByRole("tree", { name: "Explorer" });
  }
  get editor(): Locator {
    return this.page.getByRole("textbox", { name: "SQL editor" });
  }
  get grid(): Locator {
    return this.page.getByRole("grid", { name: "Result" });
  }
  get status(): Locator {
    return this.page.getByRole("status", { name: "Status" });
  }
  get messages(): Locator {
    return this.page.getByRole("log", { name: "Messages" });
  }
  get completion(): Locator {
    return this.page.getByRole("listbox");
  }
  get run(): Locator {
    return this.page.getByRole("button", { name: "Run", exact: true });
  }
  get cancel(): Locator {
    return this.page.getByRole("button", { name: "Cancel", exact: true }).first();
  }

  /** Saves a connection to a server of this machine by the dialog; the console that is shown or a new one runs on it. */
  async connect(engine: "PostgreSQL" | "MySQL", name: string, server: { port: number; user: string; password: string }, database: string) {
    await this.page.getByRole("button", { name: "New connection" }).first().click();
    const dialog = this.page.getByRole("dialog", { name: "Connection" });
    await dialog.getByLabel(engine).check({ force: true });
    const fields = { Name: name, Host: "127.0.0.1", Port: String(server.port), Database: database, User: server.user, Password: server.password };
    for (const [field, value] of Object.entries(fields)) await dialog.getByLabel(field, { exact: true }).fill(value);
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect(dialog).toBeHidden();
    await expect(this.status).toContainText(name);
  }

  /** Replaces the text of the console that is shown. */
  async write(sql: string): Promise<void> {
    await this.editor.click();
    await this.page.keyboard.press("Control+a");
    await this.page.keyboard.press("Delete");
    await this.page.keyboard.insertText(sql);
  }

  /** Writes a statement and runs it by its key. */
  async execute(sql: string): Promise<void> {
    await this.write(sql);
    await this.page.keyboard.press("Control+Enter");
  }

  /** The painted cell at a row and column, both from 1. */
  cell(row: number, column: number): Locator {
    return this.grid.locator(`[role="row"][aria-rowindex="${row + 1}"] [role="gridcell"][aria-colindex="${column}"]`);
  }
}
