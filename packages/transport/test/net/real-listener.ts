import {
  type Address,
  type Connection,
  type ConnectionHandler,
  Dialer,
  type DialerEvent,
  type DialerOptions,
  Listener,
  type ListenerEvent,
  type ListenerOptions,
  nodeClock,
  nodeNet,
} from '@troupe/transport';
import { RecordingHandler } from '../connection-rig.js';

/** A listener on a real socket. Its disposal closes all connections. */
export class RealListener implements AsyncDisposable {
  readonly accepted: RecordingHandler[] = [];
  readonly events: ListenerEvent[] = [];
  readonly listener: Listener;
  readonly bound: Promise<Address>;
  private dialers: Dialer[] = [];

  constructor(options: Partial<ListenerOptions> = {}) {
    let bound: (address: Address) => void = () => undefined;
    let failed: (error: Error) => void = () => undefined;
    this.bound = new Promise((resolve, reject) => {
      bound = resolve;
      failed = reject;
    });
    this.listener = new Listener({
      net: nodeNet,
      clock: nodeClock,
      onListening: (address) => bound(address),
      onConnection: (connection) => {
        const log = new RecordingHandler();
        log.connection = connection;
        this.accepted.push(log);
        return log;
      },
      onEvent: (event) => {
        this.events.push(event);
        if (event.kind === 'failed') failed(event.error);
      },
      ...options,
    });
  }

  async port(): Promise<number> {
    const address = await this.bound;
    return 'port' in address ? address.port : 0;
  }

  /** Resolves with the first connection, or rejects with the reason of the failure. */
  async dial(
    options: Partial<DialerOptions> = {},
  ): Promise<{ connection: Connection; log: RecordingHandler; events: DialerEvent[] }> {
    const address = await this.bound;
    const log = new RecordingHandler();
    const events: DialerEvent[] = [];
    return new Promise((resolve, reject) => {
      const dialer = new Dialer({
        net: nodeNet,
        clock: nodeClock,
        address,
        role: 'peer',
        backoff: { fromMs: 60_000, toMs: 60_000 },
        onConnection: (connection): ConnectionHandler => {
          log.connection = connection;
          queueMicrotask(() => resolve({ connection, log, events }));
          return log;
        },
        onEvent: (event) => {
          events.push(event);
          if (event.kind === 'unreachable') reject(event.error);
          if (event.kind === 'lost') reject(new Error(JSON.stringify(event.reason)));
        },
        ...options,
      });
      this.dialers.push(dialer);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const dialer of this.dialers) dialer.close();
    await new Promise<void>((resolve) => this.listener.close(resolve));
  }
}

/** Polls a condition; throws where it does not hold in time. */
export async function until(expected: string, condition: () => boolean, withinMs = 20_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${expected}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
