import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import type { SettlementListeners, UnsettledHandler } from '../invoker/unsettled-handler.js';

/** Not the promise's own `then`, which user code may have replaced. */
const nativeThen = Promise.prototype.then;

/**
 * Parks actors whose handler or hook has returned a promise. A parked actor handles no message, signals are
 * handled. The settlement only marks the result and schedules the actor; the continuation runs in the actor's
 * turn, so every resumption passes through the scheduler.
 */
export class AsyncHandlerParking {
  private readonly runtime: Parts<'log' | 'executor' | 'ready' | 'waitCycles'>;

  constructor(runtime: AsyncHandlerParking['runtime']) {
    this.runtime = runtime;
  }

  /** Takes any thenable: one that throws has failed, and only its first call counts. */
  park(cell: ActorCell, promise: PromiseLike<unknown>, call: UnsettledHandler): void {
    cell.ensureCold().awaiting = call;
    cell.markAwaiting();
    call.latestWait = this.runtime.waitCycles.takeLatest(cell);
    if (promise instanceof Promise) {
      call.listeners ??= this.listenersOf(cell, call);
      nativeThen.call(promise, call.listeners.fulfilled, call.listeners.rejected);
    } else {
      this.listenToThenable(cell, promise, call);
    }
  }

  private listenersOf(cell: ActorCell, call: UnsettledHandler): SettlementListeners {
    const { executor } = this.runtime;
    return {
      fulfilled: (value) => {
        if (this.settle(cell, call, value, undefined)) executor.resume(cell);
      },
      rejected: (thrown) => {
        // A promise calls back once: settled already means that a time limit has given the handler up.
        if (call.settled) return this.logAbandoned(cell, call.what, thrown);
        if (this.settle(cell, call, undefined, { thrown })) executor.resume(cell);
      },
    };
  }

  /** A thenable may call back from anywhere, also from within the turn that has just returned it. */
  private listenToThenable(cell: ActorCell, thenable: PromiseLike<unknown>, call: UnsettledHandler): void {
    const { ready } = this.runtime;
    let hasCalled = false;
    const fulfilled = (value: unknown): void => {
      hasCalled = true;
      if (this.settle(cell, call, value, undefined)) ready.registerReady(cell);
    };
    const rejected = (thrown: unknown): void => {
      if (hasCalled) return;
      hasCalled = true;
      if (call.settled) this.logAbandoned(cell, call.what, thrown);
      else if (this.settle(cell, call, undefined, { thrown })) ready.registerReady(cell);
    };
    try {
      thenable.then(fulfilled, rejected);
    } catch (thrown) {
      rejected(thrown);
    }
  }

  /** True when the actor has now something to do. */
  private settle(
    cell: ActorCell,
    call: UnsettledHandler,
    value: unknown,
    error: { readonly thrown: unknown } | undefined,
  ): boolean {
    if (call.settled) return false;
    call.settled = true;
    call.value = value;
    call.error = error;
    if (!cell.isCurrent) {
      this.runtime.log.reportStaleContext(cell, `${call.what} settled`, error);
      return false;
    }
    if (cell.cold?.awaiting !== call) {
      // A restart or stop under way has given the handler up.
      if (error !== undefined) this.logAbandoned(cell, call.what, error.thrown);
      return false;
    }
    cell.markSettled();
    return true;
  }

  private logAbandoned({ path }: ActorCell, what: string, thrown: unknown): void {
    const text = `${path}: ${what} settled after it had been given up`;
    this.runtime.log.logLateError(text, { path, what }, thrown);
  }
}
