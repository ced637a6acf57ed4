import type { ActorCell } from '../actor/actor-cell.js';
import type { ColdState } from '../actor/cold-state.js';
import type { Runtime } from '../actor/runtime.js';
import { ChildEndedError } from '../errors.js';
import type { StopReason } from '../events.js';
import { KILL_ASKED, STOP_ASKED, STOPPING } from '../mailbox/status-word.js';
import { endLinked } from '../supervision/actor-links.js';

/** The last step of an actor: what it leaves behind is accounted for, and whoever should know is told. */
export class Termination {
  private readonly runtime: Runtime;

  constructor(runtime: Runtime) {
    this.runtime = runtime;
  }

  terminate(cell: ActorCell, reason: StopReason): void {
    const { runtime } = this;
    if (cell.isOverloaded) runtime.ready.backPressure.release(cell);
    if (cell.cold?.restartType === 'permanent' && this.startsAgain(cell, cell.cold, reason)) return;
    cell.close();
    if (cell.queue.length > 0) this.deadLetterMessages(cell);
    const cold = cell.cold;
    if (cold !== undefined) this.endColdState(cell);
    if (runtime.events.hasListeners) runtime.events.publish({ kind: 'stopped', path: cell.path, reason });
    const parent = runtime.childLists.parentOf(cell.slot);
    runtime.childLists.remove(cell.slot);
    cell.terminate(reason, parent?.ref);
    if (parent !== undefined && (parent.cold?.stopping !== undefined || cold !== undefined)) {
      parent.signal({ kind: 'child-stopped', child: cell.ref, reason });
    }
    if (cold !== undefined) this.announceEnd(cell, cold, reason);
  }

  /**
   * A permanent child that ends by itself, while its parent wants it, is restarted in place (ADR 0020): its parent
   * decides as for a failure, and its ref, its name, its watchers and what waits in its mailbox stay.
   */
  private startsAgain(cell: ActorCell, cold: ColdState, reason: StopReason): boolean {
    const { runtime } = this;
    const parent = runtime.childLists.parentOf(cell.slot);
    if (parent === undefined || cold.released || parent.cold?.stopping !== undefined) return false;
    if ((parent.status & (STOPPING | STOP_ASKED | KILL_ASKED)) !== 0) return false;
    const error = new ChildEndedError(cell.path, reason);
    const at = runtime.executor.coarseNow;
    const report = {
      child: cell,
      origin: cell,
      error,
      message: reason,
      at,
      ended: reason,
      unresumable: false,
    };
    cold.group?.left(cell.ref);
    cold.stopping = undefined;
    cold.failure = report;
    runtime.timers.cancelAll(cell);
    cell.reopenAsFailed();
    runtime.supervisor.report(cell, report);
    for (const tell of cold.onStopped.splice(0)) tell(reason);
    return true;
  }

  /** The last step, when nothing of the actor is left to be seen half done. */
  private announceEnd(cell: ActorCell, cold: ColdState, reason: StopReason): void {
    cold.group?.left(cell.ref);
    endLinked(cell.ref, cold);
    this.runtime.deathWatch.announce(cell, cold, reason);
    for (const tell of cold.onStopped) tell(reason);
  }

  private endColdState(cell: ActorCell): void {
    const { runtime } = this;
    runtime.timers.cancelAll(cell);
    runtime.stashes.deadLetterAll(cell);
    runtime.registry.remove(cell);
    runtime.suspensions.endAll(cell);
  }

  private deadLetterMessages(cell: ActorCell): void {
    const { queue } = cell;
    this.runtime.ready.queued -= queue.length;
    while (queue.length > 0) {
      const handler = queue.peek();
      this.runtime.deadLetters.undelivered(cell, handler, queue.take(), 'left-over');
    }
  }
}
