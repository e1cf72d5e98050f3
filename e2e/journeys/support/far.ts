import { connect, createServer, type Server, type Socket } from "node:net";

/** A way to a server of the loopback that takes `delay` milliseconds in each direction; what is under way is pipelined. */
export class Far {
  private constructor(private readonly server: Server, private readonly links: Set<Socket>, readonly port: number) {}

  static async start(to: number, delay: number): Promise<Far> {
    const links = new Set<Socket>();
    const server = createServer((near) => {
      const far = connect(to, "127.0.0.1");
      for (const [from, into] of [[near, far], [far, near]] as const) {
        links.add(from);
        from.setNoDelay(true);
        from.on("data", (bytes) => void setTimeout(() => into.write(bytes), delay));
        from.on("error", () => into.destroy());
        from.on("close", () => void setTimeout(() => into.destroy(), delay));
      }
    });
    await new Promise<void>((listens) => server.listen(0, "127.0.0.1", listens));
    return new Far(server, links, (server.address() as { port: number }).port);
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const link of this.links) link.destroy();
    await closed;
  }
}
