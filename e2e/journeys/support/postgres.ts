import { execFile, spawn, type ChildProcess } from "node:child_process";
import { chmod, chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const bins = (process.env.SHEAF_TEST_PG_BIN ?? "/usr/lib/postgresql/15/bin").split(":");

/** A disposable PostgreSQL on a free port of the loopback; its one user `sheaf` has the password `bound`. */
export class Postgres {
  readonly user = "sheaf";
  readonly password = "bound";
  private constructor(private readonly process: ChildProcess, private readonly home: string, readonly port: number) {}

  static async start(): Promise<Postgres> {
    const bin = bins.at(-1)!;
    const home = await mkdtemp(join(tmpdir(), "sheaf-journey-pg-"));
    const owner = await serverOwner();
    const passwords = join(home, "password");
    await writeFile(passwords, "bound");
    await chmod(home, 0o700);
    for (const path of [home, passwords]) await chown(path, owner.uid, owner.gid);
    const data = join(home, "data");
    await run(join(bin, "initdb"), ["-D", data, "-U", "sheaf", "-A", "scram-sha-256", "--pwfile", passwords, "-E", "UTF8", "--locale", "C.UTF-8", "--no-sync"], owner);
    const port = await freePort();
    const settings = ["-c", "listen_addresses=127.0.0.1", "-c", `unix_socket_directories=${home}`, "-c", "fsync=off", "-c", "logging_collector=off"];
    const child = spawn(join(bin, "postgres"), ["-D", data, "-p", String(port), ...settings], { ...owner, stdio: ["ignore", "ignore", "pipe"] });
    await new Promise<void>((resolve, reject) => {
      let log = "";
      child.once("exit", (code) => reject(new Error(`postgres ended with ${code}:\n${log}`)));
      child.stderr!.on("data", (chunk: Buffer) => {
        log += chunk.toString();
        if (log.includes("ready to accept connections")) resolve();
      });
    });
    return new Postgres(child, home, port);
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill("SIGINT");
    await ended;
    await rm(this.home, { recursive: true, force: true });
  }
}

/** Servers refuse root: as root its files and processes belong to the user that PostgreSQL's package made. */
export async function serverOwner(): Promise<{ uid: number; gid: number }> {
  if (process.getuid!() !== 0) return { uid: process.getuid!(), gid: process.getgid!() };
  const [uid, gid] = await Promise.all(["-u", "-g"].map(async (flag) => Number((await run("id", [flag, "postgres"])).stdout)));
  return { uid: uid!, gid: gid! };
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => (address && typeof address === "object" ? resolve(address.port) : reject(new Error("no port"))));
    });
  });
}
