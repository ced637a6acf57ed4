import { defineJob } from '@troupe/jobs';
import type { Payload, Result } from './payload.js';

/** A schema that accepts any value: the figures are of the job system, not of a validator. */
function anyOf<T>() {
  return {
    '~standard': {
      version: 1 as const,
      vendor: 'bench',
      validate: (value: unknown) => ({ value: value as T }),
      types: undefined as { input: T; output: T } | undefined,
    },
  };
}

export const digest = defineJob('bench.digest', { input: anyOf<Payload>(), output: anyOf<Result>() });
/** No worker serves it: its jobs wait. */
export const waiting = defineJob('bench.waiting', { input: anyOf<Payload>(), output: anyOf<Result>() });
