import { defineJob } from '@troupe/jobs';
import type { Payload, Result } from './payload.js';

/** A schema that accepts any value, so that no validator is measured. */
export function anyValue<T>() {
  return {
    '~standard': {
      version: 1 as const,
      vendor: 'bench',
      validate: (value: unknown) => ({ value: value as T }),
      types: undefined as { input: T; output: T } | undefined,
    },
  };
}

export const digest = defineJob('bench.digest', { input: anyValue<Payload>(), output: anyValue<Result>() });
/** No worker serves these jobs: they stay queued. */
export const waiting = defineJob('bench.waiting', { input: anyValue<Payload>(), output: anyValue<Result>() });
