// Hot path: a job that ends passes through here once.
import type { Payload } from '../job/payload.js';
import type { Job } from './job.js';
import { jobFromTemplate, sharesTemplate } from './job-template.js';

/**
 * Jobs that are done or cancelled. Most of them are looked at never again and are like their neighbours but for times and result, so
 * that is all that is kept of each; a quarter of a million objects would cost the collector more than the jobs cost the leader (ADR 0132). A job
 * is put together when it is asked for: nothing about it changes any more, so nobody misses the object that it was.
 */
export class JobArchive {
  /** A job that it is like, by place; undefined where there is none any more. */
  private readonly models: (Job | undefined)[];
  private readonly times: readonly number[];
  private readonly endTimes: readonly number[];
  private readonly results: (Payload | undefined)[];
  private readonly firstNo: number;

  /** `firstNo` is the number of the first place. Every job has ended. */
  constructor(firstNo: number, jobs: readonly (Job | undefined)[]) {
    this.firstNo = firstNo;
    let model: Job | undefined;
    this.models = jobs.map((job) => {
      if (model === undefined || (job !== undefined && !sharesTemplate(job, model))) model = job;
      return job === undefined ? undefined : model;
    });
    this.times = jobs.map((job) => job?.at ?? 0);
    this.endTimes = jobs.map((job) => job?.end?.at ?? 0);
    this.results = jobs.map((job, place) => {
      const same = this.models[place]?.end?.result;
      // Equal texts are one text.
      return job?.end?.result === same ? same : job?.end?.result;
    });
  }

  get(place: number): Job | undefined {
    const model = this.models[place];
    if (model === undefined) return undefined;
    return jobFromTemplate(model, {
      no: this.firstNo + place,
      at: this.times[place] as number,
      endAt: this.endTimes[place] as number,
      result: this.results[place],
    });
  }

  like(place: number): Job | undefined {
    return this.models[place];
  }

  resultOf(place: number): Payload | undefined {
    return this.results[place];
  }

  remove(place: number): void {
    this.models[place] = undefined;
    this.results[place] = undefined;
  }
}
