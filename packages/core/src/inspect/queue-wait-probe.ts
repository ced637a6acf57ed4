import type { ActorCell } from '../actor/actor-cell.js';

/**
 * Follows the last message of one mailbox from a look at the clock to the turn that has handled it: a wait that was
 * measured, not reckoned. One mailbox at a time, and nothing per message: only how many were handled is compared.
 */
export class QueueWaitProbe {
  readonly cell: ActorCell;
  readonly depth: number;
  readonly since: number;
  private readonly handledWhenDone: number;

  constructor(cell: ActorCell, now: number) {
    this.cell = cell;
    this.depth = cell.queue.length;
    this.since = now;
    this.handledWhenDone = handledBy(cell) + this.depth;
  }

  /** The message was handled, or will never be. */
  get isOver(): boolean {
    return !this.cell.isCurrent || handledBy(this.cell) >= this.handledWhenDone;
  }
}

function handledBy(cell: ActorCell): number {
  return cell.type.runtime.ready.handledBy(cell.slot);
}
