import { isSubject } from '@troupe/transport';
import {
  bag,
  type Check,
  numberWithin,
  oneOf,
  problemIn,
  show,
  text,
  wholeNumber,
  YEAR_MS,
} from '../option-check.js';
import type { RetryPolicy } from './retry.js';

/** The part of a job definition that travels to the leader and is stored there: data only, no schema, no function. */
export interface JobPolicy {
  readonly exec: string;
  readonly group: string;
  readonly retry: RetryPolicy;
  /** Silence after which a worker's attempt is taken from it. */
  readonly leaseMs: number;
  readonly limits: {
    /** Run time of one attempt. */
    readonly runMs: number;
    readonly outputBytes: number;
  };
  readonly keep: {
    readonly doneMs: number;
    readonly deadMs: number;
  };
}

/** The longest result: it is one record, and any log holds that inline, with its framing. */
export const OUTPUT_BYTES_MAX = 11 * 1024 * 1024;

/** Equal policies have equal texts: the leader interns by them. */
export function policyText(policy: JobPolicy): string {
  const { retry, limits, keep } = policy;
  return JSON.stringify([
    policy.exec,
    policy.group,
    [retry.attempts, retry.backoff, retry.baseMs, retry.capMs, retry.jitter, retry.crashes],
    policy.leaseMs,
    [limits.runMs, limits.outputBytes],
    [keep.doneMs, keep.deadMs],
  ]);
}

const NAME_BYTES_MAX = 200;

/** A token of the subjects `job.submit.{group}` and `job.assign.{group}.{worker}`. */
const isGroup: Check = (value) =>
  typeof value === 'string' && isSubject(value) && !value.includes('.')
    ? undefined
    : `must be one token of at most 64 letters, digits, _ and -, got ${show(value)}`;

export const isJobName: Check = (value) => {
  const problem = text(NAME_BYTES_MAX)(value);
  if (problem !== undefined) return problem;
  return isSubject(value as string)
    ? undefined
    : `must be 1 to 16 tokens of at most 64 letters, digits, _ and -, joined by dots, got ${show(value)}`;
};

/** The part of a definition that travels to the leader, beside its name. */
export const POLICY_CHECKS = {
  group: isGroup,
  retry: bag({
    attempts: wholeNumber(1, 1_000),
    backoff: oneOf('constant', 'linear', 'exponential'),
    baseMs: wholeNumber(0, YEAR_MS),
    capMs: wholeNumber(0, YEAR_MS),
    jitter: numberWithin(0, 1),
    crashes: wholeNumber(1, 1_000),
  }),
  leaseMs: wholeNumber(10, YEAR_MS),
  limits: bag({ runMs: wholeNumber(1, YEAR_MS), outputBytes: wholeNumber(0, OUTPUT_BYTES_MAX) }),
  keep: bag({ doneMs: wholeNumber(0, YEAR_MS), deadMs: wholeNumber(0, YEAR_MS) }),
};

const WHOLE_POLICY = { exec: isJobName, ...POLICY_CHECKS };
const ALL_NAMES = Object.keys(WHOLE_POLICY);

/** Why a policy that came from outside cannot be kept. The bounds are those of `defineJob`. */
export function policyProblem(policy: JobPolicy): string | undefined {
  return problemIn(policy, WHOLE_POLICY, ALL_NAMES);
}
