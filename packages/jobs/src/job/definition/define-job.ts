import type { StandardSchemaV1 } from '@standard-schema/spec';
import { callback, checkOption, flag, rule } from '@troupe/core/option-check';
import { JobDefinitionError } from '../../jobs-error.js';
import { checkOptions, type Defaulted, definitionError, withDefaults } from '../../option-check.js';
import { type JobPolicy, jobName, orderFields, POLICY_CHECKS, type StreamingMode } from './job-policy.js';
import { DEFAULT_RETRY, type RetryPolicy } from './retry-policy.js';
import { DEFAULT_STREAM, type StreamPolicy } from './stream-policy.js';

const DEFAULT_LIMITS: JobPolicy['limits'] = { runMs: 600_000, outputBytes: 1_048_576 };
/** Also of a job that is fed. */
const DEFAULT_FEED_LIMITS = { feedBytesMax: 8 * 1024 * 1024, feedGraceMs: 30_000 };
const DEFAULT_KEEP: JobPolicy['keep'] = { doneMs: 3_600_000, deadMs: 14 * 24 * 3_600_000 };

export interface JobOptions<
  In extends StandardSchemaV1,
  Out extends StandardSchemaV1,
  Chunk extends ChunkSchema = undefined,
  Feed extends ChunkSchema = undefined,
> {
  /** One token of the subject `job.submit.{group}`. Default: the first token of the name. */
  readonly group?: string | undefined;
  /** The schema of the input: zod, valibot, arktype or another Standard Schema. */
  readonly input: In;
  /** The schema of the output. */
  readonly output: Out;
  /** Attempts and the delays between them. */
  readonly retry?: Defaulted<RetryPolicy> | undefined;
  /**
   * Silence of a worker after which it loses its attempt; at least three heartbeats of the leader. Default
   * 30,000.
   */
  readonly leaseMs?: number | undefined;
  readonly limits?:
    | {
        /** Run time of one attempt. Then its signal aborts and the attempt ends. Default 600,000. */
        readonly runMs?: number | undefined;
        /** Bytes of the encoded output. More is a final failure. Default 1 MiB. */
        readonly outputBytes?: number | undefined;
        /**
         * Silence of a generator: before its first chunk, and between two. Time that it waits for a reader or
         * for its feed does not count. Default: none.
         */
        readonly silenceMs?: number | undefined;
        /**
         * Bytes of its feed that the leader keeps, to replay them to another attempt. Of a longer one the
         * beginning is dropped, and the job is not tried again. Default 8 MiB.
         */
        readonly feedBytesMax?: number | undefined;
        /** While the job runs and no client has its feed open. Then the feed ends. Default 30,000. */
        readonly feedGraceMs?: number | undefined;
      }
    | undefined;
  readonly keep?:
    | {
        /** Retention of a result. Less if the leader has more results than it keeps. Default 3,600,000. */
        readonly doneMs?: number | undefined;
        /** Retention of a dead letter. Default 1,209,600,000. */
        readonly deadMs?: number | undefined;
      }
    | undefined;
  /** The schema of one chunk. With it the handler is an async generator of chunks. */
  readonly chunk?: Chunk;
  /**
   * Adds a chunk to the chunks before it, `undefined` before the first; the last value is the output.
   * `false`: chunks are not collected. Default: texts are joined, bytes are joined, other chunks are the
   * elements of an array; where that is no output, the type asks for `collect`.
   */
  readonly collect?: false | Collect<Chunk, Out> | undefined;
  /** The schema of one item of the feed. With it clients may feed a job that streams; it needs `chunk`. */
  readonly feed?: Feed;
  /** How the leader keeps the chunks. A submit may name its own. */
  readonly stream?: Defaulted<StreamPolicy> | undefined;
  /**
   * Its handler runs on a warm runner: `load` of the handler is called once per instance, and instances are
   * used again. Default false: it is called for each attempt.
   */
  readonly useStatic?: boolean | undefined;
  /** The idempotency key of an input, unless a submit names its own. */
  readonly key?: ((input: StandardSchemaV1.InferOutput<In>) => string) | undefined;
  /** From 0 to 9; jobs of 9 begin first (docs/guides/control.md). A submit may name its own. Default 4. */
  readonly priority?: number | undefined;
  /**
   * A job whose first attempt has not begun so long after its submit, or after its delay, is cancelled with
   * the reason `expired`. A submit may name its own. Default: no limit.
   */
  readonly startWithinMs?: number | undefined;
  /** Its worker must have all of these labels. A submit may name its own. Default: none. */
  readonly requires?: readonly string[] | undefined;
  /**
   * The order key of an input, unless a submit names its own: jobs of one key run in the order of their
   * submits, one at a time unless the limits of their queue say otherwise, and a retry holds up those behind
   * it. Default: no order between jobs.
   */
  readonly orderKey?: ((input: StandardSchemaV1.InferOutput<In>) => string) | undefined;
  /** Jobs of one order key go to the worker of the one before, where it has room. Default false. */
  readonly sticky?: boolean | undefined;
}

/** The output that chunks make without `collect`. */
type Collected<Chunk> = [Chunk] extends [string]
  ? string
  : [Chunk] extends [Uint8Array]
    ? Uint8Array
    : Chunk[];

/** Asks for `collect` where the default does not make an output. */
export type CollectRule<Out extends StandardSchemaV1, Chunk extends ChunkSchema> = [Chunk] extends [undefined]
  ? unknown
  : [Collected<ChunkInput<Chunk>>] extends [StandardSchemaV1.InferInput<Out>]
    ? unknown
    : { readonly collect: unknown };

/** Absent in a job that does not stream. */
export type ChunkSchema = StandardSchemaV1 | undefined;

type ChunkInput<Chunk extends ChunkSchema> = Chunk extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<Chunk>
  : never;

export type Collect<Chunk extends ChunkSchema, Out extends StandardSchemaV1> = (
  collected: StandardSchemaV1.InferInput<Out> | undefined,
  chunk: ChunkInput<Chunk>,
) => StandardSchemaV1.InferInput<Out>;

/** A kind of job: an exported value that clients and workers share. */
export interface JobDefinition<
  In extends StandardSchemaV1 = StandardSchemaV1,
  Out extends StandardSchemaV1 = StandardSchemaV1,
  Chunk extends ChunkSchema = ChunkSchema,
  Feed extends ChunkSchema = ChunkSchema,
> {
  /** The name of the job: workers that have a handler of this name run it. */
  readonly exec: string;
  /** Its options, with defaults. */
  readonly policy: JobPolicy;
  /** Schema of the input. */
  readonly input: In;
  /** Schema of the result. */
  readonly output: Out;
  /** Schema of a chunk of its stream. */
  readonly chunk?: Chunk;
  /** False: chunks are not collected. Undefined: the default. */
  readonly collect?: false | undefined | CollectChunk;
  /** Schema of an item that clients feed. */
  readonly feed?: Feed;
  /** There, where `chunk` is. */
  readonly stream?: StreamPolicy | undefined;
  /** Its handler runs on a warm runner. */
  readonly useStatic?: boolean | undefined;
  /** The key of a submit without one. A method: a definition of one input is still one of some input. */
  key?(input: StandardSchemaV1.InferOutput<In>): string;
  /** The order key of a submit without one. */
  orderKey?(input: StandardSchemaV1.InferOutput<In>): string;
}

/** A {@link Collect} of some definition; only its worker calls it. */
export interface CollectChunk {
  // A method, so that the function of one chunk type is still one of some.
  // biome-ignore lint/style/useShorthandFunctionType: a call signature in a method position is bivariant
  (collected: unknown, chunk: never): unknown;
}

/** A chunk as the handler yields it. */
export type HandlerChunk<D extends JobDefinition> = D extends { readonly chunk?: infer Chunk }
  ? ChunkInput<Extract<Chunk, StandardSchemaV1>>
  : never;
/** A chunk as a reader gets it: after its schema. */
export type JobChunk<D extends JobDefinition> = D extends { readonly chunk?: infer Chunk }
  ? StandardSchemaV1.InferOutput<Extract<Chunk, StandardSchemaV1>>
  : never;

/** An item of the feed as a client gives it. */
export type FeedInput<D extends JobDefinition> = D extends { readonly feed?: infer Feed }
  ? ChunkInput<Extract<Feed, StandardSchemaV1>>
  : never;
/** An item of the feed as the handler takes it: after its schema. */
export type HandlerFeed<D extends JobDefinition> = D extends { readonly feed?: infer Feed }
  ? StandardSchemaV1.InferOutput<Extract<Feed, StandardSchemaV1>>
  : never;

/** The argument of a caller. */
export type JobInput<D extends JobDefinition> = StandardSchemaV1.InferInput<D['input']>;
/** The handler's input: after its schema. */
export type HandlerInput<D extends JobDefinition> = StandardSchemaV1.InferOutput<D['input']>;
/** The handler's return value. */
export type HandlerOutput<D extends JobDefinition> = StandardSchemaV1.InferInput<D['output']>;
/** The caller's result: the output after its schema. */
export type JobOutput<D extends JobDefinition> = StandardSchemaV1.InferOutput<D['output']>;

const schema = rule('a Standard Schema', isSchema);
const collector = rule('a function or false', (value) => value === false || typeof value === 'function');
const KNOWN = {
  ...POLICY_CHECKS,
  input: schema,
  output: schema,
  key: callback,
  orderKey: callback,
  chunk: schema,
  collect: collector,
  useStatic: flag,
  feed: schema,
};

/** A kind of job, from its name, its schemas and its policy. */
export function defineJob<
  In extends StandardSchemaV1,
  Out extends StandardSchemaV1,
  Chunk extends ChunkSchema = undefined,
  Feed extends ChunkSchema = undefined,
>(
  name: string,
  options: JobOptions<In, Out, Chunk, Feed> & CollectRule<Out, Chunk>,
): JobDefinition<In, Out, Chunk, Feed> {
  checkOption('job name', name, jobName, definitionError);
  checkOptions(`job '${name}'`, options, KNOWN, ['input', 'output']);
  checkFeed(name, options);
  return Object.freeze({
    exec: name,
    policy: policyOf(name, withOrder(options)),
    input: options.input,
    output: options.output,
    ...(options.chunk === undefined ? {} : { chunk: options.chunk, stream: streamOf(options.stream) }),
    ...(options.collect === undefined ? {} : { collect: options.collect as false | CollectChunk }),
    ...(options.useStatic === undefined ? {} : { useStatic: options.useStatic }),
    ...(options.feed === undefined ? {} : { feed: options.feed }),
    ...(options.key === undefined ? {} : { key: options.key }),
    ...(options.orderKey === undefined ? {} : { orderKey: options.orderKey }),
  });
}

type FeedOptions = Pick<
  JobOptions<StandardSchemaV1, StandardSchemaV1, ChunkSchema, ChunkSchema>,
  'chunk' | 'feed' | 'limits'
>;

/** Only a job that streams is fed, and only a job that is fed has limits of its feed. */
function checkFeed(name: string, { chunk, feed, limits = {} }: FeedOptions): void {
  if (feed !== undefined && chunk === undefined)
    throw new JobDefinitionError(
      `job '${name}'`,
      'it has a feed and no chunk schema; only a job that streams is fed',
    );
  if (feed === undefined && (limits.feedBytesMax ?? limits.feedGraceMs) !== undefined)
    throw new JobDefinitionError(`job '${name}'`, 'it has limits of a feed and no feed schema');
}

type PolicyOptions = Pick<
  JobOptions<StandardSchemaV1, StandardSchemaV1, ChunkSchema, ChunkSchema>,
  | 'group'
  | 'retry'
  | 'leaseMs'
  | 'limits'
  | 'keep'
  | 'feed'
  | 'priority'
  | 'startWithinMs'
  | 'requires'
  | 'sticky'
> & {
  /** Of a policy from a client: a definition has no mode of its own. */
  readonly streaming?: StreamingMode | undefined;
  readonly stream?: Defaulted<StreamPolicy> | undefined;
  /** There, where the definition or a submit gives order keys. */
  readonly ordered?: boolean | undefined;
};

/** A definition with order keys says so to the leader; a policy from a client has said it already. */
function withOrder<T extends { readonly orderKey?: unknown; readonly ordered?: boolean | undefined }>(
  options: T,
): T & { readonly ordered: boolean } {
  return { ...options, ordered: options.ordered ?? options.orderKey !== undefined };
}

function policyOf(name: string, options: PolicyOptions): JobPolicy {
  return Object.freeze({
    exec: name,
    group: options.group ?? (name.split('.')[0] as string),
    retry: Object.freeze(withDefaults(DEFAULT_RETRY, options.retry)),
    leaseMs: options.leaseMs ?? 30_000,
    limits: Object.freeze(withDefaults(defaultLimits(options), options.limits)),
    keep: Object.freeze(withDefaults(DEFAULT_KEEP, options.keep)),
    ...(options.streaming === undefined
      ? {}
      : { streaming: options.streaming, stream: streamOf(options.stream) }),
    ...orderFields(options),
  });
}

function defaultLimits({ feed }: PolicyOptions): JobPolicy['limits'] {
  return feed === undefined ? DEFAULT_LIMITS : { ...DEFAULT_LIMITS, ...DEFAULT_FEED_LIMITS };
}

function streamOf(given: Defaulted<StreamPolicy> | undefined): StreamPolicy {
  return Object.freeze(withDefaults(DEFAULT_STREAM, given));
}

/** Whether it was made by `defineJob`, in this copy of the package or another. */
export function isDefinition(value: unknown): value is JobDefinition {
  const { exec, policy, input, output } = (value ?? {}) as Partial<JobDefinition>;
  return typeof exec === 'string' && policy?.exec === exec && isSchema(input) && isSchema(output);
}

function isSchema(value: unknown): boolean {
  const standard = (value as { '~standard'?: { validate?: unknown } } | null)?.['~standard'];
  return typeof standard?.validate === 'function';
}
