import type { ActorCell } from '../actor/cell.js';
import type { Stashed } from '../mailbox/stash.js';
import { AWAITING, FENCED, SETTLED, TERMINATED } from '../mailbox/status.js';
import type { Envelope } from '../message/envelope.js';

/** What is done in the actor's own turn once it has settled. */
export type Continuation = (cell: ActorCell, awaiting: Awaiting) => void;

/**
 * An asynchronous handler or hook that has not settled. Its actor is parked: no message is handled, signals are. The
 * settlement only marks the result and schedules the actor; what follows from it happens in the actor's turn, so every
 * resumption passes through the scheduler.
 */
export class Awaiting {
  what: string;
  handler: number;
  envelope: Envelope | undefined;
  startedAt: number;
  readonly onSettled: Continuation;
  settled = false;
  /** The actor is killed or restarted and will not take the result. */
  onDropped: (() => void) | undefined = undefined;
  /** What it has asked last, for as long as that is open: whom it waits for, as far as anybody can know. */
  asked: Envelope | undefined = undefined;
  /** Its handler has set its own message aside before it awaited. */
  stashed: Stashed | undefined = undefined;
  value: unknown = undefined;
  error: { readonly thrown: unknown } | undefined = undefined;
  /** How it listens to native promises, which call back once: only with these can it be used again. */
  listeners: Listeners | undefined = undefined;
  /** Somebody will compare it with what the actor awaits later: it is not used again. */
  isKept = false;

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
    return this.listeners !== undefined && !this.isKept;
  }

  useAgain(what: string, handler: number, envelope: Envelope | undefined, startedAt: number): void {
    this.what = what;
    this.handler = handler;
    this.envelope = envelope;
    this.startedAt = startedAt;
    this.settled = false;
    this.error = undefined;
  }
}

interface Listeners {
  readonly fulfilled: (value: unknown) => void;
  readonly rejected: (thrown: unknown) => void;
}

/** Not the promise's own `then`: that one may be anything. */
const nativeThen = Promise.prototype.then;

/** Parks the actor until the promise settles. Takes any thenable: one that throws has failed, only its first call counts. */
export function park(cell: ActorCell, promise: PromiseLike<unknown>, awaiting: Awaiting): void {
  cell.needExtras().awaiting = awaiting;
  cell.status |= AWAITING;
  awaiting.asked = cell.kind.runtime.asks.takeLatest(cell);
  if (promise instanceof Promise) {
    awaiting.listeners ??= listenersOf(cell, awaiting);
    nativeThen.call(promise, awaiting.listeners.fulfilled, awaiting.listeners.rejected);
  } else {
    listenToThenable(cell, promise, awaiting);
  }
}

function listenersOf(cell: ActorCell, awaiting: Awaiting): Listeners {
  const { executor } = cell.kind.runtime;
  return {
    fulfilled: (value) => {
      if (settle(cell, awaiting, value, undefined)) executor.resume(cell);
    },
    rejected: (thrown) => {
      // A promise calls back once: somebody else has settled this, and given the handler up.
      if (awaiting.settled) return givenUp(cell, awaiting.what, thrown);
      if (settle(cell, awaiting, undefined, { thrown })) executor.resume(cell);
    },
  };
}

/** A thenable may call back from anywhere, also from within the turn that has just returned it. */
function listenToThenable(cell: ActorCell, thenable: PromiseLike<unknown>, awaiting: Awaiting): void {
  const { ready } = cell.kind.runtime;
  let hasCalled = false;
  const fulfilled = (value: unknown): void => {
    hasCalled = true;
    if (settle(cell, awaiting, value, undefined)) ready.registerReady(cell);
  };
  const rejected = (thrown: unknown): void => {
    if (hasCalled) return;
    hasCalled = true;
    if (awaiting.settled) givenUp(cell, awaiting.what, thrown);
    else if (settle(cell, awaiting, undefined, { thrown })) ready.registerReady(cell);
  };
  try {
    thenable.then(fulfilled, rejected);
  } catch (thrown) {
    rejected(thrown);
  }
}

function givenUp({ kind, path }: ActorCell, what: string, thrown: unknown): void {
  kind.runtime.logUnheard(`${path}: ${what} settled after it had been given up`, { path, what }, thrown);
}

/** True when the actor has now something to do. */
function settle(
  cell: ActorCell,
  awaiting: Awaiting,
  value: unknown,
  error: { readonly thrown: unknown } | undefined,
): boolean {
  if (awaiting.settled) return false;
  awaiting.settled = true;
  awaiting.value = value;
  awaiting.error = error;
  if ((cell.status & (FENCED | TERMINATED)) !== 0) {
    cell.kind.runtime.reportStale(cell, `${awaiting.what} settled`, error);
    return false;
  }
  if (cell.extras?.awaiting !== awaiting) {
    // On its way to a restart or to its end, which has given the handler up.
    if (error !== undefined) givenUp(cell, awaiting.what, error.thrown);
    return false;
  }
  cell.status |= SETTLED;
  return true;
}
