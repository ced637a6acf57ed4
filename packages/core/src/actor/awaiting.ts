import { AWAITING, FENCED, SETTLED, TERMINATED } from '../mailbox/status.js';
import type { Envelope } from '../message/envelope.js';
import type { ActorCell } from './cell.js';

/** What is done in the actor's own turn once it has settled. */
export type Continuation = (cell: ActorCell, awaiting: Awaiting) => void;

/**
 * An asynchronous handler or hook that has not settled. Its actor is parked: no message is handled, signals are. The
 * settlement only marks the result and schedules the actor; what follows from it happens in the actor's turn, so every
 * resumption passes through the scheduler.
 */
export class Awaiting {
  readonly what: string;
  readonly handler: number;
  readonly envelope: Envelope | undefined;
  readonly startedAt: number;
  readonly onSettled: Continuation;
  settled = false;
  /** The actor is killed or restarted and will not take the result. */
  onDropped: (() => void) | undefined = undefined;
  value: unknown = undefined;
  error: { readonly thrown: unknown } | undefined = undefined;

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
}

/** Parks the actor until the promise settles. Takes any thenable: one that throws has failed, only its first call counts. */
export function park(cell: ActorCell, promise: PromiseLike<unknown>, awaiting: Awaiting): void {
  const runtime = cell.kind.runtime;
  cell.needExtras().awaiting = awaiting;
  cell.status |= AWAITING;
  const settle = (value: unknown, error: { readonly thrown: unknown } | undefined): void => {
    if (awaiting.settled) return;
    awaiting.settled = true;
    awaiting.value = value;
    awaiting.error = error;
    if ((cell.status & (FENCED | TERMINATED)) !== 0) {
      runtime.reportStale(cell, `${awaiting.what} settled`);
      return;
    }
    if (cell.extras?.awaiting !== awaiting) return;
    cell.status |= SETTLED;
    runtime.ready.registerReady(cell);
  };
  try {
    promise.then(
      (value) => settle(value, undefined),
      (thrown: unknown) => settle(undefined, { thrown }),
    );
  } catch (thrown) {
    settle(undefined, { thrown });
  }
}
