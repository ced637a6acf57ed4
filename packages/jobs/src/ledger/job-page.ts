import type { Payload } from '../job/payload.js';
import type { Job } from './job.js';
import { JobArchive } from './job-archive.js';

const PAGE_BITS = 7;
export const PAGE_JOBS = 1 << PAGE_BITS;

/** Jobs with consecutive numbers. Once the last of them has ended they are kept as {@link JobArchive}. */
export class JobPage {
  live = 0;
  private endedCount = 0;
  private jobs: (Job | undefined)[] = new Array<Job | undefined>(PAGE_JOBS).fill(undefined);
  private ended: JobArchive | undefined = undefined;

  get(no: number): Job | undefined {
    return this.at(placeOf(no));
  }

  at(place: number): Job | undefined {
    return this.ended === undefined ? this.jobs[place] : this.ended.get(place);
  }

  templateOf(no: number): Job | undefined {
    return this.ended === undefined ? this.jobs[placeOf(no)] : this.ended.like(placeOf(no));
  }

  resultOf(no: number): Payload | undefined {
    return this.ended === undefined ? this.jobs[placeOf(no)]?.end?.result : this.ended.resultOf(placeOf(no));
  }

  add(job: Job): void {
    this.jobs[placeOf(job.no)] = job;
    this.live += 1;
  }

  remove(no: number): void {
    if (this.ended === undefined) this.jobs[placeOf(no)] = undefined;
    else this.ended.remove(placeOf(no));
    this.live -= 1;
  }

  /** A job is done or cancelled: for good, unlike one that is dead. */
  jobEnded(no: number): void {
    this.endedCount += 1;
    if (this.endedCount < PAGE_JOBS) return;
    this.ended = new JobArchive(no - placeOf(no), this.jobs);
    this.jobs = [];
  }

  /** All of them are done or cancelled. */
  get isEnded(): boolean {
    return this.ended !== undefined;
  }
}

/** Division, not a shift: numbers go beyond 32 bits. The low seven bits are exact either way. */
export function pageNo(no: number): number {
  return no < 0x8000_0000 ? no >>> PAGE_BITS : Math.floor(no / PAGE_JOBS);
}

function placeOf(no: number): number {
  return no & (PAGE_JOBS - 1);
}
