import { defineJob } from '../job/define-job.js';
import type { JobSpec } from '../job/job-spec.js';

/** The one queue of the minimal dialect. */
export const MINIMAL_EXEC = 'default';

const BYTES = {
  '~standard': { version: 1, vendor: 'troupe', validate: (value: unknown) => ({ value }) },
} as const;

/** Jobs of the minimal dialect have the defaults of every job. */
export const MINIMAL_SPEC: JobSpec = defineJob(MINIMAL_EXEC, { input: BYTES, output: BYTES }).spec;
