import { ANY } from '../../job/definition/any-schema.js';
import { defineJob } from '../../job/definition/define-job.js';
import type { JobPolicy } from '../../job/definition/job-policy.js';

/** The one queue of the minimal dialect. */
export const MINIMAL_EXEC = 'default';

/** The defaults of every job. */
export const MINIMAL_POLICY: JobPolicy = defineJob(MINIMAL_EXEC, { input: ANY, output: ANY }).policy;
