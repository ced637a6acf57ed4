import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A statement by a part of its text, and its answer by its command tag. Without an answer it is not carried out. */
interface Exchange {
  readonly statement: string;
  readonly answer?: string;
}

const APPEND: Exchange = { statement: 'insert into batch', answer: 'INSERT 0 1' };
export const TAKE_OVER: Exchange = { statement: 'update head set epoch', answer: 'UPDATE 1' };

/** A proxy before the server that can lose the answer to an append: the statement is carried out all the same. */
export class AnswerProxy implements AsyncDisposable {
  readonly url: string;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private lost: Exchange | undefined = undefined;

  private constructor(server: Server, url: string) {
    this.server = server;
    this.url = url;
  }

  static async before(port: number, database = 'postgres'): Promise<AnswerProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port: own } = server.address() as AddressInfo; // it listens on TCP
    const proxy = new AnswerProxy(server, `postgres://troupe@127.0.0.1:${own}/${database}`);
    server.on('connection', (inner) => proxy.join(inner, port));
    return proxy;
  }

  /** The connection of the next such statement ends in place of its answer. */
  loseNextAnswer(lost = APPEND): void {
    this.lost = lost;
  }

  /** The connection of the next append ends in place of it. */
  loseNextRequest(): void {
    this.lost = { statement: APPEND.statement };
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
    let lost: Exchange | undefined;
    for (const socket of [inner, outer]) {
      this.sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket));
    }
    inner.on('data', (bytes) => {
      if (this.lost !== undefined && bytes.includes(this.lost.statement)) {
        lost = this.lost;
        this.lost = undefined;
      }
      if (lost !== undefined && lost.answer === undefined) inner.destroy();
      else outer.write(bytes);
    });
    outer.on('data', (bytes) => {
      if (lost?.answer !== undefined && bytes.includes(lost.answer)) inner.destroy();
      else inner.write(bytes);
    });
    inner.on('close', () => outer.destroy());
    outer.on('close', () => inner.destroy());
  }
}
