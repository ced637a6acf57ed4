import type { ActorCell } from '../actor/actor-cell.js';
import type { ColdState } from '../actor/cold-state.js';
import type { Parts } from '../actor/runtime-parts.js';
import type { SignalReceiver } from '../invoker/message-invoker.js';
import {
  AWAITING,
  FAULT,
  FENCED,
  KILL_REQUESTED,
  SETTLED,
  SIGNALS,
  STOP_REQUESTED,
  TERMINATED,
} from '../mailbox/status-word.js';
import type { CellRef } from '../ref/cell-ref.js';
import type { StopReason } from '../runtime-event.js';
import { DeferredSignals } from './deferred-signals.js';
import { endsWithIncarnation, type Signal } from './runtime-signal.js';

/**
 * Handles the signals of an actor, in its turn and before its messages. Start and restart are in
 * `RestartSequence`, stop and kill in `StopSequence`.
 */
export class SignalHandling implements SignalReceiver<ActorCell> {
  private readonly runtime: Parts<
    | 'waitCycles'
    | 'deathWatch'
    | 'failures'
    | 'hooks'
    | 'phases'
    | 'ready'
    | 'restarts'
    | 'results'
    | 'stops'
    | 'supervisor'
    | 'termination'
  >;

  constructor(runtime: SignalHandling['runtime']) {
    this.runtime = runtime;
  }

  /**
   * Kill first, then a settlement, then the lane in order, then stop: earlier decisions are made before a
   * stop.
   */
  handleSignals(cell: ActorCell): void {
    if ((cell.status & KILL_REQUESTED) !== 0) this.runtime.stops.kill(cell);
    if ((cell.status & SETTLED) !== 0) this.runtime.results.settled(cell);
    if ((cell.status & SIGNALS) !== 0) this.handleLane(cell);
    if ((cell.status & STOP_REQUESTED) !== 0) this.runtime.stops.begin(cell);
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
        return this.runtime.waitCycles.selfAsked(cell, signal.envelope);
      case 'name-changed':
        return this.nameChanged(cell, signal.run);
      case 'idle':
        return this.runNotificationHook(cell, 'idle', []);
      case 'ended-elsewhere':
        return this.endedElsewhere(cell, signal.reason);
      case 'phase-changed':
        return this.runtime.phases.move(cell);
      default:
        return signal satisfies never;
    }
  }

  private endedElsewhere(cell: ActorCell, reason: StopReason): void {
    if (cell.isStopping) return;
    cell.beginStop();
    this.runtime.termination.terminate(cell, reason);
  }

  private nameChanged(cell: ActorCell, run: () => void): void {
    if (cell.isStopping) return;
    this.runtime.hooks.call(cell, 'watchName', run, [], (settled, { error }) => {
      if (error !== undefined)
        this.runtime.failures.failed(settled, error.thrown, -1, undefined, { hook: 'watchName' });
    });
  }

  private runNotificationHook(cell: ActorCell, hook: 'terminated' | 'idle', rest: unknown[]): void {
    if (cell.isStopping) return;
    this.runtime.hooks.run(cell, hook, rest, (settled, { error }) => {
      if (error !== undefined) this.runtime.failures.failed(settled, error.thrown, -1, undefined, { hook });
    });
  }
}
