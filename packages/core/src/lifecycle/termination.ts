import type { ActorCell } from '../actor/cell.js';
import type { Extras } from '../actor/cold-state.js';
import type { Runtime } from '../actor/runtime.js';
import { ChildEndedError } from '../errors.js';
import type { StopReason } from '../events.js';
import { CLOSED, DRAINING, FAULT, KILL_ASKED, OVERLOADED, STOP_ASKED, STOPPING } from '../mailbox/status.js';
import { endLinked } from '../supervision/links.js';

/** The last step of an actor: what it leaves behind is accounted for, and whoever should know is told. */
export class Burial {
  private readonly runtime: Runtime;

  constructor(runtime: Runtime) {
    this.runtime = runtime;
  }

  terminate(cell: ActorCell, reason: StopReason): void {
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
    const report = {
      child: cell,
      origin: cell,
      error,
      message: reason,
      at,
      ended: reason,
      unresumable: false,
    };
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
}
