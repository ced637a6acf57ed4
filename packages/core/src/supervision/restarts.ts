import { ActorCell } from '../actor/cell.js';
import type { Extras } from '../actor/cold-state.js';
import type { Runtime } from '../actor/runtime.js';
import { logHookFailure, runHook } from '../lifecycle/lifecycle-hooks.js';
import { type FailureReport, isOfIncarnation } from '../lifecycle/signal.js';
import { NO_QUEUE } from '../mailbox/queue.js';
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
} from '../mailbox/status.js';

/** OVERLOADED too: whoever waits for room in the mailbox waits for the next incarnation to make it. */
const KEPT_OVER_RESTART = SIGNALS | STOP_ASKED | KILL_ASKED | CLOSED | DRAINING | OVERLOADED | SUSPENDED;

/**
 * How an actor begins, and begins anew: a new cell with a new state takes the place, the mailbox and the ref of the old.
 *
 *   children, youngest first → `restarting` → new state → `started` → messages again
 */
export class Restarts {
  private readonly runtime: Runtime;

  constructor(runtime: Runtime) {
    this.runtime = runtime;
  }

  /** Makes the state. A constructor that throws is a failure like any other: its parent decides. */
  construct(cell: ActorCell): void {
    const make = cell.kind.spec.state;
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
    this.runtime.stops.stopNextChild(cell, extras.stopping);
  }

  finish(cell: ActorCell, report: FailureReport): void {
    (cell.extras as Extras).stopping = { reason: 'failed', stage: 'stopped-hook', restart: report };
    // Whoever has ended has said goodbye with `stopped` already.
    if (report.ended !== undefined && report.child === cell) return this.rest(cell);
    runHook(cell, 'restarting', [report.error], (settled, awaiting) => {
      logHookFailure(settled, 'restarting', awaiting);
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

  /** Not when a stop has begun since it came to rest. */
  incarnateWithGroup(cell: ActorCell): void {
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
}

/** One that drains is restarted all the same: it has a backlog to finish. */
function endsAnyway({ status }: ActorCell): boolean {
  return (status & KILL_ASKED) !== 0 || (status & (STOP_ASKED | DRAINING)) === STOP_ASKED;
}
