import { connect, createServer, type Server, type Socket } from 'node:net';

export type FaultPlan =
  /** Bytes pass as they come. */
  | { readonly kind: 'calm' }
  | { readonly kind: 'delay'; readonly ms: number }
  /** Every byte is a packet. */
  | { readonly kind: 'crumbs' }
  /** Every so many chunks from the leader the connection is cut instead: what was asked was done, and nobody was told. */
  | { readonly kind: 'deaf'; readonly every: number }
  /** Both ends stay open, nothing passes: a cable pulled out. */
  | { readonly kind: 'silence' };

/** A proxy between a peer and its leader that does what networks do. */
export class ChaosProxy implements AsyncDisposable {
  weather: FaultPlan = { kind: 'calm' };
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

  /** Cuts everything, in the middle of whatever is passing. */
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
    const { weather } = this;
    const write = (bytes: Buffer): void => {
      if (!to.destroyed) to.write(bytes);
    };
    switch (weather.kind) {
      case 'calm':
        return write(chunk);
      case 'delay':
        setTimeout(() => write(chunk), weather.ms);
        return;
      case 'crumbs':
        for (let i = 0; i < chunk.length; i += 1) write(chunk.subarray(i, i + 1));
        return;
      case 'deaf':
        if (isAnswer) this.answers += 1;
        if (isAnswer && this.answers % weather.every === 0) return this.cut();
        return write(chunk);
      case 'silence':
        return;
      default:
        return weather satisfies never;
    }
  }
}
