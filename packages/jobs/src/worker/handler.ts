import { describe, flag, type OptionRule, rule } from '@troupe/core/option-check';
import {
  type HandlerChunk,
  type HandlerFeed,
  type HandlerInput,
  type HandlerOutput,
  isDefinition,
  type JobDefinition,
} from '../job/define-job.js';
import { JobDefinitionError } from '../jobs-error.js';
import { checkOptions } from '../option-check.js';
import type { JobFeed } from './feed/job-feed.js';

/** A handler's second argument. */
export interface AttemptContext<Item = unknown> {
  /** The id of the job. */
  readonly jobId: string;
  /** Grows with every delivery of the job: a fence for writes to other systems. */
  readonly attempt: number;
  /** The submitter: identity and name. */
  readonly client: string;
  /** Fires when the job is cancelled, the lease is lost, the run time is over or the worker drains. */
  readonly signal: AbortSignal;
  /** The items that clients feed. Of a job that is not fed it has ended. */
  readonly feed: JobFeed<Item>;
}

export type Handler<D extends JobDefinition> = (
  input: HandlerInput<D>,
  context: AttemptContext<HandlerFeed<D>>,
) =>
  | HandlerOutput<D>
  | Promise<HandlerOutput<D>>
  // A generator without a return value has its collected chunks as output. `void` is its type then.
  | AsyncGenerator<HandlerChunk<D>, HandlerOutput<D> | undefined | void, void>;

/** A job definition with its handler. Made by {@link handle} only, which checks that they fit. */
export interface HandledJob {
  readonly job: JobDefinition;
  readonly run: (input: unknown, context: AttemptContext) => unknown;
  readonly sharesThread: boolean;
}

export interface HandlerOptions {
  /**
   * On a worker with threads, attempts of this handler may run beside others of the same kind on one thread:
   * for handlers that mostly wait. Default false.
   */
  readonly sharesThread?: boolean | undefined;
}

const OPTION_RULES = { sharesThread: flag };

/** Joins a job definition and its handler. */
export function handle<D extends JobDefinition>(
  job: D,
  run: Handler<D>,
  options: HandlerOptions = {},
): HandledJob {
  if (!isDefinition(job))
    throw new JobDefinitionError('handle', `needs a job made by defineJob, got ${describe(job)}`);
  if (typeof run !== 'function')
    throw new JobDefinitionError(`job '${job.exec}'`, 'its handler must be a function');
  checkOptions(`handle '${job.exec}'`, options, OPTION_RULES);
  // The worker passes the value that the input schema returned, which has the handler's input type.
  return { job, run: run as HandledJob['run'], sharesThread: options.sharesThread ?? false };
}

export function isHandledJob(value: unknown): value is HandledJob {
  const { job, run } = (value ?? {}) as Partial<HandledJob>;
  return typeof run === 'function' && isDefinition(job);
}

export const handledJob: OptionRule = rule('a value made by handle(job, run)', isHandledJob);
