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

/** Records the events of one end of a connection. */
export class RecordingHandler implements ConnectionHandler {
  readonly frames: ReceivedFrame[] = [];
  readonly bodies: string[] = [];
  readonly errors: PeerError[] = [];
  readonly peerDrains: number[] = [];
  writableCount = 0;
  closed: CloseReason | null = null;
  connection: Connection | null = null;
  onEachFrame: ((frame: ReceivedFrame, connection: Connection) => void) | null = null;

  onFrame(frame: ReceivedFrame): void {
    this.frames.push(frame.detach());
    this.bodies.push(frame.body.toString('latin1'));
    if (this.connection !== null) this.onEachFrame?.(frame, this.connection);
  }

  onWritable(): void {
    this.writableCount += 1;
  }

  onPeerError(error: PeerError): void {
    this.errors.push(error);
  }

  onPeerDraining(graceMs: number): void {
    this.peerDrains.push(graceMs);
  }

  onClose(reason: CloseReason): void {
    this.closed = reason;
    this.connection = null;
  }
}

export interface ConnectionRig {
  readonly clock: ManualClock;
  readonly network: MemoryNetwork;
  readonly listener: Listener;
  /** The handler of each accepted connection, in order. */
  readonly accepted: RecordingHandler[];
  readonly events: ListenerEvent[];
  dial(
    options?: Partial<DialerOptions>,
    machine?: string,
  ): { log: RecordingHandler; dialer: Dialer; events: DialerEvent[] };
}

export const PORT = 7000;

/** A listener on the machine `leader`, on the memory network in virtual time. */
export function openRig(
  listen: Partial<ListenerOptions> = {},
  network: Partial<MemoryNetworkOptions> = {},
): ConnectionRig {
  const clock = new ManualClock(network.seed ?? 1);
  const memory = new MemoryNetwork({ ...network, clock });
  const accepted: RecordingHandler[] = [];
  const events: ListenerEvent[] = [];
  const listener = new Listener({
    net: memory.machine('leader'),
    clock,
    address: { port: PORT },
    onConnection: (connection) => {
      const log = new RecordingHandler();
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
      const log = new RecordingHandler();
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

/** The open connection of a handler; throws where there is none. */
export function connectionOf(log: RecordingHandler | undefined): Connection {
  if (log?.connection == null) throw new Error(`no connection: ${JSON.stringify(log?.closed)}`);
  return log.connection;
}

export function first(logs: readonly RecordingHandler[]): RecordingHandler {
  const [log] = logs;
  if (log === undefined) throw new Error('no connection was accepted');
  return log;
}
