// @troupe/jobs/runners: handlers that a worker enables by its lists, and the jobs that clients submit.
export { HttpStatusError, RunnerOutputError, RunnerRefusedError } from '../jobs-error.js';
export type { CommandChunk, CommandInput, CommandOutput } from './command/command-job.js';
export { command } from './command/command-job.js';
export type { AllowedCommand, CommandRunnerOptions } from './command/command-rules.js';
export { commandRunner } from './command/command-runner.js';
export type { HttpChunk, HttpInput, HttpOutput } from './http/http-job.js';
export { http } from './http/http-job.js';
export type { HttpRunnerOptions } from './http/http-rules.js';
export { httpRunner } from './http/http-runner.js';
