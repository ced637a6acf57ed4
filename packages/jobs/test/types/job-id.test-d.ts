import { type JobsEvent, jobId, type LeaderOverview } from '@troupe/jobs';

export const idOfDead = ({ tag }: LeaderOverview, event: JobsEvent & { kind: 'dead' }): string =>
  jobId(tag, event.job);
// @ts-expect-error an id is made of a number, not of an id
export const twice: string = jobId('k3f9a', 'k3f9a-1');
