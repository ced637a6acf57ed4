import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import type { OpenWait } from './open-waits.js';
import { OpenWaits } from './open-waits.js';

/**
 * Which actor waits for which: by a mute, by an open ask, by a `send` that waits for room, by a suspension
 * until a mailbox has room, by work that a pull pool has given to a worker. A mute must never be part of a
 * cycle of waits (ADR 0104), nor a suspension until there is room: it does not begin if it would close one,
 * and it ends when another wait closes one. Both are looked up here, where a wait begins.
 */
export class WaitGraph {
  private readonly runtime: Parts<'backPressure' | 'suspensions'>;

  constructor(runtime: WaitGraph['runtime']) {
    this.runtime = runtime;
  }

  /** An actor has asked, or a `send` of it waits for room: mutes in the cycles that this closes end. */
  begin(waiting: ActorCell, wait: OpenWait): void {
    const cold = waiting.ensureCold();
    cold.waits ??= new OpenWaits();
    cold.waits.add(wait);
    this.releaseBetween(wait.awaited, waiting);
  }

  /** Whether the first actor waits for the second, directly or through others. */
  leadsTo(first: ActorCell, second: ActorCell): boolean {
    return first === second || (hasWaits(first) && this.allAwaitedFrom(first).has(second));
  }

  /** Ends the mutes and the suspensions for room on the paths of waits from the first to the second. */
  releaseBetween(first: ActorCell, second: ActorCell): void {
    const { backPressure, suspensions } = this.runtime;
    if ((!backPressure.hasMuted && suspensions.untilRoom === 0) || !hasWaits(first)) return;
    for (const cell of [first, ...this.allAwaitedFrom(first)]) {
      for (const receiver of cell.isMuted ? backPressure.receiversMuting(cell) : [])
        if (this.leadsTo(receiver, second)) backPressure.endMute(cell, receiver);
      for (const suspension of cell.cold?.suspensions ?? []) {
        const { roomIn } = suspension;
        if (roomIn !== undefined && this.leadsTo(roomIn, second)) suspension.resume();
      }
    }
  }

  /** All actors for which this one waits, directly or through others. */
  private allAwaitedFrom(cell: ActorCell): Set<ActorCell> {
    const found = new Set<ActorCell>();
    const open = [cell];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      for (const awaited of this.awaitedBy(next)) {
        if (found.has(awaited)) continue;
        found.add(awaited);
        if (hasWaits(awaited)) open.push(awaited);
      }
    }
    return found;
  }

  private awaitedBy(cell: ActorCell): ActorCell[] {
    const { cold } = cell;
    const cells = cell.isMuted ? this.runtime.backPressure.receiversMuting(cell) : [];
    if (cold === undefined) return cells;
    if (cold.waits !== undefined) cells.push(...cold.waits.awaited);
    if (cold.workQueue !== undefined) cells.push(...cold.workQueue.busyWorkers);
    for (const { roomIn } of cold.suspensions) if (roomIn !== undefined) cells.push(roomIn);
    return cells;
  }
}

/** Most actors wait for none: neither a set nor a list is made for these. */
function hasWaits({ isMuted, cold }: ActorCell): boolean {
  if (isMuted) return true;
  return (
    cold !== undefined &&
    (cold.waits !== undefined || cold.workQueue !== undefined || cold.suspensions.length > 0)
  );
}
