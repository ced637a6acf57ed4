import { type Actor, type AnyRef, defineActor, type ProtocolContext } from '@troupe/core';
import type {
  CloseReason,
  Compression,
  ConnectionEvents,
  PeerError,
  Role,
  SessionConnection,
} from '@troupe/transport';
import type { ByteWriter } from '../bytes/byte-writer.js';
import { LEADER_MESSAGE_LIMITS } from '../connection/message-limits.js';
import { MessageReader } from '../connection/message-reader.js';
import { MessageWriter } from '../connection/message-writer.js';
import { OutboundMessages } from '../connection/outbound-messages.js';
import type { StoredPayload } from '../job/payload/stored-payload.js';
import type { PeerPort } from '../protocol/leader-interface.js';
import type { Emit } from '../wire/session-codec.js';
import type { WireReader } from '../wire/wire-reader.js';
import { wireWriter } from '../wire/wire-writer.js';

/** The messages of one role on the wire. */
export interface RoleCodec<Hello, Message, Answer> {
  readonly role: Role;
  readonly hello: (hello: Hello, out: ByteWriter, emit: Emit) => void;
  readonly message: (message: Message, out: ByteWriter, emit: Emit) => void;
  /** Undefined for a frame type that is not for this role. */
  readonly answer: (type: number, from: WireReader, connection: SessionConnection) => Answer | undefined;
}

/** An error by its name in docs/wire-protocol.md §7. */
export type SessionError = Pick<PeerError, 'name' | 'message'>;

/** The side of a session that its owner sees. */
export interface LeaderSessionEvents<Answer> {
  /** The role has got an answer. */
  onAnswer(answer: Answer): void;
  /** The leader took nothing of a frame: a new hello on this connection repeats everything unanswered. */
  onRetry(): void;
  /** An error by which nothing is to be repeated: an answer of the leader, or the end of the connection. */
  onError(error: SessionError): void;
  onClosed(session: AnyRef): void;
  /** A file could not be read while it was sent. */
  onLost(payload: StoredPayload, error: Error): void;
}

/** The types of its messages are those of its codec. */
export interface LeaderSessionArgs {
  readonly connection: SessionConnection;
  readonly codec: RoleCodec<unknown, unknown, unknown>;
  readonly compress?: Compression | undefined;
  /** A leader that announces its end has handed over: another address is dialed at once. */
  readonly leavesDraining: boolean;
  readonly events: LeaderSessionEvents<unknown>;
}

export interface LeaderSessionProtocol extends ConnectionEvents {
  /** Begins a session: from now on answers go to this port. */
  open(opened: { readonly hello: unknown; readonly port: PeerPort<never> }): void;
  /** A message of an earlier session is dropped. */
  write(written: { readonly message: unknown; readonly port: PeerPort<never> }): void;
  /** There is room in the outbox again. */
  writable(): void;
  retry(): void;
  /** Closes the connection after everything written before. */
  end(): void;
}

const RETRY_MS_MIN = 10;
/** The leader ends the connection after these errors about a message. */
const FOLLOWED_BY_END: ReadonlySet<string> = new Set(['MALFORMED', 'PAYLOAD_TOO_LARGE', 'PROTOCOL']);

type Context = ProtocolContext<LeaderSessionProtocol, State>;

class State {
  readonly args: LeaderSessionArgs;
  /** Messages that wait for room are bounded by the open submits or attempts of this side. */
  readonly outbound: OutboundMessages<(out: ByteWriter, emit: Emit) => void>;
  readonly reader: MessageReader;
  port: PeerPort<unknown> | undefined = undefined;
  /** An answer for which the role had no room. */
  undelivered: { readonly answer: unknown } | undefined = undefined;
  onRoom: () => void = () => undefined;
  isOver = false;

  constructor(args: LeaderSessionArgs) {
    const { connection, compress, events } = args;
    this.args = args;
    this.reader = new MessageReader(connection, LEADER_MESSAGE_LIMITS, (type, from) =>
      this.received(type, from),
    );
    const writer = new MessageWriter(connection, {
      compress,
      onLost: (payload, error) => {
        if (!this.isOver) events.onLost(payload, error);
      },
      onRoom: () => {
        if (!this.isOver) this.onRoom();
      },
    });
    this.outbound = new OutboundMessages(writer, (encode) => encode(wireWriter(), writer.write));
  }

  /** False where the role has no room for an answer. */
  deliver(): boolean {
    const { undelivered, port } = this;
    if (undelivered === undefined) return true;
    if (port?.offer(undelivered.answer) === 'full') return false;
    this.undelivered = undefined;
    // The role first: it is welcomed before its caller goes on.
    this.args.events.onAnswer(undelivered.answer);
    return true;
  }

  private received(type: number, from: WireReader): undefined {
    const { codec, connection } = this.args;
    const answer = codec.answer(type, from, connection);
    if (answer === undefined) this.reader.refuseUnknown();
    else this.undelivered = { answer };
    return undefined;
  }
}

/**
 * The connection of a client or worker to its leader. A dialer always reads: messages that find no room in
 * the outbox wait here, so that two full outboxes never wait for each other.
 */
export const LeaderSessionActor: Actor<LeaderSessionProtocol, LeaderSessionArgs> =
  defineActor.of<LeaderSessionProtocol>()('connection', {
    state: (args: LeaderSessionArgs) => new State(args),
    handlers: {
      readable: read,
      open({ state }, { hello, port }) {
        const { codec } = state.args;
        // Its answers are those of the codec of its role.
        state.port = port as PeerPort<unknown>;
        state.outbound.write((out, emit) => codec.hello(hello, out, emit));
      },
      write({ state }, { message, port }) {
        const { codec } = state.args;
        if (port === state.port) state.outbound.write((out, emit) => codec.message(message, out, emit));
      },
      writable: (ctx) => ctx.state.outbound.writeWaiting(),
      notice(ctx, notice) {
        if (notice.kind === 'draining') {
          if (ctx.state.args.leavesDraining) ctx.state.args.connection.close();
          return;
        }
        const { error } = notice;
        if (error.retryable) ctx.after(Math.max(error.retryAfterMs, RETRY_MS_MIN), ctx.self).retry();
        else if (FOLLOWED_BY_END.has(error.name)) ctx.state.args.events.onError(error);
      },
      retry: (ctx) => ctx.state.args.events.onRetry(),
      end: (ctx) => ctx.state.args.connection.close(),
      closed(ctx, reason) {
        const error = errorOf(reason);
        if (error !== undefined) ctx.state.args.events.onError(error);
        ctx.state.args.events.onClosed(ctx.self);
        ctx.stop();
      },
    },
    started(ctx) {
      ctx.state.onRoom = () => ctx.self.tell.writable();
    },
    stopping(ctx) {
      ctx.state.isOver = true;
    },
    mailbox: { capacity: 1_024 },
  });

/** The error with which either side ended the connection. */
function errorOf(reason: CloseReason): SessionError | undefined {
  if (reason.kind === 'peer-error') return reason.error.retryable ? undefined : reason.error;
  return reason.kind === 'refused' ? { name: reason.errorName, message: reason.cause } : undefined;
}

/** While the role has no room, nothing more is read. */
function read(ctx: Context): void {
  const { state } = ctx;
  while (state.deliver()) if (state.reader.readNext() === false) return;
  ctx.self.tell.readable();
  if (state.port !== undefined) ctx.suspend('backpressure', { on: 'capacity', of: state.port.ref });
}
