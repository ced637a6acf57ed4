export type {
  HandlerInput,
  HandlerOutput,
  JobDefinition,
  JobInput,
  JobOptions,
  JobOutput,
} from './job/define-job.js';
export { defineJob } from './job/define-job.js';
