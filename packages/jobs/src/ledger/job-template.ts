// Hot path: jobs that have ended are compared when their page is closed and when a snapshot is written.
import type { Payload } from '../job/payload.js';
import { Job, type JobEnd } from './job.js';

/** Of two jobs that are done or cancelled: the same in everything but number, times and result. */
export function sharesTemplate(job: Job, model: Job): boolean {
  return (
    job.policy === model.policy &&
    job.client === model.client &&
    job.key === model.key &&
    job.dueAt === model.dueAt &&
    job.state === model.state &&
    job.attempt === model.attempt &&
    job.failures === model.failures &&
    job.crashes === model.crashes &&
    job.end?.reason === model.end?.reason &&
    job.end?.failure === model.end?.failure
  );
}

/** What it has of its own. */
export interface OwnFacts {
  readonly no: number;
  readonly at: number;
  readonly endAt: number;
  readonly result: Payload | undefined;
}

/** A job that is like `model`, which has ended. */
export function jobFromTemplate(model: Job, { no, at, endAt, result }: OwnFacts): Job {
  const job = new Job(no, model.policy, model.client, at, model.key, model.payload, model.dueAt);
  job.state = model.state;
  job.attempt = model.attempt;
  job.failures = model.failures;
  job.crashes = model.crashes;
  const { reason, failure } = model.end as JobEnd; // it has ended
  job.end = { at: endAt, result, reason, failure };
  return job;
}
