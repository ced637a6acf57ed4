import type { JobOutcome } from '@troupe/jobs';

const ended = { job: 1, state: 'done', result: '1', reason: '', failure: undefined } as const;

export const answered: JobOutcome = { ...ended, seq: 7 };

// @ts-expect-error Whether it is the receipt of a submit as well must be said.
export const half: JobOutcome = ended;
