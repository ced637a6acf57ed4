// Hot path: `add` and `acknowledge` run once per attempt.
import type { AttemptEnd, AttemptRange, AttemptRef } from '../../protocol/worker/worker-messages.js';
import { attemptKey } from './attempt.js';

/**
 * The ends of attempts that the leader has not acknowledged. Only the end is kept: it waits for the leader
 * longer than its attempt ran.
 */
export class UnacknowledgedEnds {
  private readonly ends = new Map<number, AttemptEnd>();
  private readonly onForgotten: (job: number, attempt: number) => void;

  /** `onForgotten`: nothing of the attempt is needed any more. */
  constructor(onForgotten: (job: number, attempt: number) => void) {
    this.onForgotten = onForgotten;
  }

  get size(): number {
    return this.ends.size;
  }

  has(key: number): boolean {
    return this.ends.has(key);
  }

  all(): AttemptEnd[] {
    return [...this.ends.values()];
  }

  add(key: number, end: AttemptEnd): void {
    this.ends.set(key, end);
  }

  /** True: there was one of them. */
  acknowledge({ job, attempt, count }: AttemptRange): boolean {
    const before = this.ends.size;
    for (let i = 0; i < count && this.ends.size > 0; i += 1) {
      this.ends.delete(attemptKey(job + i, attempt));
      this.onForgotten(job + i, attempt);
    }
    return this.ends.size < before;
  }

  /** The leader has refused it: it came too late. */
  takeStale({ job, attempt }: AttemptRef): AttemptEnd | undefined {
    const key = attemptKey(job, attempt);
    const end = this.ends.get(key);
    if (end === undefined) return undefined;
    this.ends.delete(key);
    this.onForgotten(job, attempt);
    return end;
  }

  clear(): void {
    this.ends.clear();
  }
}
