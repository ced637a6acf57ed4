import { callback, describe, flag, type OptionRule, rule } from '@troupe/core/option-check';
import {
  type HandlerChunk,
  type HandlerFeed,
  type HandlerInput,
  type HandlerOutput,
  isDefinition,
  type JobDefinition,
} from '../../job/definition/define-job.js';
import type { TraceContext } from '../../job/trace-context.js';
import type { Trailer } from '../../job/trailer.js';
import { JobDefinitionError } from '../../jobs-error.js';
import { checkOptions } from '../../option-check.js';
import type { JobFeed } from '../feed/job-feed.js';
import { poolRule, type RunnerPoolOptions, runnerName } from '../runners/runner-plan.js';

/** A handler's second argument. Its methods may be taken out of it. */
export interface AttemptContext<Loaded = unknown, Item = unknown> {
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
  /**
   * The trace context of this attempt on a worker with `tracing`, else the one that travelled with the job;
   * for calls to other systems.
   */
  readonly trace: TraceContext | undefined;
  /** The value that `load` resolved with. */
  readonly loaded: Loaded;
  /**
   * How far the attempt is, from 0 to 1, and a note for people. Readable while it runs by `job.progress()`
   * and `troupe show`; never stored. Calls may be frequent: the latest leaves a few times a second.
   */
  readonly progress: (share: number, note?: string) => void;
  /** Adds a line to the log of the attempt, read in the same way; the latest 100 are kept. */
  readonly log: (line: string) => void;
  /** Adds metadata to the end of the stream; a later value of a name replaces the earlier one. */
  readonly trailer: (metadata: Trailer) => void;
  /**
   * Ends the attempt by an error that must leave the handler: the job is tried again after so many
   * milliseconds, which counts as no failure.
   */
  readonly snooze: (delayMs: number) => never;
}

/** The chunks, then perhaps an output. Without one the collected chunks are it; `void` is its type then. */
export type HandlerStream<D extends JobDefinition> = AsyncGenerator<
  HandlerChunk<D>,
  HandlerOutput<D> | undefined | void,
  void
>;

export type Handler<D extends JobDefinition, Loaded = unknown> = (
  input: HandlerInput<D>,
  context: AttemptContext<Loaded, HandlerFeed<D>>,
) => HandlerOutput<D> | Promise<HandlerOutput<D>> | HandlerStream<D>;

export interface HandlerOptions {
  /**
   * On a worker with threads, attempts of this handler may run beside others of the same kind on one thread:
   * for handlers that mostly wait. Default false.
   */
  readonly sharesThread?: boolean | undefined;
}

/** A handler with a value of its own, such as a model or a connection. */
export interface HandlerSetup<D extends JobDefinition, Loaded> extends HandlerOptions {
  /** Runs an attempt: a function, or an async generator of chunks. */
  readonly run: Handler<D, Loaded>;
  /**
   * Runs attempts whose chunks have readers, where `run` is a plain function. Default: `run`, which is an
   * async generator then.
   */
  readonly runStream?:
    | ((input: HandlerInput<D>, context: AttemptContext<Loaded, HandlerFeed<D>>) => HandlerStream<D>)
    | undefined;
  /**
   * Makes the value `loaded` of the context: for each attempt, or once per instance where the definition says
   * `useStatic`. Its type is inferred wherever it stands.
   */
  readonly load?: (() => Loaded | PromiseLike<Loaded>) | undefined;
  /** Ends what `load` made. Default: its `Symbol.asyncDispose` or `Symbol.dispose`, if it has one. */
  readonly unload?: ((loaded: Loaded) => unknown) | undefined;
  /**
   * Checks an idle instance of a warm runner: false or an error recycles it. Default: instances are not
   * checked.
   */
  readonly healthy?: ((loaded: Loaded) => boolean | PromiseLike<boolean>) | undefined;
  /** The instances of a warm runner, where the definition says `useStatic`. */
  readonly pool?: RunnerPoolOptions | undefined;
  /**
   * The name of a warm runner that several handlers share: exactly one of them has `load`, and with it
   * `pool`. Default: each has its own.
   */
  readonly runner?: string | undefined;
}

/** A job definition with its handler. Made by {@link handle} only, which checks that they fit. */
export interface HandledJob {
  readonly job: JobDefinition;
  readonly run: HandlerFunction;
  /** For attempts whose chunks have readers. */
  readonly runStream: HandlerFunction;
  readonly load: (() => unknown) | undefined;
  readonly unload: ((loaded: unknown) => unknown) | undefined;
  readonly healthy: ((loaded: unknown) => boolean | PromiseLike<boolean>) | undefined;
  readonly pool: RunnerPoolOptions | undefined;
  readonly runner: string | undefined;
  readonly sharesThread: boolean;
}

export type HandlerFunction = (input: unknown, context: AttemptContext) => unknown;

const OPTION_RULES = { sharesThread: flag };
const SETUP_RULES = {
  ...OPTION_RULES,
  run: callback,
  runStream: callback,
  load: callback,
  unload: callback,
  healthy: callback,
  pool: poolRule,
  runner: runnerName,
};

/** Joins a job definition and its handler: a function or an async generator, alone or with what it needs. */
export function handle<D extends JobDefinition, Loaded = undefined>(
  job: D,
  handler: Handler<D, Loaded> | HandlerSetup<D, Loaded>,
  options: HandlerOptions = {},
): HandledJob {
  if (!isDefinition(job))
    throw new JobDefinitionError('handle', `needs a job made by defineJob, got ${describe(job)}`);
  if (typeof handler !== 'function' && (typeof handler !== 'object' || handler === null))
    throw new JobDefinitionError(
      `job '${job.exec}'`,
      'its handler must be a function, or an object with run',
    );
  checkOptions(`handle '${job.exec}'`, options, OPTION_RULES);
  const setup: HandlerSetup<D, Loaded> =
    typeof handler === 'function' ? { ...options, run: handler } : handler;
  checkOptions(`handle '${job.exec}'`, setup, SETUP_RULES, ['run']);
  checkChunks(job, setup);
  checkRunner(job, setup);
  const { run, runStream = run, load, unload, healthy, pool, runner, sharesThread = false } = setup;
  // The worker passes what the input schema and `load` returned, which have the types of the handler.
  return { job, run, runStream, load, unload, healthy, pool, runner, sharesThread } as HandledJob;
}

/** Without a chunk schema no reader could know a chunk. */
function checkChunks(job: JobDefinition, { run, runStream }: { run: unknown; runStream?: unknown }): void {
  if (job.chunk !== undefined) return;
  const problem = 'it has no chunk schema';
  if (runStream !== undefined)
    throw new JobDefinitionError(`job '${job.exec}'`, `${problem}, so no runStream`);
  if (Object.prototype.toString.call(run) === '[object AsyncGeneratorFunction]')
    throw new JobDefinitionError(`job '${job.exec}'`, `${problem}, so its handler is no generator`);
}

/** An option that would have no effect is a mistake. */
function checkRunner(
  { exec, useStatic }: JobDefinition,
  { load, unload, healthy, pool, runner }: Partial<Record<keyof HandledJob, unknown>>,
): void {
  const refuse = (problem: string): never => {
    throw new JobDefinitionError(`job '${exec}'`, problem);
  };
  if (useStatic !== true && (pool ?? runner ?? healthy) !== undefined)
    refuse('pool, runner and healthy are for warm runners; define it with useStatic: true');
  if (load === undefined && (unload ?? healthy) !== undefined) refuse('unload and healthy are for load');
  if (load === undefined && runner !== undefined && pool !== undefined)
    refuse(`pool of runner '${String(runner)}' stands where its load does`);
}

export function isHandledJob(value: unknown): value is HandledJob {
  const { job, run } = (value ?? {}) as Partial<HandledJob>;
  return typeof run === 'function' && isDefinition(job);
}

export const handledJob: OptionRule = rule('a value made by handle(job, run)', isHandledJob);
