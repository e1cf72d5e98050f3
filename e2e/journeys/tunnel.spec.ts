import { expect, test } from "./support/journey.ts";
import { Postgres } from "./support/postgres.ts";
import { Sshd } from "./support/sshd.ts";

let postgres: Postgres;
let sshd: Sshd;
test.beforeAll(async () => {
  [postgres, sshd] = await Promise.all([Postgres.start(), Sshd.start()]);
});
test.afterAll(async () => {
  await Promise.all([postgres.stop(), sshd.stop()]);
});

test("connect through SSH: what is wrong is said where it is typed, the server's key is trusted once, cancels reach the database", async ({ workbench: w, page }) => {
  await page.getByRole("button", { name: "New connection" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Connection" });
  const field = (label: string) => dialog.getByLabel(label, { exact: true });
  await dialog.getByLabel("PostgreSQL").check({ force: true });
  await field("Name").fill("Behind a bastion");
  await field("Host").fill("127.0.0.1");
  await field("Port").fill(String(postgres.port));
  await field("Database").fill("postgres");
  await field("User").fill(postgres.user);
  await field("Password").fill(postgres.password);

  // By keys alone: the section unfolds, the box is ticked.
  const section = dialog.locator("summary").filter({ hasText: "SSH tunnel" });
  await expect(section).toContainText("Off");
  await section.focus();
  await page.keyboard.press("Enter");
  await field("Connect through an SSH server").focus();
  await page.keyboard.press("Space");
  await field("SSH port").fill(String(sshd.port));
  await dialog.getByRole("button", { name: "Test" }).click();
  await expect(field("SSH host")).toHaveAttribute("aria-invalid", "true");
  await expect(field("SSH host")).toBeFocused();
  await field("SSH host").fill("127.0.0.1");
  await field("SSH user").fill(sshd.user);
  await expect(section).toContainText("Through 127.0.0.1");
  await field("SSH key: choose a file").setInputFiles(sshd.key);
  await expect(field("SSH key")).toHaveValue(await sshd.keyText());

  // Nothing is told to a server whose key nobody has vouched for.
  await dialog.getByRole("button", { name: "Test" }).click();
  await expect(dialog).toContainText("is not known to Sheaf yet");
  await expect(dialog).toContainText(sshd.fingerprint);
  await dialog.getByRole("button", { name: "Trust this key" }).click();
  await expect(field("Passphrase of the key")).toHaveAttribute("aria-invalid", "true");
  await expect(dialog).toContainText("The SSH key is encrypted: its passphrase is needed.");
  await expect(field("Passphrase of the key")).toBeFocused();
  await page.keyboard.type("wrong");
  await dialog.getByRole("button", { name: "Test" }).click();
  await expect(dialog).toContainText("The passphrase does not open the SSH key.");
  await field("Passphrase of the key").fill(sshd.passphrase);
  await dialog.getByRole("button", { name: "Test" }).click();
  await expect(dialog).toContainText(/PostgreSQL \d+/);
  await expect(dialog).toContainText(`Trusted key ${sshd.fingerprint}`);
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog).toBeHidden();

  await w.execute("SELECT inet_server_port() AS port");
  await expect(w.cell(1, 1)).toHaveText(String(postgres.port));
  await w.execute("SELECT pg_sleep(600)");
  await expect(w.cancel).toBeVisible();
  await w.cancel.click();
  await expect(w.messages).toContainText("canceling statement due to user request");

  // The secrets stay in the server: nothing of them comes back into the dialog, and they need not be given again.
  await w.explorer.getByRole("treeitem", { name: /^Behind a bastion/ }).click({ button: "right" });
  await page.getByRole("menuitem", { name: "Edit…" }).click();
  await section.click();
  await expect(field("SSH key")).toHaveValue("");
  await expect(field("SSH key")).toHaveAttribute("placeholder", "As before");
  await dialog.getByRole("button", { name: "Test" }).click();
  await expect(dialog).toContainText(/PostgreSQL \d+/);
});
