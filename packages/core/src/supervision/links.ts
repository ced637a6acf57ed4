import type { ActorCell } from '../actor/cell.js';
import type { Extras } from '../actor/cold-state.js';
import { MisuseError } from '../errors.js';
import { TERMINATED } from '../mailbox/status.js';
import type { RefBase } from '../ref/ref-class.js';

/**
 * Actors that end together: when one of two linked actors has ended, for whatever reason, the other is stopped. A restart
 * is no end, so links outlive it.
 */
export function link(cell: ActorCell, to: RefBase): void {
  const other = to.cell.ref;
  if (other === cell.ref) throw new MisuseError(`${cell.path}: link: an actor cannot be linked to itself`);
  if ((other.cell.status & TERMINATED) !== 0) {
    cell.requestStop();
    return;
  }
  linksOf(cell).add(other);
  linksOf(other.cell).add(cell.ref);
}

export function unlink(cell: ActorCell, from: RefBase): void {
  const other = from.cell.ref;
  cell.extras?.links?.delete(other);
  other.cell.extras?.links?.delete(cell.ref);
}

/** One of them has ended. */
export function endLinked(ref: RefBase, extras: Extras): void {
  for (const other of extras.links ?? []) {
    other.cell.extras?.links?.delete(ref);
    other.cell.requestStop();
  }
  extras.links = undefined;
}

function linksOf(cell: ActorCell): Set<RefBase> {
  const extras = cell.needExtras();
  extras.links ??= new Set();
  return extras.links;
}
