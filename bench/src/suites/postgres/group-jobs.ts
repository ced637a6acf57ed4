import { defineJob } from '@troupe/jobs';
import { anyValue } from '../jobs/job-definitions.js';
import type { Payload, Result } from '../jobs/payload.js';

/** The same job in two groups, which may have leaders of their own. */
export const GROUP_JOBS = [
  defineJob('left.digest', { input: anyValue<Payload>(), output: anyValue<Result>() }),
  defineJob('right.digest', { input: anyValue<Payload>(), output: anyValue<Result>() }),
] as const;
