import type { Payload } from '../../job/payload/payload.js';
import type { Job, OwnerState } from './job.js';
import { JobTablePage, PAGE_JOBS, type PageFilter, pageNo } from './job-table-page.js';

/**
 * Jobs by number. Numbers are handed out in order, so pages keep the map small: it never rehashes a million
 * entries at once, and a page is dropped with its last job.
 */
export class JobTable<State extends OwnerState = OwnerState> {
  size = 0;
  private readonly pages = new Map<number, JobTablePage<State>>();
  private lastNo = -1;
  private lastPage: JobTablePage<State> | undefined = undefined;

  get(no: number): Job<State> | undefined {
    return this.page(no)?.get(no);
  }

  /** A job that shares its template with this done or cancelled one, which is not rebuilt for it. */
  templateOf(no: number): Job<State> | undefined {
    return this.page(no)?.templateOf(no);
  }

  resultOf(no: number): Payload | undefined {
    return this.page(no)?.resultOf(no);
  }

  add(job: Job<State>): void {
    let page = this.page(job.no);
    if (page === undefined) {
      page = new JobTablePage<State>();
      this.pages.set(pageNo(job.no), page);
      this.lastNo = -1;
    }
    page.add(job);
    this.size += 1;
  }

  /** A job of the table is done or cancelled. From here on `get` may return another object for it. */
  jobEnded(no: number): void {
    this.page(no)?.jobEnded(no);
  }

  remove(no: number): void {
    const page = this.page(no);
    if (page === undefined) return;
    page.remove(no);
    this.size -= 1;
    if (page.size > 0) return;
    this.pages.delete(pageNo(no));
    this.lastNo = -1;
  }

  /** In the order of their numbers. */
  values(): Generator<Job<State>> {
    return this.walk(0, { withArchived: true });
  }

  /** Jobs with a larger number, in order. */
  after(no: number): Generator<Job<State>> {
    return this.walk(no, { withArchived: true });
  }

  /** Every live or dead job, in order, and the done and cancelled ones that are not archived yet. */
  unended(): Generator<Job<State>> {
    return this.walk(0, { withArchived: false });
  }

  /** Pages in order. */
  pageNumbers(): Iterable<number> {
    return this.pages.keys();
  }

  hasPage(number: number): boolean {
    return this.pages.has(number);
  }

  /** False: no job of the page fits. */
  mayHave(number: number, filter: PageFilter): boolean {
    return this.pages.get(number)?.mayHave(filter) === true;
  }

  *ofPage(number: number): Generator<Job<State>> {
    for (let index = 0; index < PAGE_JOBS; index += 1) {
      // Others may have been dropped since the last one.
      const job = this.pages.get(number)?.at(index);
      if (job !== undefined) yield job;
    }
  }

  /** For every job, in order, one that shares its template: an archived one is not rebuilt. */
  *templates(): Generator<readonly [no: number, template: Job<State>]> {
    for (const [number, page] of this.pages) {
      for (let index = 0; index < PAGE_JOBS; index += 1) {
        const no = number * PAGE_JOBS + index;
        const template = page.templateOf(no);
        if (template !== undefined) yield [no, template];
      }
    }
  }

  /**
   * Numbers only grow, so pages stand in the map in that order, and a walk may continue after jobs were added
   * and removed. One generator for all pages: a job is too little work for two.
   */
  private *walk(after: number, { withArchived }: { readonly withArchived: boolean }): Generator<Job<State>> {
    const first = pageNo(after);
    for (const [number, page] of this.pages) {
      if (number < first || (page.isArchived && !withArchived)) continue;
      for (let index = 0; index < PAGE_JOBS; index += 1) {
        const job = page.at(index);
        if (job !== undefined && job.no > after) yield job;
      }
    }
  }

  private page(no: number): JobTablePage<State> | undefined {
    const number = pageNo(no);
    if (number !== this.lastNo) {
      this.lastNo = number;
      this.lastPage = this.pages.get(number);
    }
    return this.lastPage;
  }
}
