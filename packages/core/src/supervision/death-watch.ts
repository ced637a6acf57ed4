import type { ActorCell } from '../actor/actor-cell.js';
import type { ColdState } from '../actor/cold-state.js';
import { MisuseError } from '../errors.js';
import type { StopReason } from '../events.js';
import type { Signal } from '../lifecycle/runtime-signal.js';
import type { RefBase } from '../ref/ref-base.js';

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
    const own = watcher.ensureCold();
    own.watching ??= new Set();
    if (!cell.isTerminated) {
      const watchers = cell.ensureCold();
      watchers.watchers ??= new Map();
      watchers.watchers.set(watcher.ref, watched);
    } else if (!own.watching.has(cell.ref)) {
      watcher.signal({ kind: 'terminated', ref: watched, reason: cell.stopReason });
    }
    own.watching.add(cell.ref);
  }

  /** It watches until it is told, unless somebody else has the place in a tree by then and is watched too. */
  notified(watcher: ActorCell, watched: RefBase): void {
    const { cell } = watched;
    if (cell.cold?.watchers?.has(watcher.ref) !== true) watcher.cold?.watching?.delete(cell.ref);
  }

  unwatch(watcher: ActorCell, watched: RefBase): void {
    watched.cell.cold?.watchers?.delete(watcher.ref);
    const own = watcher.cold;
    if (own === undefined) return;
    own.watching?.delete(watched.cell.ref);
    // Also one that has been told already and waits for an asynchronous handler.
    const others = (signal: Signal): boolean =>
      signal.kind !== 'terminated' || (signal.ref as RefBase).cell.ref !== watched.cell.ref;
    own.signals = own.signals.filter(others);
    own.deferredSignals?.keepOnly(others);
  }

  forget(watcher: ActorCell): void {
    for (const watched of watcher.cold?.watching ?? []) watched.cell.cold?.watchers?.delete(watcher.ref);
  }

  announce(cell: ActorCell, cold: ColdState, reason: StopReason): void {
    this.forget(cell);
    for (const [watcher, ref] of cold.watchers ?? [])
      watcher.cell.signal({ kind: 'terminated', ref, reason });
    cold.watchers = undefined;
  }
}
