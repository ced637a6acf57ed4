import { Ring } from '../../collections/ring.js';
import { PRIORITY_MAX } from '../../job/definition/job-policy.js';
import type { ExecQueue } from './exec-queue.js';

/** A class rises by one for each of these that its oldest job has waited (ADR 0425). */
const AGEING_MS = 10_000;

/** The queues of one priority, in turns. */
export class PriorityClass {
  readonly priority: number;
  readonly round = new Ring<ExecQueue>();
  /** Its priority with the age of its oldest job, as of the last tick. */
  level: number;
  /** The number of its latest turn: among equals the one that has waited longest is next. */
  turn = 0;

  constructor(priority: number) {
    this.priority = priority;
    this.level = priority;
  }

  /** `waitedMs`: of its oldest job that may begin. */
  age(waitedMs: number): void {
    this.level = Math.min(PRIORITY_MAX, this.priority + Math.floor(Math.max(0, waitedMs) / AGEING_MS));
  }
}
