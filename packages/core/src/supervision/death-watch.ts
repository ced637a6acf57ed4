import type { ActorCell } from '../actor/cell.js';
import type { Extras } from '../actor/cold-state.js';
import { MisuseError } from '../errors.js';
import type { StopReason } from '../events.js';
import type { Signal } from '../lifecycle/signal.js';
import { TERMINATED } from '../mailbox/status.js';
import type { RefBase } from '../ref/ref-class.js';

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
    const own = watcher.needExtras();
    own.watching ??= new Set();
    if ((cell.status & TERMINATED) === 0) {
      const watchers = cell.needExtras();
      watchers.watchers ??= new Map();
      watchers.watchers.set(watcher.ref, watched);
    } else if (!own.watching.has(cell.ref)) {
      watcher.signal({ kind: 'terminated', ref: watched, reason: cell.stopReason });
    }
    own.watching.add(cell.ref);
  }

  /** It watches until it is told, unless somebody else has the place in a tree by then and is watched too. */
  told(watcher: ActorCell, watched: RefBase): void {
    const { cell } = watched;
    if (cell.extras?.watchers?.has(watcher.ref) !== true) watcher.extras?.watching?.delete(cell.ref);
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
    for (const [watcher, ref] of extras.watchers ?? [])
      watcher.cell.signal({ kind: 'terminated', ref, reason });
    extras.watchers = undefined;
  }
}
