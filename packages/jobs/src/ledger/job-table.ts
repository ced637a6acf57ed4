import type { Payload } from '../job/payload.js';
import type { Job } from './job.js';
import { JobPage, PAGE_JOBS, pageNo } from './job-page.js';

/**
 * Jobs by number. Numbers are handed out in order, so pages make the map small: it never rehashes a million entries in one stretch,
 * and a page goes when its last job does.
 */
export class JobTable {
  size = 0;
  private readonly pages = new Map<number, JobPage>();
  private lastNo = -1;
  private lastPage: JobPage | undefined = undefined;

  get(no: number): Job | undefined {
    return this.page(no)?.get(no);
  }

  /** Of a job that is done or cancelled: one that is like it in everything but number, times and result. Without putting it together. */
  templateOf(no: number): Job | undefined {
    return this.page(no)?.templateOf(no);
  }

  resultOf(no: number): Payload | undefined {
    return this.page(no)?.resultOf(no);
  }

  add(job: Job): void {
    let page = this.page(job.no);
    if (page === undefined) {
      page = new JobPage();
      this.pages.set(pageNo(job.no), page);
      this.lastNo = -1;
    }
    page.add(job);
    this.size += 1;
  }

  /** A job that is in the table is done or cancelled. From here on the object that it was need not be the one that `get` returns. */
  jobEnded(no: number): void {
    this.page(no)?.jobEnded(no);
  }

  /** A job that is in the table goes. */
  remove(no: number): void {
    const page = this.page(no);
    if (page === undefined) return;
    page.remove(no);
    this.size -= 1;
    if (page.live > 0) return;
    this.pages.delete(pageNo(no));
    this.lastNo = -1;
  }

  /** In the order of their numbers. */
  values(): Generator<Job> {
    return this.walk(0, true);
  }

  /** Those with a larger number, in order. */
  after(no: number): Generator<Job> {
    return this.walk(no, true);
  }

  /** In order, all that are not done or cancelled, and some that are. */
  unended(): Generator<Job> {
    return this.walk(0, false);
  }

  /**
   * Numbers only grow, so pages stand in the map in that order, and a walk over it may go on after jobs have come and gone. One generator
   * for all pages: a job is too little work for two.
   */
  private *walk(after: number, endedToo: boolean): Generator<Job> {
    const first = pageNo(after);
    for (const [number, page] of this.pages) {
      if (number < first || (page.isEnded && !endedToo)) continue;
      for (let place = 0; place < PAGE_JOBS; place += 1) {
        const job = page.at(place);
        if (job !== undefined && job.no > after) yield job;
      }
    }
  }

  private page(no: number): JobPage | undefined {
    const number = pageNo(no);
    if (number !== this.lastNo) {
      this.lastNo = number;
      this.lastPage = this.pages.get(number);
    }
    return this.lastPage;
  }
}
