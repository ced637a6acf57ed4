import type { ActorCell } from '../actor/actor-cell.js';
import { stopLinked } from '../actor/actor-links.js';
import type { ColdState } from '../actor/cold-state.js';
import { endNameWatches } from '../actor/name-watches.js';
import type { Parts } from '../actor/runtime-parts.js';
import { ChildEndedError } from '../errors/error-classes.js';
import { KILL_REQUESTED, STOP_REQUESTED, STOPPING } from '../mailbox/status-word.js';
import type { StopReason } from '../runtime-event.js';

/**
 * The last step of an actor: its messages become dead letters; parent, watchers and linked actors are
 * notified.
 */
export class Termination {
  private readonly runtime: Parts<
    | 'backPressure'
    | 'childLists'
    | 'deadLetters'
    | 'deathWatch'
    | 'events'
    | 'executor'
    | 'failures'
    | 'ready'
    | 'registry'
    | 'stashes'
    | 'suspensions'
    | 'timers'
  >;

  constructor(runtime: Termination['runtime']) {
    this.runtime = runtime;
  }

  terminate(cell: ActorCell, reason: StopReason): void {
    const { backPressure, childLists, events } = this.runtime;
    if (cell.isOverloaded) backPressure.release(cell);
    if (cell.cold?.restartType === 'permanent' && this.startsAgain(cell, cell.cold, reason)) return;
    cell.close();
    if (cell.isMuted) backPressure.senderEnded(cell);
    if (cell.queue.length > 0) this.deadLetterMessages(cell);
    const { cold } = cell;
    if (cold !== undefined) this.endColdState(cell);
    if (events.hasListeners) events.publish({ kind: 'stopped', path: cell.path, reason });
    const parent = childLists.parentOf(cell.slot);
    childLists.remove(cell.slot);
    cell.terminate(reason, parent?.ref);
    if (parent !== undefined && (parent.cold?.ending !== undefined || cold !== undefined))
      parent.putSignal({ kind: 'child-stopped', child: cell.ref, reason });
    if (cold !== undefined) this.announce(cell, cold, reason);
  }

  /**
   * A permanent child that ends by itself, while its parent wants it, is restarted in place: its parent
   * decides as for a failure, and ref, name, watchers and waiting messages stay.
   */
  private startsAgain(cell: ActorCell, cold: ColdState, reason: StopReason): boolean {
    const { childLists, executor, failures, timers } = this.runtime;
    const parent = childLists.parentOf(cell.slot);
    if (parent === undefined || cold.released || parent.cold?.ending !== undefined) return false;
    if ((parent.status & (STOPPING | STOP_REQUESTED | KILL_REQUESTED)) !== 0) return false;
    cold.group?.left(cell.ref);
    cold.ending = undefined;
    timers.cancelAll(cell);
    cell.reopenAsFailed();
    failures.report(cell, {
      child: cell,
      origin: cell,
      error: new ChildEndedError(cell.path, reason),
      message: reason,
      at: executor.coarseNow,
      ended: reason,
      unresumable: false,
      isFinal: false,
    });
    for (const onStopped of cold.onStopped.splice(0)) onStopped(reason);
    return true;
  }

  private deadLetterMessages(cell: ActorCell): void {
    const { queue } = cell;
    this.runtime.ready.queued -= queue.length;
    while (queue.length > 0) {
      const handler = queue.peek();
      this.runtime.deadLetters.undelivered(cell, handler, queue.take(), 'left-over');
    }
  }

  private endColdState(cell: ActorCell): void {
    const { registry, stashes, suspensions, timers } = this.runtime;
    timers.cancelAll(cell);
    endNameWatches(cell);
    stashes.deadLetterAll(cell);
    registry.remove(cell);
    suspensions.endAll(cell);
  }

  /** The last step: no callback sees a half-terminated actor. */
  private announce(cell: ActorCell, cold: ColdState, reason: StopReason): void {
    cold.group?.left(cell.ref);
    stopLinked(cell.ref, cold);
    this.runtime.deathWatch.announce(cell, cold, reason);
    for (const onStopped of cold.onStopped) onStopped(reason);
  }
}
