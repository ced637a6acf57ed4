import { JobForeignError } from '../jobs-error.js';

/** The id of a job for people. The tag identifies the leader's folder; `overview()` returns it. */
export function jobId(tag: string, job: number): string {
  return `${tag}-${job.toString(36)}`;
}

export function parseJobId(tag: string, id: string): number {
  if (typeof id !== 'string') throw new JobForeignError(String(id), tag);
  const dash = id.lastIndexOf('-');
  const digits = id.slice(dash + 1);
  const job = Number.parseInt(digits, 36);
  const own = id.slice(0, Math.max(dash, 0)) === tag;
  if (!own || !Number.isSafeInteger(job) || job < 1 || job.toString(36) !== digits)
    throw new JobForeignError(id, tag);
  return job;
}
