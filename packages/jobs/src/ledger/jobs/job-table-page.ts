import type { Payload } from '../../job/payload/payload.js';
import type { Job, JobState, OwnerState } from './job.js';
import { JobArchive } from './job-archive.js';

const PAGE_BITS = 7;
export const PAGE_JOBS = 1 << PAGE_BITS;

/** Fields of a search that a whole page may not fit. */
export interface PageFilter {
  readonly state?: JobState | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

const FIRST = { from: 0, step: 1 };
const LAST_FIRST = { from: PAGE_JOBS - 1, step: -1 };

/** Jobs with consecutive numbers. Once all of them are done or cancelled they are archived. */
export class JobTablePage<State extends OwnerState = OwnerState> {
  /** Jobs that were not removed. */
  size = 0;
  private endedCount = 0;
  private jobs: (Job<State> | undefined)[] = new Array<Job<State> | undefined>(PAGE_JOBS).fill(undefined);
  private archive: JobArchive<State> | undefined = undefined;

  get(no: number): Job<State> | undefined {
    return this.at(indexOf(no));
  }

  at(index: number): Job<State> | undefined {
    return this.archive === undefined ? this.jobs[index] : this.archive.get(index);
  }

  templateOf(no: number): Job<State> | undefined {
    return this.archive === undefined ? this.jobs[indexOf(no)] : this.archive.templateOf(indexOf(no));
  }

  resultOf(no: number): Payload | undefined {
    if (this.archive === undefined) return this.jobs[indexOf(no)]?.end?.result;
    return this.archive.resultOf(indexOf(no));
  }

  add(job: Job<State>): void {
    this.jobs[indexOf(job.no)] = job;
    this.size += 1;
  }

  remove(no: number): void {
    if (this.archive === undefined) this.jobs[indexOf(no)] = undefined;
    else this.archive.remove(indexOf(no));
    this.size -= 1;
  }

  /** A job is done or cancelled, which is final; a dead one may be redriven. */
  jobEnded(no: number): void {
    this.endedCount += 1;
    if (this.endedCount < PAGE_JOBS) return;
    this.archive = new JobArchive(no - indexOf(no), this.jobs);
    this.jobs = [];
  }

  /** Whether one of its jobs may be in this state, and submitted within these times. */
  mayHave({ state, since = 0, until }: PageFilter): boolean {
    if (this.isArchived && (state === 'queued' || state === 'running' || state === 'dead')) return false;
    if ((state === 'done' || state === 'cancelled') && this.endedCount === 0) return false;
    // Jobs are numbered in the order of their times.
    return (
      (since === 0 || this.timeOf(LAST_FIRST) >= since) && (until === undefined || this.timeOf(FIRST) < until)
    );
  }

  /** When the first or the last of its jobs was submitted. */
  private timeOf({ from, step }: typeof FIRST): number {
    for (let index = from; index >= 0 && index < PAGE_JOBS; index += step) {
      const job = this.at(index);
      if (job !== undefined) return job.at;
    }
    return 0;
  }

  get isArchived(): boolean {
    return this.archive !== undefined;
  }
}

/** Division, not a shift, beyond 32 bits. The low seven bits are exact either way. */
export function pageNo(no: number): number {
  return no < 0x8000_0000 ? no >>> PAGE_BITS : Math.floor(no / PAGE_JOBS);
}

function indexOf(no: number): number {
  return no & (PAGE_JOBS - 1);
}
