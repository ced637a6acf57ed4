import type { ActorCell } from '../actor/actor-cell.js';

/** Keeps the slowest message that an actor has handled, for `inspect`. */
export function recordSlowestMessage(cell: ActorCell, message: string | undefined, ms: number): void {
  if (message === undefined || !cell.isCurrent) return;
  const cold = cell.ensureCold();
  if (ms <= (cold.slowest?.ms ?? 0)) return;
  cold.slowest = { message, ms };
}
