import type { ActorCell } from '../actor/actor-cell.js';
import type { ColdState } from '../actor/cold-state.js';
import { MisuseError } from '../errors/error-classes.js';
import type { Signal } from '../lifecycle/runtime-signal.js';
import type { CellRef } from '../ref/cell-ref.js';
import type { StopReason } from '../runtime-event.js';

/**
 * Watches: exactly one `terminated` signal each. Refs, not cells, so that a watch outlives restarts of the
 * watched actor; it ends with the incarnation of the watcher. An actor may have a second ref (that of a
 * pool): a watch is kept under the actor's own ref, and its signal has the ref that was watched.
 */
export class DeathWatch {
  watch(watcher: ActorCell, watched: CellRef): void {
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
      watcher.putSignal({ kind: 'terminated', ref: watched, reason: cell.stopReason });
    }
    own.watching.add(cell.ref);
  }

  /** The signal ends the watch, unless the watcher watches the next actor at the same place of a tree. */
  notified(watcher: ActorCell, watched: CellRef): void {
    const { cell } = watched;
    if (cell.cold?.watchers?.has(watcher.ref) !== true) watcher.cold?.watching?.delete(cell.ref);
  }

  unwatch(watcher: ActorCell, watched: CellRef): void {
    watched.cell.cold?.watchers?.delete(watcher.ref);
    const own = watcher.cold;
    if (own === undefined) return;
    own.watching?.delete(watched.cell.ref);
    // Also a signal that is deferred until an asynchronous handler has settled.
    const others = (signal: Signal): boolean =>
      signal.kind !== 'terminated' || (signal.ref as CellRef).cell.ref !== watched.cell.ref;
    own.signals = own.signals.filter(others);
    own.deferredSignals?.keepOnly(others);
  }

  forget(watcher: ActorCell): void {
    for (const watched of watcher.cold?.watching ?? []) watched.cell.cold?.watchers?.delete(watcher.ref);
  }

  announce(cell: ActorCell, cold: ColdState, reason: StopReason): void {
    this.forget(cell);
    for (const [watcher, ref] of cold.watchers ?? [])
      watcher.cell.putSignal({ kind: 'terminated', ref, reason });
    cold.watchers = undefined;
  }
}
