import { INSPECT } from '../inspect-symbol.js';
import type { Envelope } from './envelope.js';

/** The way of a later reply to its asker. */
export interface ReplyPort {
  reply(envelope: Envelope, value: unknown): void;
  /** A later reply has this value, bound or not. */
  replied(value: unknown): void;
  refuse(envelope: Envelope, error: Error): void;
  /** Fires when the reply is not wanted any more. */
  signalOf(envelope: Envelope): AbortSignal;
}

const NEVER_FIRES = new AbortController().signal;

/**
 * A reply that comes later than the handler's return: the handler returns it and goes on with other messages;
 * its holder replies once. Made by `ctx.later`.
 */
export class LaterReply<T> {
  private envelope: Envelope | undefined = undefined;
  private outcome: { readonly value: T } | { readonly error: Error } | undefined = undefined;
  private readonly port: ReplyPort;
  /** The message in whose handler it was made. */
  private readonly asked: Envelope | undefined;

  constructor(port: ReplyPort, asked: Envelope | undefined) {
    this.port = port;
    this.asked = asked;
  }

  /**
   * The signal of the message that is owed this reply: fires when its asker has given up or its deadline has
   * passed, and when the actor is stopped, killed or restarted. Never fires where no one asked.
   */
  get signal(): AbortSignal {
    const asked = this.envelope ?? this.asked;
    return asked === undefined ? NEVER_FIRES : this.port.signalOf(asked);
  }

  /** The first reply counts; later ones are ignored. */
  reply(value: T): void {
    if (this.outcome !== undefined) return;
    this.outcome = { value };
    this.port.replied(value);
    if (this.envelope !== undefined) this.port.reply(this.envelope, value);
  }

  /** The asker gets this error. The first reply or refusal counts. */
  refuse(error: Error): void {
    if (this.outcome !== undefined) return;
    this.outcome = { error };
    if (this.envelope !== undefined) this.port.refuse(this.envelope, error);
  }

  /** For any value that a handler returned, also for proxies that throw. */
  static is(value: unknown): value is LaterReply<unknown> {
    try {
      return value instanceof LaterReply;
    } catch {
      return false;
    }
  }

  toJSON(): string {
    return 'later reply';
  }

  [INSPECT](): string {
    return 'later reply';
  }

  /** Called by the runtime when the handler has returned this. */
  bind(envelope: Envelope): void {
    this.envelope = envelope;
    if (this.outcome === undefined) return;
    if ('error' in this.outcome) this.port.refuse(envelope, this.outcome.error);
    else this.port.reply(envelope, this.outcome.value);
  }
}
