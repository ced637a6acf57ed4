import type { Client, JobView } from '@troupe/jobs';

/** A job as the API shows it: by its id instead of its number. */
export function shownJob(client: Client, { job, ...view }: JobView): object {
  return { id: client.idOf(job), ...view };
}
