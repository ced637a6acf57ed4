import { type Host, nodeHost } from '@troupe/core';
import {
  type Connection,
  type ConnectionHandler,
  Dialer,
  type DialerEvent,
  nodeNet,
  type Role,
} from '@troupe/transport';
import type { ByteWriter } from '../bytes/byte-writer.js';
import type { StoredPayload } from '../job/stored-payload.js';
import { SessionRefusedError } from '../jobs-error.js';
import type { ToClient } from '../protocol/client-messages.js';
import type { PeerPort } from '../protocol/leader-interface.js';
import type { ToWorker } from '../protocol/worker-messages.js';
import { FrameReceiver } from '../wire/frame-receiver.js';
import { FrameSender } from '../wire/frame-sender.js';
import { LEADER_MESSAGE_LIMITS } from '../wire/message-limits.js';
import type { Emit } from '../wire/session-codec.js';
import type { WireReader } from '../wire/wire-reader.js';
import { wireWriter } from '../wire/wire-writer.js';
import { type DialOptions, hopeless, NOTICED_SILENCE, RECONNECT, unreachable } from './dial-options.js';

/** The messages of one role on the wire. */
export interface RoleCodec<Hello, Message, Answer> {
  readonly role: Role;
  readonly hello: (hello: Hello, out: ByteWriter, emit: Emit) => void;
  readonly message: (message: Message, out: ByteWriter, emit: Emit) => void;
  /** Undefined for a frame type that is not for this role. */
  readonly answer: (type: number, from: WireReader, connection: Connection) => Answer | undefined;
}

export interface LeaderConnectionEvents {
  /** There is a connection, and the hello is due. */
  onUp(): void;
  onDown(): void;
  /** A file could not be read while it was sent. */
  onLost?(payload: StoredPayload, error: Error): void;
}

/**
 * The leader at the other end of a socket, with the interface it has in one process. Keeps one connection up
 * for good. Each hello begins a session on the present connection; a message without a session is dropped,
 * and its role writes it again after the next hello.
 */
export class LeaderConnection<Hello, Message, Answer extends ToClient | ToWorker> {
  private readonly options: DialOptions;
  private readonly codec: RoleCodec<Hello, Message, Answer>;
  private readonly host: Host;
  private readonly dialer: Dialer;
  private sender: FrameSender | undefined = undefined;
  private connection: Connection | undefined = undefined;
  private port: PeerPort<Answer> | undefined = undefined;
  private last: DialerEvent | undefined = undefined;
  /** Ends the wait for the first session. */
  private settle: ((error: Error | null) => void) | undefined = undefined;
  private isClosed = false;

  constructor(
    options: DialOptions,
    name: string,
    codec: RoleCodec<Hello, Message, Answer>,
    events: LeaderConnectionEvents,
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
      auth,
      tls,
      limits: { ...NOTICED_SILENCE, ...transportLimits },
      backoff: { ...RECONNECT, ...options.backoff },
      onConnection: (connection) => this.up(connection, events),
      onEvent: (event) => this.onEvent(event),
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
        if (error === null) resolve();
        else reject(error);
      };
    });
  }

  open(hello: Hello, port: PeerPort<Answer>): void {
    if (this.sender === undefined) return;
    this.port = port;
    this.codec.hello(hello, wireWriter(), this.sender.write);
  }

  write(message: Message, port: PeerPort<Answer>): void {
    if (this.sender !== undefined && port === this.port)
      this.codec.message(message, wireWriter(), this.sender.write);
  }

  close(): void {
    this.isClosed = true;
    this.dialer.close();
  }

  private up(connection: Connection, events: LeaderConnectionEvents): ConnectionHandler {
    const sender = new FrameSender(connection, {
      compress: this.options.compress,
      // The messages that wait here are bounded by the open submits or attempts of this side.
      waitingBytesMax: Number.POSITIVE_INFINITY,
      onLost: (payload, error) => events.onLost?.(payload, error),
    });
    const receiver = new FrameReceiver(connection, LEADER_MESSAGE_LIMITS, (type, from) =>
      this.received(type, from, connection),
    );
    this.sender = sender;
    this.connection = connection;
    this.port = undefined;
    events.onUp();
    return {
      onFrame: (frame) => receiver.receive(frame),
      onWritable: () => sender.drained(),
      // The leader took nothing of the frame. A new hello on this connection repeats everything unanswered.
      onPeerError: (error) => {
        if (error.retryable) this.host.setTimer(Math.max(error.retryAfterMs, 10), () => events.onUp());
      },
      onClose: () => {
        if (this.connection !== connection) return;
        this.sender = undefined;
        this.connection = undefined;
        this.port = undefined;
        events.onDown();
      },
    };
  }

  private received(type: number, from: WireReader, connection: Connection): void {
    const answer = this.codec.answer(type, from, connection);
    if (answer === undefined) return connection.writeError('UNKNOWN_TYPE');
    // The role first: it is welcomed before its caller goes on.
    this.port?.offer(answer);
    this.settleFirst(answer);
  }

  /** A session that was replaced begins again by itself. */
  private settleFirst(answer: ToClient | ToWorker): void {
    if (answer.kind === 'welcome') this.settle?.(null);
    else if (answer.kind === 'refused' && answer.code !== 'ERR_SESSION_REPLACED')
      this.settle?.(new SessionRefusedError(answer.code, answer.problem));
  }

  private onEvent(event: DialerEvent): void {
    if (event.kind !== 'dialing') this.last = event;
    if (event.kind === 'lost' && !this.isClosed) {
      const error = hopeless(this.options.address, event.reason);
      if (error !== undefined) this.settle?.(error);
    }
    this.options.onEvent?.(event);
  }
}

/** The transport allows fewer characters in names; the whole name is in the hello of the session. */
function transportName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_.-]/g, '_').slice(0, 64);
}
