import type { ActorCell } from '../actor/actor-cell.js';
import type { Stashed } from '../mailbox/stashes.js';
import type { Envelope } from '../message/envelope.js';

/** What is done in the actor's own turn once it has settled. */
export type Continuation = (cell: ActorCell, call: PendingCall) => void;

/**
 * An asynchronous handler or hook that has not settled. Its actor is parked: no message is handled, signals are. The
 * settlement only marks the result and schedules the actor; what follows from it happens in the actor's turn, so every
 * resumption passes through the scheduler.
 */
export class PendingCall {
  what: string;
  handler: number;
  envelope: Envelope | undefined;
  startedAt: number;
  readonly onSettled: Continuation;
  settled = false;
  /** The actor is killed or restarted and will not take the result. */
  onAbandoned: (() => void) | undefined = undefined;
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

  reuse(what: string, handler: number, envelope: Envelope | undefined, startedAt: number): void {
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
export function parkUntilSettled(cell: ActorCell, promise: PromiseLike<unknown>, call: PendingCall): void {
  cell.ensureCold().awaiting = call;
  cell.markAwaiting();
  call.asked = cell.type.runtime.asks.takeLatest(cell);
  if (promise instanceof Promise) {
    call.listeners ??= listenersOf(cell, call);
    nativeThen.call(promise, call.listeners.fulfilled, call.listeners.rejected);
  } else {
    listenToThenable(cell, promise, call);
  }
}

function listenersOf(cell: ActorCell, call: PendingCall): Listeners {
  const { executor } = cell.type.runtime;
  return {
    fulfilled: (value) => {
      if (settle(cell, call, value, undefined)) executor.resume(cell);
    },
    rejected: (thrown) => {
      // A promise calls back once: somebody else has settled this, and given the handler up.
      if (call.settled) return logAbandoned(cell, call.what, thrown);
      if (settle(cell, call, undefined, { thrown })) executor.resume(cell);
    },
  };
}

/** A thenable may call back from anywhere, also from within the turn that has just returned it. */
function listenToThenable(cell: ActorCell, thenable: PromiseLike<unknown>, call: PendingCall): void {
  const { ready } = cell.type.runtime;
  let hasCalled = false;
  const fulfilled = (value: unknown): void => {
    hasCalled = true;
    if (settle(cell, call, value, undefined)) ready.registerReady(cell);
  };
  const rejected = (thrown: unknown): void => {
    if (hasCalled) return;
    hasCalled = true;
    if (call.settled) logAbandoned(cell, call.what, thrown);
    else if (settle(cell, call, undefined, { thrown })) ready.registerReady(cell);
  };
  try {
    thenable.then(fulfilled, rejected);
  } catch (thrown) {
    rejected(thrown);
  }
}

function logAbandoned({ type, path }: ActorCell, what: string, thrown: unknown): void {
  type.runtime.logLateError(`${path}: ${what} settled after it had been given up`, { path, what }, thrown);
}

/** True when the actor has now something to do. */
function settle(
  cell: ActorCell,
  call: PendingCall,
  value: unknown,
  error: { readonly thrown: unknown } | undefined,
): boolean {
  if (call.settled) return false;
  call.settled = true;
  call.value = value;
  call.error = error;
  if (!cell.isCurrent) {
    cell.type.runtime.reportStaleContext(cell, `${call.what} settled`, error);
    return false;
  }
  if (cell.cold?.awaiting !== call) {
    // On its way to a restart or to its end, which has given the handler up.
    if (error !== undefined) logAbandoned(cell, call.what, error.thrown);
    return false;
  }
  cell.markSettled();
  return true;
}
