// Hot path: ended jobs are compared when their page is archived and when a snapshot is written.
import type { Payload } from '../../job/payload/payload.js';
import { Job, type JobEnd, type OwnerState } from './job.js';

/**
 * Whether two done or cancelled jobs differ in nothing but number, times and result, so that one is a
 * template of the other.
 */
export function sharesTemplate(job: Job, template: Job): boolean {
  return (
    job.policy === template.policy &&
    job.client === template.client &&
    job.key === template.key &&
    job.dueAt === template.dueAt &&
    job.state === template.state &&
    job.attempt === template.attempt &&
    job.failures === template.failures &&
    job.crashes === template.crashes &&
    job.chunks === template.chunks &&
    job.end?.reason === template.end?.reason &&
    job.end?.failure === template.end?.failure &&
    job.end?.metadata === template.end?.metadata
  );
}

/** The fields that a template does not give. */
export interface OwnFields {
  readonly no: number;
  readonly at: number;
  readonly endAt: number;
  readonly result: Payload | undefined;
}

export function jobFromTemplate<State extends OwnerState>(
  template: Job<State>,
  { no, at, endAt, result }: OwnFields,
): Job<State> {
  const { policy, client, key, payload, dueAt } = template;
  const job = new Job<State>(no, policy, client, at, key, payload, dueAt);
  job.state = template.state;
  job.attempt = template.attempt;
  job.failures = template.failures;
  job.crashes = template.crashes;
  job.chunks = template.chunks;
  const { reason, failure, metadata } = template.end as JobEnd; // a template has ended
  job.end = { at: endAt, result, reason, failure, ...(metadata === undefined ? {} : { metadata }) };
  return job;
}
