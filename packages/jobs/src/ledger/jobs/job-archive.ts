// Hot path: a job that ends passes through here once.
import type { Payload } from '../../job/payload/payload.js';
import { jobFromTemplate, sharesTemplate } from './ended-job-template.js';
import type { Job, OwnerState } from './job.js';

/**
 * A page of jobs that are done or cancelled. Most of them are never read again and share a template with
 * their neighbours, so only times and result are kept of each: a quarter of a million objects would cost the
 * garbage collector more than the jobs cost the leader (ADR 0417). A job is rebuilt when it is read; it does
 * not change any more, so the object may be another.
 */
export class JobArchive<State extends OwnerState = OwnerState> {
  /** The template of each job by index; undefined where the job was removed. */
  private readonly templates: (Job<State> | undefined)[];
  private readonly times: readonly number[];
  private readonly endTimes: readonly number[];
  private readonly results: (Payload | undefined)[];
  private readonly firstNo: number;

  /** `firstNo` is the number of the job at index 0. Every job has ended. */
  constructor(firstNo: number, jobs: readonly (Job<State> | undefined)[]) {
    this.firstNo = firstNo;
    let template: Job<State> | undefined;
    this.templates = jobs.map((job) => {
      if (template === undefined || (job !== undefined && !sharesTemplate(job, template))) template = job;
      return job === undefined ? undefined : template;
    });
    this.times = jobs.map((job) => job?.at ?? 0);
    this.endTimes = jobs.map((job) => job?.end?.at ?? 0);
    this.results = jobs.map((job, index) => {
      const shared = this.templates[index]?.end?.result;
      // Equal strings are kept once.
      return job?.end?.result === shared ? shared : job?.end?.result;
    });
  }

  get(index: number): Job<State> | undefined {
    const template = this.templates[index];
    if (template === undefined) return undefined;
    return jobFromTemplate(template, {
      no: this.firstNo + index,
      at: this.times[index] as number,
      endAt: this.endTimes[index] as number,
      result: this.results[index],
    });
  }

  templateOf(index: number): Job<State> | undefined {
    return this.templates[index];
  }

  resultOf(index: number): Payload | undefined {
    return this.results[index];
  }

  remove(index: number): void {
    this.templates[index] = undefined;
    this.results[index] = undefined;
  }
}
