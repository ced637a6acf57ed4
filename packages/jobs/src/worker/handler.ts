import { describe, type OptionRule, rule } from '@troupe/core/option-check';
import {
  type HandlerInput,
  type HandlerOutput,
  isDefinition,
  type JobDefinition,
} from '../job/define-job.js';
import { JobDefinitionError } from '../jobs-error.js';

/** A handler's second argument. */
export interface AttemptContext {
  /** The id of the job. */
  readonly jobId: string;
  /** Grows with every delivery of the job: a fence for writes to other systems. */
  readonly attempt: number;
  /** The submitter: identity and name. */
  readonly client: string;
  /** Fires when the job is cancelled, the lease is lost, the run time is over or the worker drains. */
  readonly signal: AbortSignal;
}

export type Handler<D extends JobDefinition> = (
  input: HandlerInput<D>,
  context: AttemptContext,
) => HandlerOutput<D> | Promise<HandlerOutput<D>>;

/** A job definition with its handler. Made by {@link handle} only, which checks that they fit. */
export interface HandledJob {
  readonly job: JobDefinition;
  readonly run: (input: unknown, context: AttemptContext) => unknown;
}

/** Joins a job definition and its handler. */
export function handle<D extends JobDefinition>(job: D, run: Handler<D>): HandledJob {
  if (!isDefinition(job))
    throw new JobDefinitionError('handle', `needs a job made by defineJob, got ${describe(job)}`);
  if (typeof run !== 'function')
    throw new JobDefinitionError(`job '${job.exec}'`, 'its handler must be a function');
  // The worker passes the value that the input schema returned, which has the handler's input type.
  return { job, run: run as HandledJob['run'] };
}

export const handledJob: OptionRule = rule('a value made by handle(job, run)', (value) => {
  const { job, run } = (value ?? {}) as Partial<HandledJob>;
  return typeof run === 'function' && isDefinition(job);
});
