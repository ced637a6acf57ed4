import { connect, createServer, type Server, type Socket } from 'node:net';

export type NetworkFault =
  /** Bytes pass as they come. */
  | { readonly kind: 'none' }
  | { readonly kind: 'delay'; readonly ms: number }
  /** Every byte is a chunk of its own. */
  | { readonly kind: 'single-bytes' }
  /** Instead of every n-th chunk from the leader the connection is cut: the request was handled, its answer is lost. */
  | { readonly kind: 'lost-answers'; readonly every: number }
  /** Both ends stay open and no byte passes: an unplugged cable. */
  | { readonly kind: 'silence' };

/** A proxy between a peer and its leader that injects network faults. */
export class ChaosProxy implements AsyncDisposable {
  fault: NetworkFault = { kind: 'none' };
  cuts = 0;
  private answers = 0;
  private readonly server: Server;
  private readonly pairs = new Set<readonly [Socket, Socket]>();

  private constructor(target: number) {
    this.server = createServer((near) => {
      const far = connect(target, '127.0.0.1');
      const pair = [near, far] as const;
      this.pairs.add(pair);
      for (const [from, to] of [pair, [far, near] as const]) {
        from.on('data', (chunk) => this.pass(chunk, to, from === far));
        from.on('end', () => to.end());
        from.on('error', () => to.destroy());
        from.on('close', () => {
          to.destroy();
          this.pairs.delete(pair);
        });
      }
    });
  }

  static async before(target: number): Promise<ChaosProxy> {
    const proxy = new ChaosProxy(target);
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    const address = this.server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** Resets all connections, in the middle of frames. */
  cut(): void {
    this.cuts += 1;
    for (const [near, far] of this.pairs) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const [near, far] of this.pairs) {
      near.destroy();
      far.destroy();
    }
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private pass(chunk: Buffer, to: Socket, isAnswer: boolean): void {
    const { fault } = this;
    const write = (bytes: Buffer): void => {
      if (!to.destroyed) to.write(bytes);
    };
    switch (fault.kind) {
      case 'none':
        return write(chunk);
      case 'delay':
        setTimeout(() => write(chunk), fault.ms);
        return;
      case 'single-bytes':
        for (let i = 0; i < chunk.length; i += 1) write(chunk.subarray(i, i + 1));
        return;
      case 'lost-answers':
        if (isAnswer) this.answers += 1;
        if (isAnswer && this.answers % fault.every === 0) return this.cut();
        return write(chunk);
      case 'silence':
        return;
      default:
        return fault satisfies never;
    }
  }
}
