import { ChildEndedError, toError } from '../errors.js';
import type { StopReason } from '../events.js';
import type { Lifecycle } from '../invoker/invoker.js';
import { MessageQueue, NO_QUEUE } from '../mailbox/queue.js';
import {
  AWAITING,
  CLOSED,
  DRAINING,
  FAULT,
  FENCED,
  KILL_ASKED,
  OVERLOADED,
  SETTLED,
  SIGNALS,
  STOP_ASKED,
  STOPPING,
  SUSPENDED,
  TERMINATED,
} from '../mailbox/status.js';
import { ENVELOPE, type Envelope } from '../message/envelope.js';
import { Later } from '../message/later.js';
import type { InvokeCode } from '../ready/invoke-result.js';
import { Awaiting, park } from './awaiting.js';
import { ActorCell } from './cell.js';
import type { Extras, Stopping } from './extras.js';
import { endLinked } from './links.js';
import type { AnyRef } from './ref.js';
import type { RefBase } from './ref-class.js';
import type { Runtime } from './runtime.js';
import type { FailureReport, Signal } from './signal.js';
import { noteSlow } from './turn-warnings.js';

type Hook = (ctx: ActorCell, ...rest: unknown[]) => unknown;

/** Resuming would meet the same failure at once, for ever: there is no state, or no turn gets through. */
const UNRESUMABLE: readonly string[] = ['state', 'beforeTurn', 'afterTurn'];

/** OVERLOADED too: whoever waits for room in the mailbox waits for the next incarnation to make it. */
const KEPT_OVER_RESTART = SIGNALS | STOP_ASKED | KILL_ASKED | CLOSED | DRAINING | OVERLOADED | SUSPENDED;

/**
 * An actor from its first turn to its last: start, failure, restart and stop. Every step runs in a turn of the actor
 * itself, and every step that may take time (a hook, a child) ends in another turn, so nothing ever blocks.
 *
 *   stop:     current message → `stopping` → children, youngest first → `stopped` → gone
 *   restart:  children, youngest first → `restarting` → new state → `started` → messages again
 */
export class ActorLifecycle implements Lifecycle<ActorCell> {
  private readonly runtime: Runtime;

  constructor(runtime: Runtime) {
    this.runtime = runtime;
  }

  // Start -------------------------------------------------------------------------------------------------------

  /** Makes the state. A constructor that throws is a failure like any other: its parent decides. */
  construct(cell: ActorCell): void {
    const make = cell.kind.spec.state;
    if (make === undefined) return;
    try {
      cell.state = make(cell.args);
    } catch (error) {
      this.failed(cell, error, -1, undefined, 'state');
    }
  }

  private start(cell: ActorCell): void {
    if ((cell.status & (FAULT | STOPPING)) !== 0) return;
    this.runHook(cell, 'started', [], (settled, awaiting) => {
      if (awaiting.error !== undefined) this.failed(settled, awaiting.error.thrown, -1, undefined, 'started');
    });
  }

  // Messages ----------------------------------------------------------------------------------------------------

  returned(cell: ActorCell, result: object, handler: number, envelope: Envelope | undefined): void {
    if (typeof (result as PromiseLike<unknown>).then === 'function') {
      const what = cell.kind.definition['~handlerNames'][handler] as string;
      const awaiting = new Awaiting(
        what,
        handler,
        envelope,
        this.runtime.executor.coarseNow,
        this.handlerSettled,
      );
      park(cell, result as PromiseLike<unknown>, awaiting);
      if ((cell.status & OVERLOADED) !== 0) this.runtime.ready.pressure.relieve(cell);
    } else if (envelope?.resolve !== undefined) {
      this.answer(envelope, result);
    }
  }

  reply(envelope: Envelope, value: unknown): void {
    this.runtime.asks.reply(envelope, value);
  }

  answer(envelope: Envelope, value: unknown): void {
    if (Later.is(value)) value.bind(envelope);
    else this.runtime.asks.reply(envelope, value);
  }

  private readonly handlerSettled = (cell: ActorCell, awaiting: Awaiting): void => {
    const { envelope, error } = awaiting;
    noteSlow(cell, awaiting.what, this.runtime.executor.now() - awaiting.startedAt);
    if (error !== undefined) {
      this.failed(cell, error.thrown, awaiting.handler, envelope);
    } else if (envelope?.resolve !== undefined) {
      this.answer(envelope, awaiting.value);
    }
  };

  expired(cell: ActorCell, envelope: Envelope): void {
    this.runtime.invoker.discount();
    this.runtime.deadLetters.undelivered(cell, ENVELOPE, envelope, 'expired');
  }

  /** To the head of the mailbox again. */
  putBack(cell: ActorCell, handler: number, payload: unknown): void {
    if (cell.queue === NO_QUEUE) cell.queue = new MessageQueue();
    cell.queue.unshift(handler, payload);
    this.runtime.ready.queued += 1;
  }

  attended(cell: ActorCell): void {
    const timeout = cell.extras?.timers?.receiveTimeout;
    if (timeout !== undefined) timeout.lastMessageAt = this.runtime.executor.coarseNow;
  }

  runThroughPipeline(cell: ActorCell): void {
    this.runtime.pipelines.runNext(cell);
    this.attended(cell);
  }

  enterTurn(cell: ActorCell): number {
    return this.runtime.pipelines.enterTurn(cell);
  }

  leaveTurn(cell: ActorCell, code: InvokeCode, entered: number): void {
    this.runtime.pipelines.leaveTurn(cell, code, entered);
  }

  // Signals -----------------------------------------------------------------------------------------------------

  /** Kill first, then what settled, then the lane in order, then stop: a stop lets earlier decisions be made. */
  handleSignals(cell: ActorCell): void {
    if ((cell.status & KILL_ASKED) !== 0) this.kill(cell);
    if ((cell.status & SETTLED) !== 0) this.settled(cell);
    if ((cell.status & SIGNALS) !== 0) this.handleLane(cell);
    if ((cell.status & STOP_ASKED) !== 0) this.beginStop(cell);
  }

  private settled(cell: ActorCell): void {
    cell.status &= ~(SETTLED | AWAITING);
    const extras = cell.extras as Extras;
    const awaiting = extras.awaiting as Awaiting;
    extras.awaiting = undefined;
    awaiting.onSettled(cell, awaiting);
    if ((cell.status & FAULT) === 0) this.returnToLane(cell, extras.postponed.splice(0));
    const stopping = extras.stopping;
    if (stopping?.stage === 'current-message' && (cell.status & AWAITING) === 0)
      this.continueStop(cell, stopping);
  }

  private handleLane(cell: ActorCell): void {
    cell.status &= ~SIGNALS;
    const extras = cell.extras as Extras;
    const lane = extras.signals;
    extras.signals = [];
    for (let i = 0; i < lane.length; i += 1) {
      const signal = lane[i] as Signal;
      if ((cell.status & (FENCED | TERMINATED)) !== 0) {
        return this.returnToLane(
          cell,
          lane.slice(i).filter((left) => !isOfIncarnation(left)),
        );
      }
      if ((cell.status & (AWAITING | FAULT)) !== 0 && isOfIncarnation(signal)) {
        extras.postponed.push(signal);
      } else {
        this.handle(cell, signal);
      }
    }
  }

  /** For the present incarnation, which a restart may just have put in the place of `cell`. */
  private returnToLane(cell: ActorCell, signals: readonly Signal[]): void {
    const heir = cell.ref.cell;
    if (signals.length === 0 || (heir.status & TERMINATED) !== 0) return;
    heir.needExtras().signals.unshift(...signals);
    heir.status |= SIGNALS;
    this.runtime.ready.registerReady(heir);
  }

  private handle(cell: ActorCell, signal: Signal): void {
    switch (signal.kind) {
      case 'start':
        return this.start(cell);
      case 'child-failed':
        return this.runtime.supervisor.childFailed(cell, signal.report);
      case 'child-stopped':
        return this.childStopped(cell, signal.child);
      case 'directive':
        return signal.directive === 'resume' ? this.resume(cell) : this.restart(cell, signal.report);
      case 'incarnate':
        return this.incarnateWithGroup(cell);
      case 'terminated':
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
    if ((cell.status & STOPPING) !== 0) return;
    this.runHook(cell, hook, rest, (settled, awaiting) => {
      if (awaiting.error !== undefined) this.failed(settled, awaiting.error.thrown, -1, undefined, hook);
    });
  }

  // Failure -----------------------------------------------------------------------------------------------------

  /** The user lane stays closed from here until the parent has decided (E9). The message itself was handled. */
  failed(
    cell: ActorCell,
    thrown: unknown,
    handler: number,
    envelope: Envelope | undefined,
    hook?: string,
  ): void {
    const error = toError(thrown);
    const message = hook ?? (cell.kind.definition['~handlerNames'][handler] as string);
    if (envelope !== undefined) this.runtime.asks.failed(envelope, error);
    if ((cell.status & OVERLOADED) !== 0) this.runtime.ready.pressure.relieve(cell);
    if ((cell.status & (TERMINATED | FENCED)) !== 0) return;
    const stopping = cell.extras?.stopping;
    if (stopping !== undefined) {
      this.runtime.logFailure(cell, message, error, 'ignored: it is stopping', 0, 0);
      return;
    }
    const unresumable = hook !== undefined && UNRESUMABLE.includes(hook);
    const at = this.runtime.executor.coarseNow;
    const report: FailureReport = { child: cell, error, message, at, unresumable };
    cell.status |= FAULT;
    cell.needExtras().failure = report;
    this.runtime.supervisor.report(cell, report);
  }

  private resume(cell: ActorCell): void {
    if ((cell.status & FAULT) === 0) return;
    const failure = cell.extras?.failure;
    // There is nothing to resume in an actor that has ended, or that would fail again at once.
    if (failure?.ended !== undefined || failure?.unresumable === true) return this.restart(cell, failure);
    cell.status &= ~FAULT;
    if (cell.extras !== undefined) {
      cell.extras.failure = undefined;
      this.returnToLane(cell, cell.extras.postponed.splice(0));
    }
    for (const child of this.runtime.lineage.childrenOf(cell)) {
      const failure = child.extras?.failure;
      if (failure !== undefined) child.signal({ kind: 'directive', directive: 'resume', report: failure });
    }
  }

  // Restart -----------------------------------------------------------------------------------------------------

  private restart(cell: ActorCell, report: FailureReport): void {
    const extras = cell.needExtras();
    // Two failures can decide for it: on the way is on the way.
    if (extras.stopping?.restart !== undefined && !endsAnyway(cell)) return;
    if (extras.stopping !== undefined || endsAnyway(cell)) {
      extras.group?.left(cell.ref);
      return;
    }
    cell.status |= FAULT;
    extras.stopping = { reason: 'failed', stage: 'children', restart: report };
    extras.abort?.abort();
    if (extras.awaiting?.envelope !== undefined)
      this.runtime.asks.failed(extras.awaiting.envelope, report.error);
    cell.status &= ~(AWAITING | SETTLED);
    extras.awaiting?.onDropped?.();
    extras.awaiting = undefined;
    this.stopNextChild(cell, extras.stopping);
  }

  /** Not when a stop has begun since it came to rest. */
  private incarnateWithGroup(cell: ActorCell): void {
    const { group, stopping } = cell.extras as Extras;
    if (stopping?.restart !== undefined && !endsAnyway(cell)) this.incarnate(cell);
    group?.passed(cell.ref.cell);
  }

  private incarnate(old: ActorCell): void {
    const { runtime } = this;
    const extras = old.extras as Extras;
    runtime.timers.endIncarnation(old);
    runtime.stashes.unstash(old);
    runtime.deathWatch.forget(old);
    runtime.suspensions.endOwn(old);
    extras.endIncarnation();
    extras.signals = extras.signals.filter((signal) => !isOfIncarnation(signal));
    extras.restarts += 1;
    const kind = runtime.firstPhaseOf(old.kind);
    const cell = new ActorCell(kind, old.slot, old.args, old.ref);
    cell.queue = old.queue;
    cell.extras = extras;
    cell.status |= old.status & KEPT_OVER_RESTART;
    if ((cell.status & DRAINING) !== 0) cell.status |= STOP_ASKED;
    old.status = FENCED | CLOSED;
    old.queue = NO_QUEUE;
    old.extras = undefined;
    old.ref.cell = cell;
    runtime.ready.slots.put(cell.slot, cell);
    if (runtime.events.hasListeners) {
      runtime.events.publish({ kind: 'restarted', path: cell.path, restarts: extras.restarts });
    }
    this.construct(cell);
    this.start(cell);
    runtime.ready.registerReady(cell);
  }

  // Stop --------------------------------------------------------------------------------------------------------

  private beginStop(cell: ActorCell): void {
    cell.status &= ~STOP_ASKED;
    const draining = (cell.status & DRAINING) !== 0;
    if (draining && this.hasBacklog(cell)) return;
    this.stopBecause(cell, draining ? 'drained' : 'stopped');
  }

  /** A draining actor that cannot run (suspended, say) still has its backlog: only a kill or its time limit ends it. */
  private hasBacklog(cell: ActorCell): boolean {
    return cell.queue.length > 0 || (cell.status & AWAITING) !== 0;
  }

  private stopBecause(cell: ActorCell, reason: StopReason): void {
    if ((cell.status & (STOPPING | TERMINATED)) !== 0) return;
    cell.status = (cell.status | STOPPING | CLOSED) & ~FAULT;
    if (this.hasNothingToEnd(cell)) {
      this.terminate(cell, reason);
      return;
    }
    const extras = cell.needExtras();
    const stopping: Stopping = { reason, stage: 'current-message', restart: undefined };
    extras.stopping = stopping;
    extras.abort?.abort();
    this.runtime.timers.killAfter(cell, cell.kind.spec.stopWithinMs);
    if ((cell.status & AWAITING) === 0) this.continueStop(cell, stopping);
  }

  /** The common short way: no hooks, no children, nothing running. */
  private hasNothingToEnd(cell: ActorCell): boolean {
    const { stopping, stopped } = cell.kind.spec;
    if (stopping !== undefined || stopped !== undefined) return false;
    const { extras } = cell;
    if (extras === undefined) return true;
    return extras.awaiting === undefined && extras.abort === undefined && extras.lastChild === 0;
  }

  private continueStop(cell: ActorCell, stopping: Stopping): void {
    stopping.stage = 'stopping-hook';
    this.runHook(cell, 'stopping', [], (settled, awaiting) => {
      this.logHookFailure(settled, 'stopping', awaiting);
      stopping.stage = 'children';
      this.stopNextChild(settled, stopping);
    });
  }

  private stopNextChild(cell: ActorCell, stopping: Stopping): void {
    const child = this.runtime.lineage.youngestOf(cell);
    if (child !== undefined) {
      child.requestStop();
      return;
    }
    if (stopping.restart !== undefined) this.finishRestart(cell, stopping.restart);
    else if (stopping.reason === 'killed') this.terminate(cell, 'killed');
    else this.finishStop(cell, stopping);
  }

  private childStopped(cell: ActorCell, child: AnyRef): void {
    const stopping = cell.extras?.stopping;
    if (stopping?.stage === 'children') this.stopNextChild(cell, stopping);
    else if (stopping === undefined) this.runtime.supervisor.childEnded(cell, child as RefBase);
  }

  private finishStop(cell: ActorCell, stopping: Stopping): void {
    stopping.stage = 'stopped-hook';
    this.runHook(cell, 'stopped', [], (settled, awaiting) => {
      this.logHookFailure(settled, 'stopped', awaiting);
      this.terminate(settled, stopping.reason);
    });
  }

  private finishRestart(cell: ActorCell, report: FailureReport): void {
    (cell.extras as Extras).stopping = { reason: 'failed', stage: 'stopped-hook', restart: report };
    // Whoever has ended has said goodbye with `stopped` already.
    if (report.ended !== undefined && report.child === cell) return this.rest(cell);
    this.runHook(cell, 'restarting', [report.error], (settled, awaiting) => {
      this.logHookFailure(settled, 'restarting', awaiting);
      this.rest(settled);
    });
  }

  /** At rest between two incarnations. A stop that came during the hook goes first, and ends it instead. */
  private rest(cell: ActorCell): void {
    if ((cell.status & STOPPING) !== 0) return;
    const { group } = cell.extras as Extras;
    if (group === undefined) this.incarnate(cell);
    else group.rests(cell);
  }

  private kill(cell: ActorCell): void {
    cell.status = (cell.status | STOPPING | CLOSED) & ~(KILL_ASKED | STOP_ASKED | AWAITING | SETTLED | FAULT);
    const extras = cell.needExtras();
    extras.abort?.abort();
    const awaited = extras.awaiting?.envelope;
    extras.awaiting?.onDropped?.();
    extras.awaiting = undefined;
    if (awaited !== undefined) this.runtime.asks.undelivered(awaited, 'stopped');
    const children = this.runtime.lineage.childrenOf(cell);
    if (children.length === 0) {
      this.terminate(cell, 'killed');
      return;
    }
    extras.stopping = { reason: 'killed', stage: 'children', restart: undefined };
    for (const child of children) child.requestKill();
  }

  private terminate(cell: ActorCell, reason: StopReason): void {
    const { runtime } = this;
    if ((cell.status & OVERLOADED) !== 0) runtime.ready.pressure.relieve(cell);
    if (cell.extras?.restartType === 'permanent' && this.startsAgain(cell, cell.extras, reason)) return;
    cell.status |= CLOSED | STOPPING;
    if (cell.queue.length > 0) this.buryMessages(cell);
    const extras = cell.extras;
    if (extras !== undefined) this.endExtras(cell);
    if (runtime.events.hasListeners) runtime.events.publish({ kind: 'stopped', path: cell.path, reason });
    const parent = runtime.lineage.parentOf(cell.slot);
    runtime.lineage.remove(cell.slot);
    cell.bury(reason, parent?.ref);
    if (parent !== undefined && (parent.extras?.stopping !== undefined || extras !== undefined)) {
      parent.signal({ kind: 'child-stopped', child: cell.ref, reason });
    }
    if (extras !== undefined) this.announceEnd(cell, extras, reason);
  }

  /**
   * A permanent child that ends by itself, while its parent wants it, is restarted in place (ADR 0020): its parent
   * decides as for a failure, and its ref, its name, its watchers and what waits in its mailbox stay.
   */
  private startsAgain(cell: ActorCell, extras: Extras, reason: StopReason): boolean {
    const { runtime } = this;
    const parent = runtime.lineage.parentOf(cell.slot);
    if (parent === undefined || extras.released || parent.extras?.stopping !== undefined) return false;
    if ((parent.status & (STOPPING | STOP_ASKED | KILL_ASKED)) !== 0) return false;
    const error = new ChildEndedError(cell.path, reason);
    const at = runtime.executor.coarseNow;
    const report = { child: cell, error, message: reason, at, ended: reason, unresumable: false };
    extras.group?.left(cell.ref);
    extras.stopping = undefined;
    extras.failure = report;
    runtime.timers.cancelAll(cell);
    cell.status = (cell.status & ~(STOPPING | CLOSED | DRAINING | STOP_ASKED | KILL_ASKED)) | FAULT;
    runtime.supervisor.report(cell, report);
    for (const tell of extras.onStopped.splice(0)) tell(reason);
    return true;
  }

  /** The last step, when nothing of the actor is left to be seen half done. */
  private announceEnd(cell: ActorCell, extras: Extras, reason: StopReason): void {
    extras.group?.left(cell.ref);
    endLinked(cell.ref, extras);
    this.runtime.deathWatch.announce(cell, extras, reason);
    for (const tell of extras.onStopped) tell(reason);
  }

  private endExtras(cell: ActorCell): void {
    const { runtime } = this;
    runtime.timers.cancelAll(cell);
    runtime.stashes.bury(cell);
    runtime.registry.remove(cell);
    runtime.suspensions.endAll(cell);
  }

  private buryMessages(cell: ActorCell): void {
    const { queue } = cell;
    this.runtime.ready.queued -= queue.length;
    while (queue.length > 0) {
      const handler = queue.peek();
      this.runtime.deadLetters.undelivered(cell, handler, queue.take(), 'left-over');
    }
  }

  // Hooks -------------------------------------------------------------------------------------------------------

  /** Calls a hook if there is one; `then` follows at once, or in a later turn when the hook is asynchronous. */
  private runHook(
    cell: ActorCell,
    name: 'started' | 'stopping' | 'stopped' | 'restarting' | 'terminated' | 'idle',
    rest: unknown[],
    then: (cell: ActorCell, awaiting: Awaiting) => void,
  ): void {
    const hook = cell.kind.spec[name] as Hook | undefined;
    const awaiting = new Awaiting(name, -1, undefined, this.runtime.executor.coarseNow, then);
    if (hook !== undefined) {
      try {
        const result = hook(cell, ...rest) as PromiseLike<unknown> | undefined;
        if (typeof result === 'object' && result !== null && typeof result.then === 'function') {
          park(cell, result, awaiting);
          return;
        }
      } catch (thrown) {
        awaiting.error = { thrown };
      }
    }
    then(cell, awaiting);
  }

  private logHookFailure(cell: ActorCell, hook: string, awaiting: Awaiting): void {
    if (awaiting.error === undefined) return;
    this.runtime.logFailure(cell, hook, toError(awaiting.error.thrown), 'ignored: the hook of an end', 0, 0);
  }
}

/** Runs user code, and was asked for by this incarnation: waits while that code cannot run, ends with a restart. */
function isOfIncarnation(signal: Signal): boolean {
  return signal.kind === 'terminated' || signal.kind === 'idle';
}

/** One that drains is restarted all the same: it has a backlog to finish. */
function endsAnyway({ status }: ActorCell): boolean {
  return (status & KILL_ASKED) !== 0 || (status & (STOP_ASKED | DRAINING)) === STOP_ASKED;
}
