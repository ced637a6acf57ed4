import type { ActorCell } from '../actor/actor-cell.js';
import type { ColdState } from '../actor/cold-state.js';
import type { Parts } from '../actor/runtime-parts.js';
import { recordSlowestMessage } from '../inspect/record-slowest-message.js';
import type { HandlerResultReceiver } from '../invoker/message-invoker.js';
import { UnsettledHandler } from '../invoker/unsettled-handler.js';
import type { Stashed } from '../mailbox/stashes.js';
import { type Envelope, isEnveloped } from '../message/envelope.js';

/** Takes the result of a handler: a value, a promise, an error; and messages that end without a handler. */
export class HandlerResults implements HandlerResultReceiver<ActorCell> {
  private readonly runtime: Parts<
    | 'asks'
    | 'deadLetters'
    | 'executor'
    | 'failures'
    | 'invoker'
    | 'monitor'
    | 'parking'
    | 'ready'
    | 'signals'
    | 'stashes'
    | 'stops'
    | 'unreturned'
  >;

  constructor(runtime: HandlerResults['runtime']) {
    this.runtime = runtime;
  }

  returned(cell: ActorCell, result: object, handler: number, envelope: Envelope | undefined): void {
    if (typeof (result as PromiseLike<unknown>).then === 'function') {
      this.awaitHandler(cell, result as PromiseLike<unknown>, handler, envelope);
    } else {
      if (this.runtime.unreturned.count !== 0) this.runtime.unreturned.returned(result);
      if (envelope?.resolve !== undefined) this.runtime.asks.answer(envelope, result);
    }
  }

  private awaitHandler(
    cell: ActorCell,
    promise: PromiseLike<unknown>,
    handler: number,
    envelope: Envelope | undefined,
  ): void {
    const cold = cell.ensureCold();
    const what = cell.type.definition['~handlerNames'][handler] as string;
    const now = this.runtime.executor.coarseNow;
    let call = cold.spareUnsettledHandler;
    if (call === undefined) {
      call = new UnsettledHandler(what, handler, envelope, now, this.handlerSettled);
    } else {
      cold.spareUnsettledHandler = undefined;
      call.reuse(what, handler, envelope, now);
    }
    call.stashed = this.runtime.stashes.latestOf(cell);
    this.runtime.parking.park(cell, promise, call);
  }

  private readonly handlerSettled = (cell: ActorCell, call: UnsettledHandler): void => {
    const { envelope, error, stashed } = call;
    recordSlowestMessage(cell, call.what, this.runtime.executor.now() - call.startedAt);
    if (error !== undefined) {
      if (this.runtime.asks.hasEndedByAbort(envelope, error.thrown)) return;
      const asked = stashed === undefined ? envelope : this.askOfStashed(cell, stashed);
      this.failed(cell, error.thrown, call.handler, asked);
    } else if (envelope?.resolve !== undefined) {
      this.runtime.asks.answer(envelope, call.value);
    }
  };

  /** The ask that was stashed before the handler failed, unless it is in the mailbox again. */
  private askOfStashed(cell: ActorCell, stashed: Stashed): Envelope | undefined {
    const isOver = this.runtime.stashes.takeOut(cell, stashed);
    return isOver && isEnveloped(stashed.handler) ? (stashed.payload as Envelope) : undefined;
  }

  failed(cell: ActorCell, thrown: unknown, handler: number, envelope: Envelope | undefined): void {
    this.runtime.failures.failed(cell, thrown, handler, envelope);
  }

  expired(cell: ActorCell, envelope: Envelope): void {
    this.runtime.invoker.discount();
    this.runtime.deadLetters.notBegun(cell, envelope);
  }

  stashed(cell: ActorCell, handler: number, payload: unknown): void {
    this.runtime.stashes.fill(cell, handler, payload);
  }

  /** To the head of the mailbox again. */
  putBack(cell: ActorCell, handler: number, payload: unknown): void {
    this.runtime.stashes.takeOutLatest(cell);
    cell.ownQueue().unshift(handler, payload);
    this.runtime.monitor?.accepted();
    this.runtime.ready.queued += 1;
  }

  messageEnded(cell: ActorCell): void {
    this.runtime.stashes.messageEnded();
    const timeout = cell.cold?.timers?.receiveTimeout;
    if (timeout !== undefined) timeout.lastMessageAt = this.runtime.executor.coarseNow;
  }

  /** The result of the promise, in a turn of the actor. */
  settled(cell: ActorCell): void {
    cell.clearAwaiting();
    const cold = cell.cold as ColdState;
    const call = cold.awaiting as UnsettledHandler;
    cold.awaiting = undefined;
    cold.waits?.removeNewestEnded();
    if (this.runtime.unreturned.count !== 0) this.runtime.unreturned.settled(cell, call.value);
    call.onSettled(cell, call);
    this.messageEnded(cell);
    if (call.onSettled === this.handlerSettled && call.isReusable && cell.isCurrent) {
      call.clear();
      cold.spareUnsettledHandler = call;
    }
    this.runtime.signals.handleDeferred(cell);
    this.runtime.stops.messageSettled(cell);
  }
}
