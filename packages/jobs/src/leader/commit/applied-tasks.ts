import { Ring } from '../../collections/ring.js';

/** No turn runs more of them than a few milliseconds take. */
const TASKS_PER_TURN = 2_048;

/** Commands about jobs whose records are not durable yet: they run once these are applied. */
export class AppliedTasks {
  private waiting: (() => void)[] = [];
  /** The records of these are applied. */
  private readonly ready = new Ring<() => void>();

  get size(): number {
    return this.waiting.length + this.ready.size;
  }

  get hasReady(): boolean {
    return this.ready.size > 0;
  }

  add(run: () => void): void {
    this.waiting.push(run);
  }

  /** Every record staged so far is applied. */
  release(): void {
    if (this.waiting.length === 0) return;
    for (const run of this.waiting) this.ready.push(run);
    this.waiting = [];
  }

  runSome(): void {
    for (let left = TASKS_PER_TURN; left > 0 && this.ready.size > 0; left -= 1) this.ready.shift()?.();
  }
}
