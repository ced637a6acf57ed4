import type { ActorCell } from '../actor/actor-cell.js';
import type { ColdState } from '../actor/cold-state.js';
import type { Parts } from '../actor/runtime-parts.js';
import { noteSlow } from '../inspect/note-slow.js';
import type { Lifecycle } from '../invoker/message-invoker.js';
import { PendingCall } from '../invoker/pending-call.js';
import type { Stashed } from '../mailbox/stashes.js';
import {
  AWAITING,
  FAULT,
  FENCED,
  KILL_ASKED,
  SETTLED,
  SIGNALS,
  STOP_ASKED,
  TERMINATED,
} from '../mailbox/status-word.js';
import { type Envelope, enveloped, isEnveloped } from '../message/envelope.js';
import type { CellRef } from '../ref/cell-ref.js';
import { DeferredSignals } from './deferred-signals.js';
import { endsWithIncarnation, type Signal } from './runtime-signal.js';

/**
 * The actor's side of a turn: the result of a handler (a value, a promise or an error), and the signals.
 * Start and restart are in `RestartSequence`, stop and kill in `StopSequence`.
 */
export class ActorLifecycle implements Lifecycle<ActorCell> {
  private readonly runtime: Parts<
    | 'askCycles'
    | 'asks'
    | 'deadLetters'
    | 'deathWatch'
    | 'executor'
    | 'failures'
    | 'hooks'
    | 'invoker'
    | 'pendingCalls'
    | 'ready'
    | 'restarts'
    | 'stashes'
    | 'stops'
    | 'supervisor'
  >;

  constructor(runtime: ActorLifecycle['runtime']) {
    this.runtime = runtime;
  }

  returned(cell: ActorCell, result: object, handler: number, envelope: Envelope | undefined): void {
    if (typeof (result as PromiseLike<unknown>).then === 'function') {
      this.awaitHandler(cell, result as PromiseLike<unknown>, handler, envelope);
      if (cell.isOverloaded) this.runtime.ready.backPressure.release(cell);
    } else if (envelope?.resolve !== undefined) {
      this.runtime.asks.answer(envelope, result);
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
    let call = cold.sparePendingCall;
    if (call === undefined) {
      call = new PendingCall(what, handler, envelope, now, this.handlerSettled);
    } else {
      cold.sparePendingCall = undefined;
      call.reuse(what, handler, envelope, now);
    }
    call.stashed = this.runtime.stashes.latestOf(cell);
    this.runtime.pendingCalls.park(cell, promise, call);
  }

  private readonly handlerSettled = (cell: ActorCell, call: PendingCall): void => {
    const { envelope, error, stashed } = call;
    noteSlow(cell, call.what, this.runtime.executor.now() - call.startedAt);
    if (error !== undefined) {
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
    this.runtime.deadLetters.undelivered(cell, enveloped(envelope.handler), envelope, 'expired');
  }

  /** To the head of the mailbox again. */
  putBack(cell: ActorCell, handler: number, payload: unknown): void {
    this.runtime.stashes.takeOutLatest(cell);
    cell.ownQueue().unshift(handler, payload);
    this.runtime.ready.queued += 1;
  }

  messageEnded(cell: ActorCell): void {
    this.runtime.stashes.messageEnded();
    const timeout = cell.cold?.timers?.receiveTimeout;
    if (timeout !== undefined) timeout.lastMessageAt = this.runtime.executor.coarseNow;
  }

  /**
   * Kill first, then a settlement, then the lane in order, then stop: earlier decisions are made before a
   * stop.
   */
  handleSignals(cell: ActorCell): void {
    if ((cell.status & KILL_ASKED) !== 0) this.runtime.stops.kill(cell);
    if ((cell.status & SETTLED) !== 0) this.settled(cell);
    if ((cell.status & SIGNALS) !== 0) this.handleLane(cell);
    if ((cell.status & STOP_ASKED) !== 0) this.runtime.stops.begin(cell);
  }

  private settled(cell: ActorCell): void {
    cell.clearAwaiting();
    const cold = cell.cold as ColdState;
    const call = cold.awaiting as PendingCall;
    cold.awaiting = undefined;
    call.onSettled(cell, call);
    this.messageEnded(cell);
    if (call.onSettled === this.handlerSettled && call.isReusable && cell.isCurrent) {
      call.clear();
      cold.sparePendingCall = call;
    }
    this.handleDeferredIn(cell, cold);
    this.runtime.stops.messageSettled(cell);
  }

  private handleLane(cell: ActorCell): void {
    cell.clearSignals();
    const cold = cell.cold as ColdState;
    const lane = cold.signals;
    cold.signals = [];
    for (let i = 0; i < lane.length; i += 1) {
      const signal = lane[i] as Signal;
      if (!cell.isCurrent) {
        return this.returnToLane(
          cell,
          lane.slice(i).filter((left) => !endsWithIncarnation(left)),
        );
      }
      if ((cell.status & (AWAITING | FAULT)) !== 0 && endsWithIncarnation(signal)) {
        cold.deferredSignals ??= new DeferredSignals();
        cold.deferredSignals.push(signal);
      } else {
        this.handle(cell, signal);
      }
    }
  }

  handleDeferred(cell: ActorCell): void {
    if (cell.cold !== undefined) this.handleDeferredIn(cell, cell.cold);
  }

  /** Until one of them awaits or fails: the signals behind it wait for that. */
  private handleDeferredIn(cell: ActorCell, { deferredSignals }: ColdState): void {
    if (deferredSignals === undefined) return;
    while ((cell.status & (AWAITING | FAULT | FENCED | TERMINATED)) === 0) {
      const signal = deferredSignals.take();
      if (signal === undefined) return;
      this.handle(cell, signal);
    }
  }

  /** For the present incarnation, which a restart may just have put in the place of `cell`. */
  private returnToLane(cell: ActorCell, signals: readonly Signal[]): void {
    const replacement = cell.ref.cell;
    if (signals.length === 0 || replacement.isTerminated) return;
    const cold = replacement.ensureCold();
    // Not by spreading: an argument list has a limit, the number of children that end together has none.
    cold.signals = signals.concat(cold.signals);
    replacement.markSignalled();
    this.runtime.ready.registerReady(replacement);
  }

  private handle(cell: ActorCell, signal: Signal): void {
    switch (signal.kind) {
      case 'start':
        return this.runtime.restarts.start(cell);
      case 'child-failed':
        return this.runtime.supervisor.childFailed(cell, signal.report);
      case 'child-stopped':
        return this.runtime.supervisor.childStopped(cell, signal.child as CellRef);
      case 'directive':
        return this.runtime.failures.directed(cell, signal.directive, signal.report);
      case 'replace':
        return this.runtime.restarts.replaceInGroup(cell);
      case 'terminated':
        this.runtime.deathWatch.notified(cell, signal.ref as CellRef);
        return this.runNotificationHook(cell, 'terminated', [{ ref: signal.ref, reason: signal.reason }]);
      case 'self-asked':
        return this.runtime.askCycles.selfAsked(cell, signal.envelope);
      case 'idle':
        return this.runNotificationHook(cell, 'idle', []);
      default:
        return signal satisfies never;
    }
  }

  private runNotificationHook(cell: ActorCell, hook: 'terminated' | 'idle', rest: unknown[]): void {
    if (cell.isStopping) return;
    this.runtime.hooks.run(cell, hook, rest, (settled, { error }) => {
      if (error !== undefined) this.runtime.failures.failed(settled, error.thrown, -1, undefined, { hook });
    });
  }
}
