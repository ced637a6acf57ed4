import type { QueueLimits, QueueMode } from '../../../job/queue-control.js';
import type { QueueControl } from '../../../ledger/queue-controls.js';
import type { ExecQueue } from '../exec-queue.js';
import { TokenBucket } from './token-bucket.js';

/**
 * Mode, running attempts and rate of one `group/exec`, or of all queues, as an operator has set them.
 * Queues that it stops are parked here, outside the round of queues, until it opens.
 */
export class QueueGate {
  readonly queue: string;
  mode: QueueMode = 'open';
  limits: QueueLimits = {};
  running: number;
  private bucket: TokenBucket | undefined = undefined;
  private parked: ExecQueue[] = [];

  /** `running`: its attempts so far. */
  constructor(queue: string, running: number) {
    this.queue = queue;
    this.running = running;
  }

  /** `emptyAt`: of the bucket of a new rate. */
  change({ mode, limits }: Pick<QueueControl, 'mode' | 'limits'>, emptyAt: number): void {
    const { rate } = limits;
    const isSame = JSON.stringify(rate) === JSON.stringify(this.limits.rate);
    if (!isSame) this.bucket = rate === undefined ? undefined : new TokenBucket(rate, emptyAt);
    this.mode = mode;
    this.limits = limits;
  }

  isOpen(now: number): boolean {
    return this.mode !== 'paused' && this.hasRoom && (this.bucket?.has(1, now) ?? true);
  }

  get hasRoom(): boolean {
    return this.running < (this.limits.runningMax ?? Number.POSITIVE_INFINITY);
  }

  /** When its rate allows the next start; `now`: it does not stand in the way. */
  rateAt(now: number): number {
    return this.bucket?.timeOf(1, now) ?? now;
  }

  /** When it opens by itself; Infinity: an end or an operator opens it. */
  opensAt(now: number): number {
    return this.mode === 'paused' || !this.hasRoom ? Number.POSITIVE_INFINITY : this.rateAt(now);
  }

  get hasParked(): boolean {
    return this.parked.length > 0;
  }

  park(queue: ExecQueue): void {
    queue.isParked = true;
    this.parked.push(queue);
  }

  /** The queues that it held up. */
  takeParked(): readonly ExecQueue[] {
    const { parked } = this;
    this.parked = [];
    for (const queue of parked) queue.isParked = false;
    return parked;
  }

  started(now: number): void {
    this.running += 1;
    this.bucket?.take(now);
  }

  ended(): void {
    this.running -= 1;
  }
}
