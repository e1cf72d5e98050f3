import { execFile, spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const binary = process.env.SHEAF_BIN ?? new URL("../../../dist/sheaf", import.meta.url).pathname;

/** A Sheaf of its own: a free port, a data folder that is removed with it. */
export class Server {
  private constructor(
    private process: ChildProcess,
    private readonly data: string,
    readonly origin: string,
    private firstLaunch: string | undefined,
    private readonly log: string[],
  ) {}

  /** Starts the binary and waits for its one line on stdout. */
  static async start(...targets: string[]): Promise<Server> {
    const data = await mkdtemp(join(tmpdir(), "sheaf-journey-"));
    const log: string[] = [];
    const [child, launch] = await spawned("127.0.0.1:0", data, log, targets);
    return new Server(child, data, new URL(launch).origin, launch, log);
  }

  /** A new process on the same address and folder, after `kill`. */
  async restart(): Promise<void> {
    [this.process, this.firstLaunch] = await spawned(new URL(this.origin).host, this.data, this.log, []);
  }

  /** A launch address that nobody has used: the first from the start, later ones from `sheaf open`. */
  async launch(): Promise<string> {
    const first = this.firstLaunch;
    this.firstLaunch = undefined;
    if (first) return first;
    const { stdout } = await promisify(execFile)(binary, ["open", "--data", this.data]);
    return launchOf(stdout.trim());
  }

  /** Ends the process at once, as a crash would. */
  async kill(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill("SIGKILL");
    await ended;
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.data, { recursive: true, force: true });
  }

  /** What the server wrote for its operator. */
  stderr(): string {
    return this.log.join("\n");
  }
}

async function spawned(listen: string, data: string, log: string[], targets: string[]): Promise<[ChildProcess, string]> {
  const child = spawn(binary, ["serve", "--listen", listen, "--data", data, "--no-open", ...targets], { stdio: ["ignore", "pipe", "pipe"] });
  createInterface({ input: child.stderr! }).on("line", (line) => log.push(line));
  const launch = await new Promise<string>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`sheaf ended with ${code} before it was ready:\n${log.join("\n")}`)));
    createInterface({ input: child.stdout! }).once("line", (line) => resolve(launchOf(line)));
  });
  return [child, launch];
}

function launchOf(line: string): string {
  const match = /^Sheaf is ready: (http:\/\/127\.0\.0\.1:\d+\/#launch=\S+)$/.exec(line);
  if (!match) throw new Error(`not the ready line: ${line}`);
  return match[1]!;
}
