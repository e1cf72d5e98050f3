import { execFile, spawn, type ChildProcess } from "node:child_process";
import { chmod, chown, copyFile, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort, serverOwner } from "./postgres.ts";

const run = promisify(execFile);
const unpacked = process.env.SHEAF_TEST_SSHD;

/** A disposable OpenSSH server on a free port of the loopback. It lets its own user in, by the key in the file `key`, which `passphrase` opens. */
export class Sshd {
  readonly passphrase = "open sesame";
  private constructor(
    private readonly process: ChildProcess,
    private readonly home: string,
    readonly port: number,
    readonly user: string,
    readonly fingerprint: string,
  ) {}

  static async start(): Promise<Sshd> {
    const home = await mkdtemp(join(tmpdir(), "sheaf-journey-ssh-"));
    const at = (name: string) => join(home, name);
    await chmod(home, 0o755);
    await run("ssh-keygen", ["-q", "-N", "", "-t", "ed25519", "-f", at("host")]);
    await run("ssh-keygen", ["-q", "-a", "1", "-N", "open sesame", "-t", "ed25519", "-f", at("key")]);
    await copyFile(at("key.pub"), at("authorized_keys"));
    await bring(home);
    const port = await freePort();
    const lines = [
      `Port ${port}`,
      "ListenAddress 127.0.0.1",
      `HostKey ${at("host")}`,
      `AuthorizedKeysFile ${at("authorized_keys")}`,
      "PidFile none",
      "UsePAM no",
      "StrictModes no",
      "PasswordAuthentication no",
      "KbdInteractiveAuthentication no",
    ];
    await writeFile(at("config"), lines.join("\n") + "\n");
    const owner = await serverOwner();
    for (const name of ["host", "authorized_keys", "config"]) await chown(at(name), owner.uid, owner.gid);
    const child = spawn(at("sshd"), ["-D", "-e", "-f", at("config")], { ...owner, env: { LD_LIBRARY_PATH: home }, stdio: ["ignore", "ignore", "pipe"] });
    await new Promise<void>((resolve, reject) => {
      let log = "";
      child.once("exit", (code) => reject(new Error(`sshd ended with ${code}:\n${log}`)));
      child.stderr!.on("data", (chunk: Buffer) => {
        log += chunk.toString();
        if (log.includes("Server listening")) resolve();
      });
    });
    const user = (await run("id", ["-un", String(owner.uid)])).stdout.trim();
    const fingerprint = (await run("ssh-keygen", ["-lf", at("host.pub")])).stdout.split(" ")[1]!;
    return new Sshd(child, home, port, user, fingerprint);
  }

  /** The file of the client's key. */
  get key(): string {
    return join(this.home, "key");
  }

  /** The text in it. */
  keyText(): Promise<string> {
    return readFile(this.key, "utf8");
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill("SIGTERM");
    await ended;
    await rm(this.home, { recursive: true, force: true });
  }
}

/** The program, with the libraries that came unpacked with it: the user it runs as may not look into others' folders. */
async function bring(home: string): Promise<void> {
  await copyFile(unpacked ? join(unpacked, "usr/sbin/sshd") : "/usr/sbin/sshd", join(home, "sshd"));
  await chmod(join(home, "sshd"), 0o755);
  if (!unpacked) return;
  for (const system of await readdir(join(unpacked, "usr/lib"))) {
    const folder = join(unpacked, "usr/lib", system);
    for (const file of await readdir(folder, { withFileTypes: true })) {
      if (file.name.includes(".so")) await copyFile(join(folder, file.name), join(home, file.name));
    }
  }
}
