import { MisuseError } from '../errors.js';
import type { CellRef } from '../ref/cell-ref.js';
import type { ActorCell } from './actor-cell.js';
import type { ColdState } from './cold-state.js';

/**
 * Actors that end together: when one of two linked actors has ended, for any reason, the other is stopped. A
 * restart is not an end, so links outlive it.
 */
export function link(cell: ActorCell, to: CellRef): void {
  const other = to.cell.ref;
  if (other === cell.ref) throw new MisuseError(`${cell.path}: link: an actor cannot be linked to itself`);
  if (other.cell.isTerminated) {
    cell.requestStop();
    return;
  }
  linksOf(cell).add(other);
  linksOf(other.cell).add(cell.ref);
}

export function unlink(cell: ActorCell, from: CellRef): void {
  const other = from.cell.ref;
  cell.cold?.links?.delete(other);
  other.cell.cold?.links?.delete(cell.ref);
}

/** The actor has ended: the actors linked to it are stopped. */
export function stopLinked(ref: CellRef, cold: ColdState): void {
  for (const other of cold.links ?? []) {
    other.cell.cold?.links?.delete(ref);
    other.cell.requestStop();
  }
  cold.links = undefined;
}

function linksOf(cell: ActorCell): Set<CellRef> {
  const cold = cell.ensureCold();
  cold.links ??= new Set();
  return cold.links;
}
