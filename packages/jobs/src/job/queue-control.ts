import { type OptionRule, options, rule, wholeNumber } from '@troupe/core/option-check';
import { isSubject } from '@troupe/transport';
import { definitionError, YEAR_MS } from '../option-check.js';

/** A token bucket: at most `burst` starts at once, and `jobs` in every `perMs` in the long run. */
export interface RateLimit {
  /** Starts in every `perMs`. */
  readonly jobs: number;
  /** The period. */
  readonly perMs: number;
  /** Starts that may come at once after a pause. Default: `jobs`. */
  readonly burst?: number | undefined;
}

/** The limits of one queue, or of all queues together. An absent one is no limit. */
export interface QueueLimits {
  /** Attempts at once. Default: no limit. */
  readonly runningMax?: number | undefined;
  /** Starts of attempts. Default: no limit. */
  readonly rate?: RateLimit | undefined;
  /** Attempts at once of the jobs of one order key. Default 1: they run one by one, in their order. */
  readonly keyRunningMax?: number | undefined;
  /** Starts of jobs of one order key; retries do not count. Default: no limit. */
  readonly keyRate?: RateLimit | undefined;
}

/**
 * `paused`: submits are accepted and no job begins. `draining`: submits are refused and accepted jobs go on.
 */
export type QueueMode = 'open' | 'paused' | 'draining';

/** The name that stands for all queues together. */
export const ALL_QUEUES = '*';

const rateLimit = options(
  {
    jobs: wholeNumber(1, 1_000_000_000),
    perMs: wholeNumber(1, YEAR_MS),
    burst: wholeNumber(1, 1_000_000_000),
  },
  ['jobs', 'perMs'],
);

export const QUEUE_LIMIT_RULES = {
  runningMax: wholeNumber(1, 1_000_000_000),
  rate: rateLimit,
  keyRunningMax: wholeNumber(1, 1_000_000),
  keyRate: rateLimit,
} satisfies Record<keyof QueueLimits, OptionRule>;

const queueLimits = options(QUEUE_LIMIT_RULES);

/** Why limits from outside cannot be kept. */
export function limitsProblem(limits: unknown, queue: string): string | undefined {
  const problem = queueLimits(limits, 'limits');
  if (problem !== undefined) return definitionError(problem).message;
  const { keyRunningMax, keyRate } = limits as QueueLimits;
  const isForKeys = keyRunningMax !== undefined || keyRate !== undefined;
  return queue === ALL_QUEUES && isForKeys ? 'limits of order keys belong to one queue' : undefined;
}

export const queueRule: OptionRule = rule(
  "an exec, group/exec, or '*' for all queues",
  (value) => queueNameOf(value) !== undefined,
);

/**
 * `group/exec` of a queue; an exec alone is in the group of its first token. Undefined: it names no queue.
 */
export function queueNameOf(given: unknown): string | undefined {
  if (typeof given !== 'string' || given.length > 300) return undefined;
  if (given === ALL_QUEUES) return given;
  const slash = given.indexOf('/');
  const exec = given.slice(slash + 1);
  if (!isSubject(exec)) return undefined;
  if (slash < 0) return `${exec.split('.')[0]}/${exec}`;
  const group = given.slice(0, slash);
  return isSubject(group) && !group.includes('.') ? given : undefined;
}

/** The name of the queue of a job, as {@link queueNameOf} gives it. */
export function queueOf({ group, exec }: { readonly group: string; readonly exec: string }): string {
  return `${group}/${exec}`;
}
