import { type Host, nodeHost } from '@troupe/core';
import {
  type Connection,
  type ConnectionHandler,
  Dialer,
  type DialerEvent,
  nodeNet,
  type Role,
} from '@troupe/transport';
import type { StoredPayload } from '../job/stored-payload.js';
import { SessionRefusedError } from '../jobs-error.js';
import type { ToClient } from '../protocol/client-messages.js';
import type { PeerPort } from '../protocol/leader-interface.js';
import type { ToWorker } from '../protocol/worker-messages.js';
import { Inlet } from '../server/frame-receiver.js';
import { Outlet } from '../server/frame-sender.js';
import type { ByteReader } from '../wire/byte-reader.js';
import type { ByteWriter } from '../wire/byte-writer.js';
import type { Emit } from '../wire/client-codec.js';
import { wireWriter } from '../wire/wire-writer.js';
import { type DialOptions, hopeless, RECONNECT, unreachable } from './dial-options.js';

/** How one role speaks. */
export interface LinkCodec<Hello, Message, Answer> {
  readonly role: Role;
  readonly hello: (hello: Hello, out: ByteWriter, emit: Emit) => void;
  readonly message: (message: Message, out: ByteWriter, emit: Emit) => void;
  /** Undefined for a type this role does not know. */
  readonly answer: (type: number, from: ByteReader, connection: Connection) => Answer | undefined;
}

export interface LinkEvents {
  /** There is a connection: time to say hello. */
  onUp(): void;
  onDown(): void;
  /** A file could not be read while it was sent. */
  onLost?(payload: StoredPayload, error: Error): void;
}

/**
 * The leader as a role at the other end of a socket sees it: the same faces as in one process. Keeps one connection up for good; each
 * hello begins a session on the connection of the moment, and what has no session is dropped, to be said again after the next one.
 */
export class LeaderLink<Hello, Message, Answer extends ToClient | ToWorker> {
  private readonly options: DialOptions;
  private readonly codec: LinkCodec<Hello, Message, Answer>;
  private readonly host: Host;
  private readonly dialer: Dialer;
  private outlet: Outlet | undefined = undefined;
  private connection: Connection | undefined = undefined;
  private port: PeerPort<Answer> | undefined = undefined;
  private last: DialerEvent | undefined = undefined;
  private settle: ((error: Error | undefined) => void) | undefined = undefined;
  private isClosed = false;

  constructor(
    options: DialOptions,
    name: string,
    codec: LinkCodec<Hello, Message, Answer>,
    events: LinkEvents,
  ) {
    this.options = options;
    this.codec = codec;
    this.host = options.host ?? nodeHost;
    const { address, auth, tls, net = nodeNet, transportLimits } = options;
    this.dialer = new Dialer({
      net,
      clock: this.host,
      address,
      role: codec.role,
      name: transportName(name),
      ...(auth === undefined ? {} : { auth }),
      ...(tls === undefined ? {} : { tls }),
      ...(transportLimits === undefined ? {} : { limits: transportLimits }),
      backoff: { ...RECONNECT, ...options.backoff },
      onConnection: (connection) => this.up(connection, events),
      onEvent: (event) => this.note(event),
    });
  }

  /** Resolves when the leader has welcomed the first session. */
  ready(): Promise<void> {
    const { withinMs = 10_000, address } = this.options;
    return new Promise((resolve, reject) => {
      const timer = this.host.setTimer(withinMs, () =>
        this.settle?.(unreachable(address, withinMs, this.last)),
      );
      this.settle = (error) => {
        timer.cancel();
        this.settle = undefined;
        if (error === undefined) resolve();
        else reject(error);
      };
    });
  }

  open(hello: Hello, port: PeerPort<Answer>): void {
    if (this.outlet === undefined) return;
    this.port = port;
    this.codec.hello(hello, wireWriter(), this.outlet.post);
  }

  send(message: Message, port: PeerPort<Answer>): void {
    if (this.outlet !== undefined && port === this.port)
      this.codec.message(message, wireWriter(), this.outlet.post);
  }

  close(): void {
    this.isClosed = true;
    this.dialer.close();
  }

  private up(connection: Connection, events: LinkEvents): ConnectionHandler {
    const outlet = new Outlet(connection, {
      compress: this.options.compress,
      // What waits here is bounded by the submits or attempts that this side may have open.
      waitingBytesMax: Number.POSITIVE_INFINITY,
      onLost: (payload, error) => events.onLost?.(payload, error),
    });
    const inlet = new Inlet(connection, 256 * 1024 * 1024, (type, from) => this.take(type, from, connection));
    this.outlet = outlet;
    this.connection = connection;
    this.port = undefined;
    events.onUp();
    return {
      onFrame: (frame) => inlet.receive(frame),
      onWritable: () => outlet.drained(),
      // The leader took nothing of the frame; with a new hello on this connection everything unanswered is said again.
      onPeerError: (error) => {
        if (error.retryable) this.host.setTimer(Math.max(error.retryAfterMs, 10), () => events.onUp());
      },
      onClose: () => {
        if (this.connection !== connection) return;
        this.outlet = undefined;
        this.connection = undefined;
        this.port = undefined;
        events.onDown();
      },
    };
  }

  private take(type: number, from: ByteReader, connection: Connection): void {
    const answer = this.codec.answer(type, from, connection);
    if (answer === undefined) return connection.writeError('UNKNOWN_TYPE');
    this.hear(answer);
    this.port?.send(answer);
  }

  /** What the first answer of the leader means for whoever waits for a session. One that was replaced begins again by itself. */
  private hear(answer: ToClient | ToWorker): void {
    if (answer.kind === 'welcome') this.settle?.(undefined);
    else if (answer.kind === 'refused' && answer.code !== 'ERR_SESSION_REPLACED')
      this.settle?.(new SessionRefusedError(answer.code, answer.problem));
  }

  private note(event: DialerEvent): void {
    if (event.kind !== 'dialing') this.last = event;
    if (event.kind === 'lost' && !this.isClosed) {
      const error = hopeless(this.options.address, event.reason);
      if (error !== undefined) this.settle?.(error);
    }
    this.options.onEvent?.(event);
  }
}

/** The transport knows a smaller alphabet for names; the whole name travels in the hello of the session. */
function transportName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_.-]/g, '_').slice(0, 64);
}
