import type { Job } from './job.js';

const PAGE_BITS = 7;
const PAGE = 1 << PAGE_BITS;

interface Page {
  readonly jobs: (Job | undefined)[];
  live: number;
}

/**
 * Jobs by number. Numbers are handed out in order, so pages of 128 make the map small: it never rehashes a million
 * entries in one stretch, and a page goes when its last job does.
 */
export class JobTable {
  size = 0;
  private readonly pages = new Map<number, Page>();
  private lastNo = -1;
  private lastPage: Page | undefined = undefined;

  get(no: number): Job | undefined {
    return this.page(no)?.jobs[no & (PAGE - 1)];
  }

  add(job: Job): void {
    let page = this.page(job.no);
    if (page === undefined) {
      page = { jobs: new Array<Job | undefined>(PAGE).fill(undefined), live: 0 };
      this.pages.set(pageNo(job.no), page);
      this.lastNo = -1;
    }
    page.jobs[job.no & (PAGE - 1)] = job;
    page.live += 1;
    this.size += 1;
  }

  remove(job: Job): void {
    const page = this.page(job.no);
    if (page === undefined || page.jobs[job.no & (PAGE - 1)] !== job) return;
    page.jobs[job.no & (PAGE - 1)] = undefined;
    page.live -= 1;
    this.size -= 1;
    if (page.live > 0) return;
    this.pages.delete(pageNo(job.no));
    this.lastNo = -1;
  }

  /** In the order of their numbers. */
  values(): Generator<Job> {
    return this.after(0);
  }

  /**
   * Those with a larger number, in order. Numbers only grow, so pages stand in the map in that order, and a walk over it may go on
   * after jobs have come and gone.
   */
  *after(no: number): Generator<Job> {
    const first = pageNo(no);
    for (const [number, page] of this.pages) {
      if (number < first) continue;
      for (const job of page.jobs) if (job !== undefined && job.no > no) yield job;
    }
  }

  private page(no: number): Page | undefined {
    const number = pageNo(no);
    if (number !== this.lastNo) {
      this.lastNo = number;
      this.lastPage = this.pages.get(number);
    }
    return this.lastPage;
  }
}

/** Division, not a shift: numbers go beyond 32 bits. The low seven bits are exact either way. */
function pageNo(no: number): number {
  return no < 0x8000_0000 ? no >>> PAGE_BITS : Math.floor(no / PAGE);
}
