import type { ActorCell } from '../actor/actor-cell.js';
import type { ColdState } from '../actor/cold-state.js';
import type { Runtime } from '../actor/runtime.js';
import { toError } from '../errors.js';
import { noteSlow } from '../inspect/slow-actor-warnings.js';
import type { Lifecycle } from '../invoker/message-invoker.js';
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
import { LaterReply } from '../message/later-reply.js';
import type { RefBase } from '../ref/ref-class.js';
import type { InvokeCode } from '../run-queue/invoke-result.js';
import { DeferredSignals } from './deferred-signals.js';
import { runHook } from './lifecycle-hooks.js';
import { PendingCall, parkUntilSettled } from './pending-call.js';
import { endsWithIncarnation, type FailureReport, type Signal } from './runtime-signal.js';

/** Resuming would meet the same failure at once, for ever: there is no state, or no turn gets through. */
const UNRESUMABLE: readonly string[] = ['state', 'beforeTurn', 'afterTurn'];

/** Where it failed, when it was not in a handler that came to its end. */
interface FailureCircumstances {
  readonly hook?: string;
  /** Who failed first, when the failure was handed up. */
  readonly origin?: ActorCell;
  /** The handler may still be running: its state cannot be gone on with. */
  readonly isCutOff?: boolean;
}

/**
 * What the invoker leaves to the actor: what becomes of a reply, a promise or a throw, and its signals. How it begins and
 * begins anew is in `RestartSequence`, how it ends in `StopSequence`.
 */
export class ActorLifecycle implements Lifecycle<ActorCell> {
  private readonly runtime: Runtime;

  constructor(runtime: Runtime) {
    this.runtime = runtime;
  }

  returned(cell: ActorCell, result: object, handler: number, envelope: Envelope | undefined): void {
    if (typeof (result as PromiseLike<unknown>).then === 'function') {
      this.awaitHandler(cell, result as PromiseLike<unknown>, handler, envelope);
      if (cell.isOverloaded) this.runtime.ready.backPressure.release(cell);
    } else if (envelope?.resolve !== undefined) {
      this.answer(envelope, result);
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
    let awaiting = cold.sparePendingCall;
    if (awaiting === undefined) {
      awaiting = new PendingCall(what, handler, envelope, now, this.handlerSettled);
    } else {
      cold.sparePendingCall = undefined;
      awaiting.reuse(what, handler, envelope, now);
    }
    awaiting.stashed = this.runtime.stashes.freshOf(cell);
    parkUntilSettled(cell, promise, awaiting);
  }

  reply(envelope: Envelope, value: unknown): void {
    this.runtime.asks.reply(envelope, value);
  }

  answer(envelope: Envelope, value: unknown): void {
    if (LaterReply.is(value)) value.bind(envelope);
    else this.runtime.asks.reply(envelope, value);
  }

  private readonly handlerSettled = (cell: ActorCell, awaiting: PendingCall): void => {
    const { envelope, error, stashed } = awaiting;
    noteSlow(cell, awaiting.what, this.runtime.executor.now() - awaiting.startedAt);
    if (error !== undefined) {
      const asked = stashed === undefined ? envelope : this.askedByStashed(cell, stashed);
      this.failed(cell, error.thrown, awaiting.handler, asked);
    } else if (envelope?.resolve !== undefined) {
      this.answer(envelope, awaiting.value);
    }
  };

  /** Whoever asked what was set aside before the handler failed, unless it stands in the mailbox again. */
  private askedByStashed(cell: ActorCell, stashed: Stashed): Envelope | undefined {
    const isOver = this.runtime.stashes.takeOut(cell, stashed);
    return isOver && isEnveloped(stashed.handler) ? (stashed.payload as Envelope) : undefined;
  }

  expired(cell: ActorCell, envelope: Envelope): void {
    this.runtime.invoker.discount();
    this.runtime.deadLetters.undelivered(cell, enveloped(envelope.handler), envelope, 'expired');
  }

  /** To the head of the mailbox again. */
  putBack(cell: ActorCell, handler: number, payload: unknown): void {
    this.takeOutOfStash(cell);
    cell.ownQueue().unshift(handler, payload);
    this.runtime.ready.queued += 1;
  }

  private takeOutOfStash(cell: ActorCell): void {
    const stashed = this.runtime.stashes.freshOf(cell);
    if (stashed !== undefined) this.runtime.stashes.takeOut(cell, stashed);
  }

  messageEnded(cell: ActorCell): void {
    this.runtime.stashes.messageEnded();
    const timeout = cell.cold?.timers?.receiveTimeout;
    if (timeout !== undefined) timeout.lastMessageAt = this.runtime.executor.coarseNow;
  }

  runThroughPipeline(cell: ActorCell): void {
    this.runtime.messageHooks.runNext(cell);
    this.messageEnded(cell);
  }

  enterTurn(cell: ActorCell): number {
    return this.runtime.turnHooks.enterTurn(cell);
  }

  leaveTurn(cell: ActorCell, code: InvokeCode, entered: number): void {
    this.runtime.turnHooks.leaveTurn(cell, code, entered);
  }

  /** Kill first, then what settled, then the lane in order, then stop: a stop lets earlier decisions be made. */
  handleSignals(cell: ActorCell): void {
    if ((cell.status & KILL_ASKED) !== 0) this.runtime.stops.kill(cell);
    if ((cell.status & SETTLED) !== 0) this.settled(cell);
    if ((cell.status & SIGNALS) !== 0) this.handleLane(cell);
    if ((cell.status & STOP_ASKED) !== 0) this.runtime.stops.begin(cell);
  }

  private settled(cell: ActorCell): void {
    cell.clearAwaiting();
    const cold = cell.cold as ColdState;
    const awaiting = cold.awaiting as PendingCall;
    cold.awaiting = undefined;
    awaiting.onSettled(cell, awaiting);
    this.messageEnded(cell);
    if (awaiting.onSettled === this.handlerSettled && awaiting.isReusable && cell.isCurrent) {
      awaiting.value = undefined;
      awaiting.envelope = undefined;
      awaiting.stashed = undefined;
      awaiting.asked = undefined;
      cold.sparePendingCall = awaiting;
    }
    this.handleDeferred(cell, cold);
    const stopping = cold.stopping;
    if (stopping?.stage === 'current-message' && !cell.isAwaiting)
      this.runtime.stops.continueStop(cell, stopping);
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

  /** Until one of them awaits or fails: those after it wait for that. */
  private handleDeferred(cell: ActorCell, { deferredSignals }: ColdState): void {
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
    // Not by spreading: an argument list has a limit, the children that may end together have none.
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
        return this.runtime.stops.childStopped(cell, signal.child);
      case 'directive':
        return signal.directive === 'resume'
          ? this.resume(cell)
          : this.runtime.restarts.begin(cell, signal.report);
      case 'incarnate':
        return this.runtime.restarts.incarnateWithGroup(cell);
      case 'terminated':
        this.runtime.deathWatch.told(cell, signal.ref as RefBase);
        return this.notify(cell, 'terminated', [{ ref: signal.ref, reason: signal.reason }]);
      case 'self-asked':
        return this.runtime.asks.selfAsked(cell, signal.envelope);
      case 'idle':
        return this.notify(cell, 'idle', []);
      default:
        return signal satisfies never;
    }
  }

  private notify(cell: ActorCell, hook: 'terminated' | 'idle', rest: unknown[]): void {
    if (cell.isStopping) return;
    runHook(cell, hook, rest, (settled, awaiting) => {
      if (awaiting.error !== undefined) this.failed(settled, awaiting.error.thrown, -1, undefined, { hook });
    });
  }

  /** The user lane stays closed from here until the parent has decided (E9). The message itself was handled. */
  failed(
    cell: ActorCell,
    thrown: unknown,
    handler: number,
    envelope: Envelope | undefined,
    { hook, origin = cell, isCutOff = false }: FailureCircumstances = {},
  ): void {
    const error = toError(thrown);
    const message = hook ?? (cell.type.definition['~handlerNames'][handler] as string);
    if (hook === undefined) this.takeOutOfStash(cell);
    if (envelope !== undefined) this.runtime.asks.failed(envelope, error);
    if (cell.isOverloaded) this.runtime.ready.backPressure.release(cell);
    if (!cell.isCurrent) return;
    const stopping = cell.cold?.stopping;
    if (stopping !== undefined) {
      this.runtime.logFailure(cell, message, error, 'ignored: it is stopping', 0, 0);
      return;
    }
    const at = this.runtime.executor.coarseNow;
    const unresumable = isCutOff || (hook !== undefined && UNRESUMABLE.includes(hook));
    const report: FailureReport = { child: cell, origin, error, message, at, unresumable };
    cell.markFailed();
    cell.ensureCold().failure = report;
    this.runtime.supervisor.report(cell, report);
  }

  private resume(cell: ActorCell): void {
    if (!cell.isFailed) return;
    const failure = cell.cold?.failure;
    // There is nothing to resume in an actor that has ended, or that would fail again at once.
    if (failure?.ended !== undefined || failure?.unresumable === true)
      return this.runtime.restarts.begin(cell, failure);
    cell.clearFailed();
    if (cell.cold !== undefined) {
      cell.cold.failure = undefined;
      this.handleDeferred(cell, cell.cold);
    }
    for (const child of this.runtime.childLists.childrenOf(cell)) {
      const failure = child.cold?.failure;
      if (failure !== undefined) child.signal({ kind: 'directive', directive: 'resume', report: failure });
    }
  }
}
