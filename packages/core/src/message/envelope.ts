import type { ActorCell } from '../actor/actor-cell.js';
import type { Mailbox } from '../mailbox/mailbox.js';
import { TimerNode } from '../timers/timer-wheel.js';
import type { OpenWait } from '../waits/open-waits.js';
import { type Cancellable, Cancellation } from './cancellation.js';

/**
 * In place of a handler number where messages wait: the payload is an Envelope for that handler. The sign
 * tells it from a plain message, and the number still has the handler, without a look into the envelope.
 */
export function enveloped(handler: number): number {
  return ~handler;
}

/** In place of a handler number: there is no message here. */
export const NO_MESSAGE = -0x4000_0000;

export function isEnveloped(handler: number): boolean {
  return handler < 0;
}

/** The handler of a message, in an envelope or not. */
export function handlerOf(handler: number): number {
  return handler < 0 ? ~handler : handler;
}

export type Resolve = (value: unknown) => void;
/** Takes an Error, or the reason of an abort, which may be any value. */
export type Reject = (reason: unknown) => void;

/** The part of the runtime that awaits the reply. */
export interface EnvelopeOwner {
  /** The deadline has passed. Returns the error for it, if the reply was still awaited. */
  expired(envelope: Envelope): Error | undefined;
  /** The asker has given up: the message is not begun any more. */
  cancelled(envelope: Envelope, reason: unknown): void;
}

/**
 * A message that carries more than its payload: a reply is awaited, it has a deadline, or a middleware gave
 * it a context. A plain `tell` has none of these and travels as two array entries instead.
 */
export class Envelope extends TimerNode implements OpenWait {
  readonly handler: number;
  readonly payload: unknown;
  readonly target: Mailbox;
  /** The sending actor, if there is one. */
  readonly sender: Mailbox | undefined;
  /** The envelope that the sender was handling when it sent this: together they form the call chain. */
  cause: Envelope | undefined;
  /** In whole milliseconds, as the deadline is: a fraction would be a number on the heap. */
  readonly sentAt: number;
  /** One opaque slot for middleware (a trace context, say). */
  context: unknown;
  resolve: Resolve | undefined = undefined;
  reject: Reject | undefined = undefined;
  /** Undefined where no reply is awaited. In its place stands its `Cancellation`, once there is one. */
  owner: EnvelopeOwner | Cancellation | undefined = undefined;
  earlierWait: OpenWait | undefined = undefined;

  constructor(
    target: Mailbox,
    handler: number,
    payload: unknown,
    sender: Mailbox | undefined,
    cause: Envelope | undefined,
    deadline: number,
    sentAt: number,
  ) {
    super();
    this.target = target;
    this.handler = handler;
    this.payload = payload;
    this.sender = sender;
    this.cause = cause;
    this.due = Math.ceil(deadline);
    this.sentAt = Math.floor(sentAt);
    this.context = undefined;
  }

  /**
   * Monotonic milliseconds after which the reply is not wanted, below 0 once it has passed; infinite for a
   * tell without one. The timer is due at the same time: one field for both.
   */
  get deadline(): number {
    return this.due;
  }

  /** A reply is still wanted. */
  get isOpen(): boolean {
    return this.resolve !== undefined;
  }

  get since(): number {
    return this.sentAt;
  }

  get isForRoom(): boolean {
    return false;
  }

  /** The target's present incarnation. */
  get awaited(): ActorCell {
    return (this.target as ActorCell).ref.cell;
  }

  get cancellable(): Cancellable | undefined {
    return Cancellation.of(this);
  }

  override expire(): void {
    this.owner?.expired(this);
  }
}
