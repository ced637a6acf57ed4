import type { Job, OwnerState } from './job.js';

/**
 * Jobs by time, earliest first; equal times by number. A job knows its place, so that it can be removed from
 * the middle; it is in one such heap at most.
 */
export class JobHeap<State extends OwnerState = OwnerState> {
  private readonly times: number[] = [];
  private readonly jobs: Job<State>[] = [];

  get size(): number {
    return this.jobs.length;
  }

  /** The earliest time, or Infinity. */
  get nextAt(): number {
    return this.times[0] ?? Number.POSITIVE_INFINITY;
  }

  /** In no order. */
  values(): Iterable<Job<State>> {
    return this.jobs;
  }

  push(time: number, job: Job<State>): void {
    this.times.push(time);
    this.jobs.push(job);
    this.rise(this.jobs.length - 1, time, job);
  }

  pop(): Job<State> | undefined {
    const first = this.jobs[0];
    if (first !== undefined) this.remove(first);
    return first;
  }

  /** False: it is in no heap. */
  remove(job: Job<State>): boolean {
    const gap = job.heapIndex;
    if (gap < 0) return false;
    job.heapIndex = -1;
    const time = this.times.pop() as number;
    const last = this.jobs.pop() as Job<State>;
    if (last !== job) this.rise(this.sinkGap(gap), time, last);
    return true;
  }

  private rise(at: number, time: number, job: Job<State>): void {
    let gap = at;
    while (gap > 0) {
      const up = (gap - 1) >> 1;
      if (!this.isBefore(time, job.no, up)) break;
      this.put(gap, this.times[up] as number, this.jobs[up] as Job<State>);
      gap = up;
    }
    this.put(gap, time, job);
  }

  /** Moves the earlier child into the gap, down to the last level. Returns the place of the gap then. */
  private sinkGap(at: number): number {
    const { times, jobs } = this;
    let gap = at;
    for (;;) {
      let child = 2 * gap + 1;
      if (child >= jobs.length) return gap;
      const right = child + 1;
      if (right < jobs.length && this.isBefore(times[right] as number, (jobs[right] as Job<State>).no, child))
        child = right;
      this.put(gap, times[child] as number, jobs[child] as Job<State>);
      gap = child;
    }
  }

  private isBefore(time: number, no: number, at: number): boolean {
    const other = this.times[at] as number;
    return time < other || (time === other && no < (this.jobs[at] as Job<State>).no);
  }

  private put(at: number, time: number, job: Job<State>): void {
    this.times[at] = time;
    this.jobs[at] = job;
    job.heapIndex = at;
  }
}
