import { ANY } from '../../job/any-schema.js';
import { defineJob } from '../../job/define-job.js';
import type { JobSpec } from '../../job/job-spec.js';

/** The one queue of the minimal dialect. */
export const MINIMAL_EXEC = 'default';

/** The defaults of every job. */
export const MINIMAL_SPEC: JobSpec = defineJob(MINIMAL_EXEC, { input: ANY, output: ANY }).spec;
