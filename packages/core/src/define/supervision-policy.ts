import { callback, number, type OptionRule, oneOf, options, wholeNumber } from '../option-check.js';
import type { AnyRef } from '../ref/actor-ref.js';

/**
 * A parent's decision about a child that failed.
 *
 *   resume    the child goes on with its state
 *   restart   it gets a new state; its ref, mailbox and watchers are kept
 *   stop      it ends for good
 *   escalate  it waits while the parent itself fails, and the grandparent decides
 */
export type Directive = 'resume' | 'restart' | 'stop' | 'escalate';
export const DIRECTIVES: readonly Directive[] = ['resume', 'restart', 'stop', 'escalate'];

/**
 * The children that a failure concerns.
 *
 *   one-for-one   only the failed child
 *   one-for-all   all children are restarted or stopped with it
 *   rest-for-one  the failed child and the children started after it
 */
export type Strategy = 'one-for-one' | 'one-for-all' | 'rest-for-one';

/**
 * Whether a child that has ended is started again.
 *
 *   permanent  however it ended
 *   transient  when it failed
 *   temporary  never
 */
export type RestartType = 'permanent' | 'transient' | 'temporary';

const STRATEGIES: readonly Strategy[] = ['one-for-one', 'one-for-all', 'rest-for-one'];

export const RESTART_TYPES: readonly RestartType[] = ['permanent', 'transient', 'temporary'];

export interface Backoff {
  /** The delay before the first restart; it doubles with each one. */
  readonly fromMs: number;
  /** The longest delay; at least `fromMs`. */
  readonly toMs: number;
  /** How far the delay may stray, as a part of it: 0.2 is ± 20 %. Default 0. */
  readonly jitter?: number | undefined;
  /** After this long without a failure the delay starts at `fromMs` again. Default: `toMs`. */
  readonly resetAfterMs?: number | undefined;
}

/** An actor's policy for its own children. */
export interface SupervisionPolicy {
  /** The children that a failure concerns. Default `one-for-one`. */
  readonly strategy?: Strategy | undefined;
  /** At most this many restarts of one child within `withinMs`; one more escalates. Default 5. */
  readonly restarts?: number | undefined;
  /** The window in which restarts are counted. Default 30,000. */
  readonly withinMs?: number | undefined;
  /** The same limit over all children together. Default: none. */
  readonly restartsTotal?: number | undefined;
  /** Delays before restarts. Default: none, a restart is at once. */
  readonly backoff?: Backoff | undefined;
  /** Chooses the directive; the limits still hold for restarts. Default: always restart. */
  readonly decide?: ((failure: ChildFailure) => Directive) | undefined;
}

/** A failure of a child, as `decide` gets it. */
export interface ChildFailure {
  /** The error that its handler or hook threw. */
  readonly error: Error;
  /** `Account.is(child)` tells its definition. */
  readonly child: AnyRef;
  /** The message or hook that failed. */
  readonly message: string;
  /** The number that a restart would have within the window: 1 is the first. */
  readonly attempt: number;
}

export const RESTARTS_DEFAULT = 5;
export const WITHIN_MS_DEFAULT = 30_000;

const BACKOFF_RULES = { fromMs: number(0), toMs: number(0), jitter: number(0, 1), resetAfterMs: number(0) };

const backoffRule: OptionRule = (value, option) => {
  const problem = options(BACKOFF_RULES, ['fromMs', 'toMs'])(value, option);
  if (problem !== undefined) return problem;
  const { fromMs, toMs } = value as Backoff;
  return number(fromMs)(toMs, `${option}.toMs`);
};

const POLICY_RULES = {
  strategy: oneOf(STRATEGIES),
  restarts: wholeNumber(0),
  withinMs: number(1),
  restartsTotal: wholeNumber(0),
  backoff: backoffRule,
  decide: callback,
};

export const POLICY_OPTIONS: readonly string[] = Object.keys(POLICY_RULES);

const policyRule = options(POLICY_RULES);

/** The rule for a policy. It is always called `supervise`, wherever it is given. */
export const supervisionPolicy: OptionRule = (value) => policyRule(value, 'supervise');
