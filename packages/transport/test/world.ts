import {
  type CloseReason,
  type Connection,
  type ConnectionHandler,
  Dialer,
  type DialerEvent,
  type DialerOptions,
  Listener,
  type ListenerEvent,
  type ListenerOptions,
  type PeerError,
  type ReceivedFrame,
} from '@troupe/transport';
import { ManualClock, MemoryNetwork, type MemoryNetworkOptions } from '@troupe/transport/testing';

/** What one end has seen. */
export class Log implements ConnectionHandler {
  readonly frames: ReceivedFrame[] = [];
  readonly bodies: string[] = [];
  readonly errors: PeerError[] = [];
  readonly goodbyes: number[] = [];
  drains = 0;
  closed: CloseReason | null = null;
  connection: Connection | null = null;
  each: ((frame: ReceivedFrame, connection: Connection) => void) | null = null;

  onFrame(frame: ReceivedFrame): void {
    this.frames.push(frame.detach());
    this.bodies.push(frame.body.toString('latin1'));
    if (this.connection !== null) this.each?.(frame, this.connection);
  }

  onWritable(): void {
    this.drains += 1;
  }

  onPeerError(error: PeerError): void {
    this.errors.push(error);
  }

  onPeerDraining(graceMs: number): void {
    this.goodbyes.push(graceMs);
  }

  onClose(reason: CloseReason): void {
    this.closed = reason;
    this.connection = null;
  }
}

export interface World {
  readonly clock: ManualClock;
  readonly network: MemoryNetwork;
  readonly listener: Listener;
  /** One log per accepted connection, in order. */
  readonly accepted: Log[];
  readonly events: ListenerEvent[];
  dial(
    options?: Partial<DialerOptions>,
    machine?: string,
  ): { log: Log; dialer: Dialer; events: DialerEvent[] };
}

export const PORT = 7000;

/** A listener on the machine `leader`, in memory and virtual time. */
export function openWorld(
  listen: Partial<ListenerOptions> = {},
  network: Partial<MemoryNetworkOptions> = {},
): World {
  const clock = new ManualClock(network.seed ?? 1);
  const memory = new MemoryNetwork({ ...network, clock });
  const accepted: Log[] = [];
  const events: ListenerEvent[] = [];
  const listener = new Listener({
    net: memory.machine('leader'),
    clock,
    address: { port: PORT },
    onConnection: (connection) => {
      const log = new Log();
      log.connection = connection;
      accepted.push(log);
      return log;
    },
    onEvent: (event) => events.push(event),
    ...listen,
  });
  clock.advance(0);
  return {
    clock,
    network: memory,
    listener,
    accepted,
    events,
    dial(options = {}, machine = 'peer') {
      const log = new Log();
      const dialled: DialerEvent[] = [];
      const dialer = new Dialer({
        net: memory.machine(machine),
        clock,
        address: { host: 'leader', port: PORT },
        role: 'client',
        onConnection: (connection) => {
          log.connection = connection;
          return log;
        },
        onEvent: (event) => dialled.push(event),
        ...options,
      });
      return { log, dialer, events: dialled };
    },
  };
}

/** The one connection of a log; a test that asks for it expects it to be there. */
export function connectionOf(log: Log | undefined): Connection {
  if (log?.connection == null) throw new Error(`no connection: ${JSON.stringify(log?.closed)}`);
  return log.connection;
}

export function first(logs: readonly Log[]): Log {
  const [log] = logs;
  if (log === undefined) throw new Error('nobody was accepted');
  return log;
}
