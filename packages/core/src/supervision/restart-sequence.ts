import { ActorCell } from '../actor/actor-cell.js';
import type { ColdState } from '../actor/cold-state.js';
import type { Runtime } from '../actor/runtime.js';
import { logHookFailure, runHook } from '../lifecycle/lifecycle-hooks.js';
import { endsWithIncarnation, type FailureReport } from '../lifecycle/runtime-signal.js';
import { DRAINING, FAULT, KILL_ASKED, STOP_ASKED, STOPPING } from '../mailbox/status-word.js';

/**
 * How an actor begins, and begins anew: a new cell with a new state takes the place, the mailbox and the ref of the old.
 *
 *   children, youngest first → `restarting` → new state → `started` → messages again
 */
export class RestartSequence {
  private readonly runtime: Runtime;

  constructor(runtime: Runtime) {
    this.runtime = runtime;
  }

  /** Makes the state. A constructor that throws is a failure like any other: its parent decides. */
  construct(cell: ActorCell): void {
    const make = cell.type.spec.state;
    if (make === undefined) return;
    try {
      cell.state = make(cell.args);
    } catch (error) {
      this.runtime.lifecycle.failed(cell, error, -1, undefined, { hook: 'state' });
    }
  }

  start(cell: ActorCell): void {
    if ((cell.status & (FAULT | STOPPING)) !== 0) return;
    runHook(cell, 'started', [], (settled, awaiting) => {
      if (awaiting.error !== undefined)
        this.runtime.lifecycle.failed(settled, awaiting.error.thrown, -1, undefined, { hook: 'started' });
    });
  }

  begin(cell: ActorCell, report: FailureReport): void {
    const cold = cell.ensureCold();
    // Two failures can decide for it: on the way is on the way.
    if (cold.stopping?.restart !== undefined && !endsAnyway(cell)) return;
    if (cold.stopping !== undefined || endsAnyway(cell)) {
      cold.group?.left(cell.ref);
      return;
    }
    cell.markFailed();
    cold.stopping = { reason: 'failed', stage: 'children', restart: report };
    cold.abort?.abort();
    if (cold.awaiting?.envelope !== undefined) this.runtime.asks.failed(cold.awaiting.envelope, report.error);
    cell.clearAwaiting();
    cold.awaiting?.onAbandoned?.();
    cold.awaiting = undefined;
    this.runtime.stops.stopNextChild(cell, cold.stopping);
  }

  finish(cell: ActorCell, report: FailureReport): void {
    (cell.cold as ColdState).stopping = { reason: 'failed', stage: 'stopped-hook', restart: report };
    // Whoever has ended has said goodbye with `stopped` already.
    if (report.ended !== undefined && report.child === cell) return this.rest(cell);
    runHook(cell, 'restarting', [report.error], (settled, awaiting) => {
      logHookFailure(settled, 'restarting', awaiting);
      this.rest(settled);
    });
  }

  /** At rest between two incarnations. A stop that came during the hook goes first, and ends it instead. */
  private rest(cell: ActorCell): void {
    if (cell.isStopping) return;
    const { group } = cell.cold as ColdState;
    if (group === undefined) this.incarnate(cell);
    else group.rests(cell);
  }

  /** Not when a stop has begun since it came to rest. */
  incarnateWithGroup(cell: ActorCell): void {
    const { group, stopping } = cell.cold as ColdState;
    if (stopping?.restart !== undefined && !endsAnyway(cell)) this.incarnate(cell);
    group?.passed(cell.ref.cell);
  }

  private incarnate(old: ActorCell): void {
    const { runtime } = this;
    const cold = old.cold as ColdState;
    runtime.timers.endIncarnation(old);
    runtime.stashes.unstash(old);
    runtime.deathWatch.forget(old);
    runtime.suspensions.endOwn(old);
    cold.endIncarnation();
    cold.signals = cold.signals.filter((signal) => !endsWithIncarnation(signal));
    cold.restarts += 1;
    const type = runtime.firstPhaseOf(old.type);
    const cell = new ActorCell(type, old.slot, old.args, old.ref);
    cell.takeOver(old);
    cell.cold = cold;
    old.cold = undefined;
    old.ref.cell = cell;
    runtime.ready.slots.put(cell.slot, cell);
    if (runtime.events.hasListeners) {
      runtime.events.publish({ kind: 'restarted', path: cell.path, restarts: cold.restarts });
    }
    this.construct(cell);
    this.start(cell);
    runtime.ready.registerReady(cell);
  }
}

/** One that drains is restarted all the same: it has a backlog to finish. */
function endsAnyway({ status }: ActorCell): boolean {
  return (status & KILL_ASKED) !== 0 || (status & (STOP_ASKED | DRAINING)) === STOP_ASKED;
}
