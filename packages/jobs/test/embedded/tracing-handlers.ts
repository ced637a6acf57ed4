import { defineJob, handle } from '@troupe/jobs/worker';
import { anything, aString } from '../plain-schema.js';

export const seen = handle(
  defineJob('trace.seen', { input: aString, output: anything }),
  (_input, { trace }) => trace ?? null,
);
