import type { ActorCell } from '../actor/actor-cell.js';
import type { Stashed } from '../mailbox/stashes.js';
import type { Envelope } from '../message/envelope.js';
import type { OpenWait } from '../waits/open-waits.js';

/** The next step after the settlement, in a turn of the actor. */
export type Continuation = (cell: ActorCell, call: UnsettledHandler) => void;

/** Callbacks for native promises, which call back once: a call can be reused only with these. */
export interface SettlementListeners {
  readonly fulfilled: (value: unknown) => void;
  readonly rejected: (thrown: unknown) => void;
}

/** An asynchronous handler or hook that has not settled. */
export class UnsettledHandler {
  /** Name of the handler or hook. */
  what: string;
  handler: number;
  envelope: Envelope | undefined;
  startedAt: number;
  readonly onSettled: Continuation;
  settled = false;
  /** The actor is killed or restarted and will not take the result. */
  onAbandoned: (() => void) | undefined = undefined;
  /** Its latest ask or waiting send: the actor it waits for, as far as the runtime can know. */
  latestWait: OpenWait | undefined = undefined;
  /** Its own message, when the handler stashed it before it awaited. */
  stashed: Stashed | undefined = undefined;
  value: unknown = undefined;
  error: { readonly thrown: unknown } | undefined = undefined;
  listeners: SettlementListeners | undefined = undefined;
  /** Will be compared with a later call of the actor, so it is not reused. */
  isPinned = false;

  constructor(
    what: string,
    handler: number,
    envelope: Envelope | undefined,
    startedAt: number,
    onSettled: Continuation,
  ) {
    this.what = what;
    this.handler = handler;
    this.envelope = envelope;
    this.startedAt = startedAt;
    this.onSettled = onSettled;
  }

  get isReusable(): boolean {
    return this.listeners !== undefined && !this.isPinned;
  }

  reuse(what: string, handler: number, envelope: Envelope | undefined, startedAt: number): void {
    this.what = what;
    this.handler = handler;
    this.envelope = envelope;
    this.startedAt = startedAt;
    this.settled = false;
    this.error = undefined;
  }

  /** Keeps no result or message alive while it waits for its next use. */
  clear(): void {
    this.value = undefined;
    this.envelope = undefined;
    this.stashed = undefined;
    this.latestWait = undefined;
  }
}
