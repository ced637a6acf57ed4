import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A proxy before the server that can lose the answer to an append: the statement is carried out all the same. */
export class AnswerProxy implements AsyncDisposable {
  readonly url: string;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private losesNext = false;

  private constructor(server: Server, url: string) {
    this.server = server;
    this.url = url;
  }

  static async before(port: number): Promise<AnswerProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port: own } = server.address() as AddressInfo; // it listens on TCP
    const proxy = new AnswerProxy(server, `postgres://troupe@127.0.0.1:${own}/postgres`);
    server.on('connection', (inner) => proxy.join(inner, port));
    return proxy;
  }

  /** The connection of the next append ends in place of its answer. */
  loseNextAnswer(): void {
    this.losesNext = true;
  }

  /** Every connection ends, as with a network that is cut. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private join(inner: Socket, port: number): void {
    const outer = connect(port, '127.0.0.1');
    let isLost = false;
    for (const socket of [inner, outer]) {
      this.sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket));
    }
    inner.on('data', (bytes) => {
      if (this.losesNext && bytes.includes('insert into batch')) {
        this.losesNext = false;
        isLost = true;
      }
      outer.write(bytes);
    });
    outer.on('data', (bytes) => {
      if (isLost && bytes.includes('INSERT 0 1')) inner.destroy();
      else inner.write(bytes);
    });
    inner.on('close', () => outer.destroy());
    outer.on('close', () => inner.destroy());
  }
}
