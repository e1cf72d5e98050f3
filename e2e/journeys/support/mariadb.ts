import { execFile, spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort, serverOwner } from "./postgres.ts";

const run = promisify(execFile);
const folders = [...(process.env.SHEAF_TEST_MARIADB_BIN ?? "").split(":"), "/usr/sbin", "/usr/bin", "/usr/local/bin"].filter(Boolean);
const program = (name: string) => folders.map((folder) => join(folder, name)).find(existsSync) ?? name;

/** A disposable MariaDB on a free port of the loopback; its user `sheaf` has the password `bound` and all rights on the database `shop`. */
export class Mariadb {
  readonly user = "sheaf";
  readonly password = "bound";
  private constructor(private readonly process: ChildProcess, private readonly home: string, readonly port: number) {}

  static async start(): Promise<Mariadb> {
    const home = await mkdtemp(join(tmpdir(), "sheaf-journey-my-"));
    const owner = await serverOwner();
    await chmod(home, 0o700);
    await chown(home, owner.uid, owner.gid);
    const data = join(home, "data");
    const install = ["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve", `--datadir=${data}`];
    await run(program("mariadb-install-db"), install, { ...owner, cwd: home });
    const port = await freePort();
    const socket = join(home, "socket");
    const settings = ["--no-defaults", `--datadir=${data}`, `--tmpdir=${home}`, `--socket=${socket}`, `--pid-file=${join(home, "pid")}`, `--port=${port}`];
    const child = spawn(program("mariadbd"), [...settings, "--bind-address=127.0.0.1", "--skip-name-resolve", "--innodb-buffer-pool-size=32M"], {
      ...owner,
      cwd: home,
      stdio: ["ignore", "ignore", "pipe"],
    });
    await new Promise<void>((resolve, reject) => {
      let log = "";
      child.once("exit", (code) => reject(new Error(`mariadbd ended with ${code}:\n${log}`)));
      child.stderr!.on("data", (chunk: Buffer) => {
        log += chunk.toString();
        if (log.includes("ready for connections")) resolve();
      });
    });
    const setUp = "CREATE DATABASE shop; CREATE USER sheaf IDENTIFIED BY 'bound'; GRANT ALL ON shop.* TO sheaf; GRANT FILE ON *.* TO sheaf;";
    await run(program("mariadb"), ["--no-defaults", "--user=root", `--socket=${socket}`, "--execute", setUp]);
    return new Mariadb(child, home, port);
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill("SIGTERM");
    await ended;
    await rm(this.home, { recursive: true, force: true });
  }
}
