import { ActorCell } from '../actor/actor-cell.js';
import type { ColdState } from '../actor/cold-state.js';
import { endNameWatches } from '../actor/name-watches.js';
import type { Parts } from '../actor/runtime-parts.js';
import type { Restart } from '../lifecycle/ending-stage.js';
import { endsWithIncarnation } from '../lifecycle/runtime-signal.js';
import { DRAINING, FAULT, KILL_REQUESTED, STOP_REQUESTED, STOPPING } from '../mailbox/status-word.js';
import type { FailureReport } from './failure-report.js';

/**
 * Start and restart of an actor. At a restart a new cell with a new state takes place, mailbox and ref of the
 * old one.
 *
 *   children, last started first → `restarting` → new state → `started`, first phase → messages again
 */
export class RestartSequence {
  private readonly runtime: Parts<
    | 'asks'
    | 'childLists'
    | 'deathWatch'
    | 'events'
    | 'failures'
    | 'hooks'
    | 'phases'
    | 'ready'
    | 'stashes'
    | 'suspensions'
    | 'timers'
  >;

  constructor(runtime: RestartSequence['runtime']) {
    this.runtime = runtime;
  }

  /** A state function that throws is a failure like any other: the parent decides. */
  makeState(cell: ActorCell): void {
    const { definition, spec } = cell.type;
    const withContext = definition['~makeState'];
    if (spec.state === undefined && withContext === undefined) return;
    try {
      cell.state = withContext === undefined ? spec.state?.(cell.args) : withContext(cell.args, cell);
    } catch (error) {
      this.runtime.failures.failed(cell, error, -1, undefined, { hook: 'state' });
    }
  }

  start(cell: ActorCell): void {
    if ((cell.status & (FAULT | STOPPING)) !== 0) return;
    this.runtime.hooks.run(cell, 'started', [], (settled, { error }) => {
      if (error === undefined) this.runtime.phases.move(settled);
      else this.runtime.failures.failed(settled, error.thrown, -1, undefined, { hook: 'started' });
    });
  }

  begin(cell: ActorCell, report: FailureReport): void {
    const cold = cell.ensureCold();
    const isOverruled = isStopRequested(cell);
    // Two failures can decide for the same actor: one restart is enough.
    if (cold.ending?.kind === 'restart' && !isOverruled) return;
    if (cold.ending !== undefined || isOverruled) {
      cold.group?.left(cell.ref);
      return;
    }
    cell.markFailed();
    const restart: Restart = { kind: 'restart', report, stage: 'children' };
    cold.ending = restart;
    cell.abortHandlers('the actor is restarting');
    if (cold.awaiting?.envelope !== undefined) this.runtime.asks.failed(cold.awaiting.envelope, report.error);
    cell.clearAwaiting();
    cold.awaiting?.onAbandoned?.();
    cold.awaiting = undefined;
    this.stopNextChild(cell, restart);
  }

  stopNextChild(cell: ActorCell, restart: Restart): void {
    const child = this.runtime.childLists.lastStartedOf(cell);
    if (child === undefined) this.runHook(cell, restart);
    else child.requestStop();
  }

  private runHook(cell: ActorCell, restart: Restart): void {
    const { report } = restart;
    restart.stage = 'restarting-hook';
    // An actor that has ended has run its `stopped` hook already.
    if (report.ended !== undefined && report.child === cell) return this.rest(cell);
    this.runtime.hooks.run(cell, 'restarting', [report.error], (settled, call) => {
      this.runtime.hooks.logFailure(settled, 'restarting', call);
      this.rest(settled);
    });
  }

  /** At rest between two incarnations. A stop that came during the hook goes first, and ends it instead. */
  private rest(cell: ActorCell): void {
    if (cell.isStopping) return;
    const { group } = cell.cold as ColdState;
    if (group === undefined) this.replace(cell);
    else group.rests(cell);
  }

  /** All siblings of the group rest. Not when a stop has begun since it came to rest. */
  replaceInGroup(cell: ActorCell): void {
    const { group, ending } = cell.cold as ColdState;
    if (ending?.kind === 'restart' && !isStopRequested(cell)) this.replace(cell);
    group?.passed(cell.ref.cell);
  }

  private replace(old: ActorCell): void {
    const { ready, events } = this.runtime;
    const cold = old.cold as ColdState;
    this.endIncarnation(old, cold);
    const cell = new ActorCell(old.type.inFirstPhase, old.slot, old.args, old.ref);
    cell.takeOver(old);
    cell.cold = cold;
    old.cold = undefined;
    old.refuseState();
    old.ref.cell = cell;
    ready.slots.put(cell.slot, cell);
    if (events.hasListeners) events.publish({ kind: 'restarted', path: cell.path, restarts: cold.restarts });
    this.makeState(cell);
    this.start(cell);
    ready.registerReady(cell);
  }

  private endIncarnation(old: ActorCell, cold: ColdState): void {
    const { timers, stashes, deathWatch, suspensions } = this.runtime;
    timers.endIncarnation(old);
    stashes.unstash(old);
    deathWatch.forget(old);
    endNameWatches(old);
    suspensions.endOwn(old);
    cold.endIncarnation();
    cold.signals = cold.signals.filter((signal) => !endsWithIncarnation(signal));
    cold.restarts += 1;
  }
}

/** A draining actor is restarted all the same: it has a backlog to finish. */
function isStopRequested({ status }: ActorCell): boolean {
  return (status & KILL_REQUESTED) !== 0 || (status & (STOP_REQUESTED | DRAINING)) === STOP_REQUESTED;
}
