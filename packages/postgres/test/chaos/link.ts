import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** The way from one leader to one server. Cut, it carries nothing and reports nothing, as a network does. */
export class Link implements AsyncDisposable {
  readonly port: number;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private isCut = false;
  /** The port of the server behind it. */
  target: number;

  private constructor(server: Server, target: number) {
    this.server = server;
    this.target = target;
    this.port = (server.address() as AddressInfo).port; // it listens on TCP
  }

  static async to(target: number): Promise<Link> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const link = new Link(server, target);
    server.on('connection', (inner) => link.join(inner));
    return link;
  }

  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.pause();
  }

  /** Connections of before are gone. */
  heal(): void {
    this.isCut = false;
    for (const socket of this.sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.heal();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private join(inner: Socket): void {
    const outer = connect(this.target, '127.0.0.1');
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      this.sockets.add(from);
      from.on('error', () => undefined);
      from.on('data', (bytes) => to.write(bytes));
      from.on('close', () => {
        this.sockets.delete(from);
        if (!this.isCut) to.destroy();
      });
      if (this.isCut) from.pause();
    }
  }
}
