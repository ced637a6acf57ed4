import {
  flag,
  listOf,
  number,
  type OptionRule,
  oneOf,
  options,
  rule,
  text,
  wholeNumber,
} from '@troupe/core/option-check';
import { isSubject } from '@troupe/transport';
import { definitionError, plainName, YEAR_MS } from '../../option-check.js';
import type { JobFeature } from '../../protocol/job-protocol.js';
import type { RetryPolicy } from './retry-policy.js';
import { STREAM_RULES, type StreamPolicy } from './stream-policy.js';

/** Whom a stream is for: `response` for its reader, `internal` for the next step of a workflow. */
export type StreamingMode = 'response' | 'internal';

/**
 * The part of a job definition that travels to the leader and is stored there: data only, no schema, no
 * function.
 */
export interface JobPolicy {
  readonly exec: string;
  readonly group: string;
  readonly retry: RetryPolicy;
  /** Silence after which a worker loses its attempt. */
  readonly leaseMs: number;
  readonly limits: {
    /** Run time of one attempt. */
    readonly runMs: number;
    readonly outputBytes: number;
    /** Silence between the chunks of a generator. Absent: no limit. */
    readonly silenceMs?: number | undefined;
    /** Bytes of its feed that are kept for another attempt. Absent: clients do not feed it. */
    readonly feedBytesMax?: number | undefined;
    /** How long a feed stays open while no client has it open; there, where `feedBytesMax` is. */
    readonly feedGraceMs?: number | undefined;
  };
  readonly keep: {
    readonly doneMs: number;
    readonly deadMs: number;
  };
  /** The jobs of this policy give their chunks to readers. Absent: they are only collected. */
  readonly streaming?: StreamingMode | undefined;
  /** There, where `streaming` is. */
  readonly stream?: StreamPolicy | undefined;
  /** From 0 to 9, and 9 first. Absent: 4. */
  readonly priority?: number | undefined;
  /** The time within which its first attempt must begin. Absent: no limit. */
  readonly startWithinMs?: number | undefined;
  /** Labels that its worker must have, sorted. Absent: none. */
  readonly requires?: readonly string[] | undefined;
  /** Its jobs have order keys. Absent: they have none. */
  readonly ordered?: true | undefined;
  /** The worker of the key's job before is preferred; there, where `ordered` is. */
  readonly sticky?: true | undefined;
}

/** The priority of a job that names none. */
export const DEFAULT_PRIORITY = 4;
export const PRIORITY_MAX = 9;

/** The most one record may carry: a result or a batch of submits. Any log holds it inline, with framing. */
export const RECORD_BYTES_MAX = 11 * 1024 * 1024;

/** The longest feed that is kept in memory for another attempt. */
const FEED_BYTES_MAX = 256 * 1024 * 1024;

/** Whether clients may feed the jobs of this policy. */
export function isFed({ streaming, limits }: JobPolicy): boolean {
  return streaming !== undefined && limits.feedBytesMax !== undefined;
}

/** The feature of the job messages that a worker must know for jobs of this policy; undefined: none. */
export function neededFeature(policy: JobPolicy): JobFeature | undefined {
  if (policy.streaming === undefined) return undefined;
  return isFed(policy) ? 'feeds' : 'streams';
}

/** Equal policies have equal texts: the leader interns by them. */
export function policyText(policy: JobPolicy): string {
  const { retry, limits, keep } = policy;
  return JSON.stringify([
    policy.exec,
    policy.group,
    [retry.attempts, retry.backoff, retry.baseMs, retry.capMs, retry.jitter, retry.crashes],
    policy.leaseMs,
    [limits.runMs, limits.outputBytes, ...(limits.silenceMs === undefined ? [] : [limits.silenceMs])],
    [keep.doneMs, keep.deadMs],
    ...(policy.streaming === undefined ? [] : [policy.streaming, streamText(policy.stream)]),
    ...(limits.feedBytesMax === undefined ? [] : [['feed', limits.feedBytesMax, limits.feedGraceMs]]),
    ...(retry.stopOn === undefined ? [] : [{ stopOn: retry.stopOn }]),
    ...orderText(policy),
  ]);
}

function orderText(policy: JobPolicy): readonly unknown[] {
  const order = orderFields(policy);
  return Object.keys(order).length === 0 ? [] : [order];
}

interface OrderOptions extends Pick<JobPolicy, 'priority' | 'startWithinMs' | 'requires'> {
  readonly ordered?: boolean | undefined;
  readonly sticky?: boolean | undefined;
}

/** The fields about order and place that a policy has, in a fixed order. */
export function orderFields({
  priority,
  startWithinMs,
  requires,
  ordered,
  sticky,
}: OrderOptions): Pick<JobPolicy, 'priority' | 'startWithinMs' | 'requires' | 'ordered' | 'sticky'> {
  return {
    ...(priority === undefined || priority === DEFAULT_PRIORITY ? {} : { priority }),
    ...(startWithinMs === undefined ? {} : { startWithinMs }),
    ...(requires === undefined || requires.length === 0 ? {} : { requires: [...new Set(requires)].sort() }),
    ...(ordered === true ? { ordered } : {}),
    ...(sticky === true ? { sticky } : {}),
  };
}

function streamText(stream: StreamPolicy | undefined): readonly unknown[] {
  return stream === undefined
    ? []
    : [stream.whenUnread, stream.durable, stream.bufferBytes, stream.spillBytes];
}

const NAME_CHARS_MAX = 200;

/** A token of the subjects `job.submit.{group}` and `job.assign.{group}.{worker}`. */
const groupName = rule(
  'one token of at most 64 letters, digits, _ and -',
  (value) => typeof value === 'string' && isSubject(value) && !value.includes('.'),
);

export const jobName: OptionRule = rule(
  `at most ${NAME_CHARS_MAX} characters: 1 to 16 tokens of at most 64 letters, digits, _ and -, joined by dots`,
  (value) => typeof value === 'string' && value.length <= NAME_CHARS_MAX && isSubject(value),
);

const STOP_CODES_MAX = 64;
const LABELS_MAX = 16;

/** Labels of a worker, or that a job requires. */
export const labelsRule: OptionRule = atMost(listOf(plainName(64)), LABELS_MAX);

/** The key of a line of jobs. */
export const orderKeyRule: OptionRule = text(512);

function atMost(list: OptionRule, max: number): OptionRule {
  const short = rule(`at most ${max}`, (value) => (value as readonly unknown[]).length <= max);
  return (value, option) => list(value, option) ?? short(value, option);
}

/** The part of a definition that travels to the leader, beside its name. */
export const POLICY_CHECKS = {
  group: groupName,
  retry: options({
    attempts: wholeNumber(1, 1_000),
    backoff: oneOf(['constant', 'linear', 'exponential']),
    baseMs: wholeNumber(0, YEAR_MS),
    capMs: wholeNumber(0, YEAR_MS),
    jitter: number(0, 1),
    crashes: wholeNumber(1, 1_000),
    stopOn: atMost(listOf(text(100)), STOP_CODES_MAX),
  }),
  leaseMs: wholeNumber(10, YEAR_MS),
  limits: options({
    runMs: wholeNumber(1, YEAR_MS),
    outputBytes: wholeNumber(0, RECORD_BYTES_MAX),
    silenceMs: wholeNumber(1, YEAR_MS),
    feedBytesMax: wholeNumber(0, FEED_BYTES_MAX),
    feedGraceMs: wholeNumber(10, YEAR_MS),
  }),
  keep: options({ doneMs: wholeNumber(0, YEAR_MS), deadMs: wholeNumber(0, YEAR_MS) }),
  streaming: oneOf(['response', 'internal']),
  stream: options(STREAM_RULES),
  priority: wholeNumber(0, PRIORITY_MAX),
  startWithinMs: wholeNumber(1, YEAR_MS),
  requires: labelsRule,
  ordered: flag,
  sticky: flag,
};
/** The fields that a policy may be without. */
const OPTIONAL = ['streaming', 'stream', 'priority', 'startWithinMs', 'requires', 'ordered', 'sticky'];

const POLICY_RULES = { exec: jobName, ...POLICY_CHECKS };
const wholePolicy = options(
  POLICY_RULES,
  Object.keys(POLICY_RULES).filter((field) => !OPTIONAL.includes(field)),
);

/** Why a policy that came from outside cannot be kept. The bounds are those of `defineJob`. */
export function policyProblem(policy: JobPolicy): string | undefined {
  const problem = wholePolicy(policy, 'policy');
  return problem === undefined ? undefined : definitionError(problem).message;
}
