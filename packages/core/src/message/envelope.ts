import type { Mailbox } from '../mailbox/mailbox.js';
import { TimerNode } from '../timer-wheel.js';

/** In place of a handler number in a mailbox: the payload is an Envelope, which carries handler and payload. */
export const ENVELOPE = -1;

export type Resolve = (value: unknown) => void;
export type Reject = (error: Error) => void;

/** What happens when nobody answered in time; set once by the part of the system that asks. */
export type OnExpire = (envelope: Envelope) => void;

/**
 * A message that carries more than its payload: somebody waits for the reply, it has a deadline, or a middleware gave
 * it context. A plain `tell` has none of these and travels as two array entries instead.
 */
export class Envelope extends TimerNode {
  readonly handler: number;
  readonly payload: unknown;
  readonly target: Mailbox;
  /** The actor that sent it, if one did. */
  readonly sender: Mailbox | undefined;
  /** What the sender was handling when it sent this: together they form the call chain. */
  cause: Envelope | undefined;
  sentAt: number;
  /** One opaque slot for middleware (a trace context, say). */
  context: unknown;
  resolve: Resolve | undefined = undefined;
  reject: Reject | undefined = undefined;
  onExpire: OnExpire | undefined = undefined;

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
    this.due = deadline;
    this.sentAt = sentAt;
    this.context = undefined;
  }

  /**
   * Monotonic milliseconds after which nobody wants the reply, below 0 once it has passed; infinite for a tell without one.
   * It is when the timer is due: a second field would be a second number on the heap.
   */
  get deadline(): number {
    return this.due;
  }

  override expire(): void {
    this.onExpire?.(this);
  }
}
