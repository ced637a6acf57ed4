import { MisuseError } from '../errors.js';
import type { StopReason } from '../events.js';
import { TERMINATED } from '../mailbox/status.js';
import type { ActorCell } from './cell.js';
import type { Extras } from './extras.js';
import type { RefBase } from './ref-class.js';
import type { Signal } from './signal.js';

/**
 * Who is told when whom stops: exactly one `terminated` per watch. Refs, not cells, so that a watch outlives restarts
 * of the watched; what the watcher watches ends with its own incarnation. An actor may have a second ref (that of a
 * pool): a watch is kept under the actor's own, and told by the one that was watched.
 */
export class DeathWatch {
  watch(watcher: ActorCell, watched: RefBase): void {
    const cell = watched.cell;
    if (cell.ref === watcher.ref)
      throw new MisuseError(`${watcher.path}: watch: an actor cannot watch itself`);
    if ((cell.status & TERMINATED) !== 0) {
      watcher.signal({ kind: 'terminated', ref: watched, reason: cell.stopReason });
      return;
    }
    const watchers = cell.needExtras();
    watchers.watchers ??= new Map();
    watchers.watchers.set(watcher.ref, watched);
    const own = watcher.needExtras();
    own.watching ??= new Set();
    own.watching.add(cell.ref);
  }

  unwatch(watcher: ActorCell, watched: RefBase): void {
    watched.cell.extras?.watchers?.delete(watcher.ref);
    const own = watcher.extras;
    if (own === undefined) return;
    own.watching?.delete(watched.cell.ref);
    // Also one that has been told already and waits for an asynchronous handler.
    const others = (signal: Signal): boolean =>
      signal.kind !== 'terminated' || (signal.ref as RefBase).cell.ref !== watched.cell.ref;
    own.signals = own.signals.filter(others);
    own.postponed?.keepOnly(others);
  }

  forget(watcher: ActorCell): void {
    for (const watched of watcher.extras?.watching ?? []) watched.cell.extras?.watchers?.delete(watcher.ref);
  }

  announce(cell: ActorCell, extras: Extras, reason: StopReason): void {
    this.forget(cell);
    for (const [watcher, ref] of extras.watchers ?? []) {
      watcher.cell.extras?.watching?.delete(cell.ref);
      watcher.cell.signal({ kind: 'terminated', ref, reason });
    }
  }
}
