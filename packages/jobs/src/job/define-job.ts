import type { StandardSchemaV1 } from '@standard-schema/spec';
import { callback, checkOption, rule } from '@troupe/core/option-check';
import { checkOptions, type Defaulted, definitionError, withDefaults } from '../option-check.js';
import { type JobPolicy, jobName, POLICY_CHECKS } from './job-policy.js';
import { DEFAULT_RETRY, type RetryPolicy } from './retry-policy.js';

const DEFAULT_LIMITS: JobPolicy['limits'] = { runMs: 600_000, outputBytes: 1_048_576 };
const DEFAULT_KEEP: JobPolicy['keep'] = { doneMs: 3_600_000, deadMs: 14 * 24 * 3_600_000 };

export interface JobOptions<In extends StandardSchemaV1, Out extends StandardSchemaV1> {
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
  /** The idempotency key of an input, unless a submit names its own. */
  readonly key?: ((input: StandardSchemaV1.InferOutput<In>) => string) | undefined;
}

/** A kind of job: an exported value that clients and workers share. */
export interface JobDefinition<
  In extends StandardSchemaV1 = StandardSchemaV1,
  Out extends StandardSchemaV1 = StandardSchemaV1,
> {
  readonly exec: string;
  readonly policy: JobPolicy;
  readonly input: In;
  readonly output: Out;
  /** A method, so that a definition of one input is still a definition of some input. */
  key?(input: StandardSchemaV1.InferOutput<In>): string;
}

/** The argument of a caller. */
export type JobInput<D extends JobDefinition> = StandardSchemaV1.InferInput<D['input']>;
/** The handler's input: after its schema. */
export type HandlerInput<D extends JobDefinition> = StandardSchemaV1.InferOutput<D['input']>;
/** The handler's return value. */
export type HandlerOutput<D extends JobDefinition> = StandardSchemaV1.InferInput<D['output']>;
/** The caller's result: the output after its schema. */
export type JobOutput<D extends JobDefinition> = StandardSchemaV1.InferOutput<D['output']>;

const schema = rule('a Standard Schema', isSchema);
const KNOWN = { ...POLICY_CHECKS, input: schema, output: schema, key: callback };

/** A kind of job, from its name, its schemas and its policy. */
export function defineJob<In extends StandardSchemaV1, Out extends StandardSchemaV1>(
  name: string,
  options: JobOptions<In, Out>,
): JobDefinition<In, Out> {
  checkOption('job name', name, jobName, definitionError);
  checkOptions(`job '${name}'`, options, KNOWN, ['input', 'output']);
  return Object.freeze({
    exec: name,
    policy: policyOf(name, options),
    input: options.input,
    output: options.output,
    ...(options.key === undefined ? {} : { key: options.key }),
  });
}

type PolicyOptions = Pick<
  JobOptions<StandardSchemaV1, StandardSchemaV1>,
  'group' | 'retry' | 'leaseMs' | 'limits' | 'keep'
>;

function policyOf(name: string, options: PolicyOptions): JobPolicy {
  return Object.freeze({
    exec: name,
    group: options.group ?? (name.split('.')[0] as string),
    retry: Object.freeze(withDefaults(DEFAULT_RETRY, options.retry)),
    leaseMs: options.leaseMs ?? 30_000,
    limits: Object.freeze(withDefaults(DEFAULT_LIMITS, options.limits)),
    keep: Object.freeze(withDefaults(DEFAULT_KEEP, options.keep)),
  });
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
