import type { StandardSchemaV1 } from '@standard-schema/spec';
import { JobDefinitionError } from '../jobs-error.js';
import { type JobSpec, OUTPUT_BYTES_MAX } from './job-spec.js';
import { checkOptions, isFunction, numberWithin, oneOf, show, text, wholeNumber } from './option-check.js';
import { DEFAULT_RETRY, type RetryPolicy } from './retry.js';

/** A year: longer waits are a mistake in the unit. */
const MS_MAX = 366 * 24 * 3_600_000;
const TOKEN = /^[a-zA-Z0-9_-]+$/;
const NAME_BYTES_MAX = 200;

export interface JobOptions<In extends StandardSchemaV1, Out extends StandardSchemaV1> {
  /** One token of the subject `job.submit.{group}`; the first token of the name unless given. */
  readonly group?: string;
  readonly input: In;
  readonly output: Out;
  readonly retry?: Partial<RetryPolicy>;
  /** Silence of a worker after which its attempt is taken from it. 30 s; never less than three beats of the leader. */
  readonly leaseMs?: number;
  readonly limits?: {
    /** One attempt's run time; 10 min. Then its signal aborts, then the attempt is ended. */
    readonly runMs?: number;
    /** Encoded output; 1 MiB, at most 11. More is a failure that is not tried again. */
    readonly outputBytes?: number;
  };
  readonly keep?: {
    /** How long a result can be read; 1 h. Less if the leader has more results than it keeps, those that go first first. */
    readonly doneMs?: number;
    /** How long a dead letter is kept; 14 days. */
    readonly deadMs?: number;
  };
  /** The idempotency key of an input, unless a submit names its own. */
  readonly key?: (input: StandardSchemaV1.InferOutput<In>) => string;
}

/** A kind of job: an exported value that clients and workers share. */
export interface JobDefinition<
  In extends StandardSchemaV1 = StandardSchemaV1,
  Out extends StandardSchemaV1 = StandardSchemaV1,
> {
  readonly exec: string;
  readonly spec: JobSpec;
  readonly input: In;
  readonly output: Out;
  /** A method, so that a definition of one input is still a definition of some input. */
  key?(input: StandardSchemaV1.InferOutput<In>): string;
}

/** What a caller passes. */
export type JobInput<D extends JobDefinition> = StandardSchemaV1.InferInput<D['input']>;
/** What the handler receives: the input after its schema. */
export type HandlerInput<D extends JobDefinition> = StandardSchemaV1.InferOutput<D['input']>;
/** What the handler returns. */
export type HandlerOutput<D extends JobDefinition> = StandardSchemaV1.InferInput<D['output']>;
/** What the caller gets back: the output after its schema. */
export type JobOutput<D extends JobDefinition> = StandardSchemaV1.InferOutput<D['output']>;

const KNOWN = {
  group: (value: unknown) =>
    typeof value === 'string' && TOKEN.test(value)
      ? undefined
      : `must be one token of letters, digits, _ and -, got ${show(value)}`,
  input: isSchema,
  output: isSchema,
  retry: isBag,
  leaseMs: wholeNumber(10, MS_MAX),
  limits: isBag,
  keep: isBag,
  key: isFunction,
};
const KNOWN_RETRY = {
  attempts: wholeNumber(1, 1_000),
  backoff: oneOf('constant', 'linear', 'exponential'),
  baseMs: wholeNumber(0, MS_MAX),
  capMs: wholeNumber(0, MS_MAX),
  jitter: numberWithin(0, 1),
  crashes: wholeNumber(1, 1_000),
};
const KNOWN_LIMITS = { runMs: wholeNumber(1, MS_MAX), outputBytes: wholeNumber(0, OUTPUT_BYTES_MAX) };
const KNOWN_KEEP = { doneMs: wholeNumber(0, MS_MAX), deadMs: wholeNumber(0, MS_MAX) };

export function defineJob<In extends StandardSchemaV1, Out extends StandardSchemaV1>(
  name: string,
  options: JobOptions<In, Out>,
): JobDefinition<In, Out> {
  const subject = `job ${show(name)}`;
  checkName(subject, name);
  checkOptions(subject, options, KNOWN);
  for (const side of ['input', 'output'] as const) {
    if (options[side] === undefined)
      throw new JobDefinitionError(subject, `needs a Standard Schema for its ${side}`);
  }
  checkOptions(`${subject} retry`, options.retry ?? {}, KNOWN_RETRY);
  checkOptions(`${subject} limits`, options.limits ?? {}, KNOWN_LIMITS);
  checkOptions(`${subject} keep`, options.keep ?? {}, KNOWN_KEEP);
  return Object.freeze({
    exec: name,
    spec: specOf(name, options),
    input: options.input,
    output: options.output,
    ...(options.key === undefined ? {} : { key: options.key }),
  });
}

type Knobs = Pick<
  JobOptions<StandardSchemaV1, StandardSchemaV1>,
  'group' | 'retry' | 'leaseMs' | 'limits' | 'keep'
>;

function specOf(name: string, options: Knobs): JobSpec {
  return Object.freeze({
    exec: name,
    group: options.group ?? (name.split('.')[0] as string),
    retry: Object.freeze({ ...DEFAULT_RETRY, ...options.retry }),
    leaseMs: options.leaseMs ?? 30_000,
    limits: Object.freeze({
      runMs: options.limits?.runMs ?? 600_000,
      outputBytes: options.limits?.outputBytes ?? 1_048_576,
    }),
    keep: Object.freeze({
      doneMs: options.keep?.doneMs ?? 3_600_000,
      deadMs: options.keep?.deadMs ?? 14 * 24 * 3_600_000,
    }),
  });
}

function checkName(subject: string, name: unknown): void {
  const problem = text(NAME_BYTES_MAX)(name);
  if (problem !== undefined) throw new JobDefinitionError(subject, `its name ${problem}`);
  for (const token of (name as string).split('.')) {
    if (!TOKEN.test(token)) {
      throw new JobDefinitionError(
        subject,
        'its name must be tokens of letters, digits, _ and -, joined by dots',
      );
    }
  }
}

function isSchema(value: unknown): string | undefined {
  const standard = (value as { '~standard'?: { validate?: unknown } } | null)?.['~standard'];
  return typeof standard?.validate === 'function' ? undefined : 'must be a Standard Schema';
}

function isBag(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null ? undefined : `must be an object, got ${show(value)}`;
}
