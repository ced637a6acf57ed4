import type { ActorCell } from '../actor/actor-cell.js';
import type { ReadyQueueCoordinator } from '../run-queue/ready-queue-coordinator.js';

/**
 * Measures how long the last message of one mailbox waits: from a clock read to the turn that has handled it.
 * One mailbox at a time, and nothing per message: only the number of handled messages is compared.
 */
export class QueueWaitProbe {
  readonly cell: ActorCell;
  readonly depth: number;
  readonly since: number;
  private readonly ready: ReadyQueueCoordinator<ActorCell>;
  private readonly handledWhenDone: number;

  constructor(ready: ReadyQueueCoordinator<ActorCell>, cell: ActorCell, now: number) {
    this.ready = ready;
    this.cell = cell;
    this.depth = cell.queue.length;
    this.since = now;
    this.handledWhenDone = ready.handledBy(cell.slot) + this.depth;
  }

  /** The message was handled, or will never be. */
  get isOver(): boolean {
    return !this.cell.isCurrent || this.ready.handledBy(this.cell.slot) >= this.handledWhenDone;
  }
}
