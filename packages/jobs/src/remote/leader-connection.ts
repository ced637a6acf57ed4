import { type ActorRef, type ActorSystem, type AnyRef, type Host, nodeHost, type Ref } from '@troupe/core';
import { type DialerEvent, formatAddresses, type MakeSession, nodeNet, TcpDialer } from '@troupe/transport';
import type { StoredPayload } from '../job/payload/stored-payload.js';
import { LeaderRefusedError, SessionRefusedError } from '../jobs-error.js';
import type { ToClient } from '../protocol/client/client-messages.js';
import type { PeerPort } from '../protocol/leader-interface.js';
import type { ToWorker } from '../protocol/worker/worker-messages.js';
import { type DialOptions, hopeless, NOTICED_SILENCE, RECONNECT, unreachable } from './dial-options.js';
import {
  LeaderSessionActor,
  type LeaderSessionArgs,
  type LeaderSessionProtocol,
  type RoleCodec,
  type SessionError,
} from './leader-session.js';

/** Errors of messages, which would be the same messages on the next connection. */
const REPEATED_ERRORS: ReadonlySet<string> = new Set([
  'MALFORMED',
  'PROTOCOL',
  'FRAME',
  'PAYLOAD_TOO_LARGE',
  'UNKNOWN_TYPE',
  'FORBIDDEN',
  'CREDIT',
]);
/** Damage on the way is over after one connection; a message that the leader cannot read is not. */
const ERRORS_IN_ROW_MAX = 5;

export interface LeaderConnectionEvents {
  /** There is a connection, and the hello is due. */
  onUp(): void;
  onDown(): void;
  /** The leader will never take this peer: the connection is closed for good. */
  onRefused?(error: Error): void;
  /** A file could not be read while it was sent. */
  onLost?(payload: StoredPayload, error: Error): void;
}

/**
 * The leader at the other end of a socket, with the interface it has in one process. Keeps one connection up
 * for good, by a dialer in the given system. Each hello begins a session on the present connection; a message
 * without a session is dropped, and its role writes it again after the next hello.
 */
export class LeaderConnection<Hello, Message, Answer extends ToClient | ToWorker> {
  private readonly options: DialOptions;
  private readonly host: Host;
  private readonly system: ActorSystem;
  private readonly events: LeaderConnectionEvents;
  private readonly dialer: ActorRef<typeof TcpDialer>;
  private session: Ref<LeaderSessionProtocol> | undefined = undefined;
  private last: DialerEvent | undefined = undefined;
  /** Ends the wait for the first session. */
  private settle: ((error: Error | null) => void) | undefined = undefined;
  private isClosed = false;
  /** The error of the present connection that every repetition would bring again. */
  private error: SessionError | undefined = undefined;
  private errorsInRow = 0;

  constructor(
    system: ActorSystem,
    options: DialOptions,
    name: string,
    codec: RoleCodec<Hello, Message, Answer>,
    events: LeaderConnectionEvents,
  ) {
    this.system = system;
    this.options = options;
    this.events = events;
    this.host = options.host ?? nodeHost;
    const { address, auth, tls, net = nodeNet, transportLimits } = options;
    this.dialer = system.spawn(TcpDialer, {
      args: {
        net,
        clock: this.host,
        address,
        role: codec.role,
        name: transportName(name),
        auth,
        tls,
        limits: { ...NOTICED_SILENCE, ...transportLimits },
        backoff: { ...RECONNECT, ...options.backoff },
        session: this.sessionMaker(codec),
        onEvent: (event) => this.onEvent(event),
      },
      name: 'dialer',
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
    this.session?.tell.open({ hello, port });
  }

  write(message: Message, port: PeerPort<Answer>): void {
    this.session?.tell.write({ message, port });
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.session?.tell.end();
    this.session = undefined;
    void this.system.stop(this.dialer);
  }

  private sessionMaker(codec: RoleCodec<Hello, Message, Answer>): MakeSession {
    const args: Omit<LeaderSessionArgs, 'connection'> = {
      // Hellos and messages come through `open` and `write`, answers go to the port of a hello.
      codec: codec as RoleCodec<unknown, unknown, unknown>,
      compress: this.options.compress,
      leavesDraining: 'length' in this.options.address && this.options.address.length > 1,
      events: {
        onAnswer: (answer) => this.settleFirst(answer as Answer),
        onRetry: () => this.up(),
        onError: (error) => {
          if (REPEATED_ERRORS.has(error.name)) this.error = error;
        },
        onClosed: (session) => this.down(session),
        onLost: (payload, error) => this.events.onLost?.(payload, error),
      },
    };
    return (connection, spawn) => {
      this.session = spawn(LeaderSessionActor, { args: { ...args, connection } });
      this.up();
      return this.session;
    };
  }

  private up(): void {
    if (!this.isClosed) this.events.onUp();
  }

  private down(session: AnyRef): void {
    if (this.session?.id !== session.id) return;
    this.session = undefined;
    this.events.onDown();
    this.countError();
  }

  /** A new session repeats everything unanswered, so a message that cannot be read comes again each time. */
  private countError(): void {
    const { error } = this;
    this.error = undefined;
    this.errorsInRow = error === undefined ? 0 : this.errorsInRow + 1;
    if (error === undefined || this.errorsInRow < ERRORS_IN_ROW_MAX || this.isClosed) return;
    const address = formatAddresses(this.options.address);
    this.refuse(new LeaderRefusedError(address, error.name, error.message));
  }

  private refuse(error: Error): void {
    this.settle?.(error);
    this.events.onRefused?.(error);
    this.close();
  }

  /** A session that was replaced begins again by itself. */
  private settleFirst(answer: ToClient | ToWorker): void {
    if (answer.kind === 'welcome') this.settle?.(null);
    else if (answer.kind === 'refused' && answer.code !== 'ERR_SESSION_REPLACED')
      this.refuse(new SessionRefusedError(answer.code, answer.problem));
  }

  private onEvent(event: DialerEvent): void {
    if (event.kind !== 'dialing') this.last = event;
    if (event.kind === 'lost' && !this.isClosed) {
      const { address } = this.options;
      // Of several leaders another one may take this peer.
      const error = 'length' in address ? undefined : hopeless(address, event.reason);
      if (error !== undefined) this.settle?.(error);
    }
    this.options.onEvent?.(event);
  }
}

/** The transport allows fewer characters in names; the whole name is in the hello of the session. */
function transportName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_.-]/g, '_').slice(0, 64);
}
