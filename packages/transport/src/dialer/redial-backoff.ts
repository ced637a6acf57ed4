import { checkOptions, number } from '@troupe/core/option-check';

/** The delays between dial attempts: exponential, with jitter. */
export interface RedialBackoff {
  /** The delay after the first failure; it doubles with each one. */
  readonly fromMs: number;
  /** The longest delay, before the jitter. */
  readonly toMs: number;
  /**
   * 0.2: from 80 % to 120 % of the delay, so that the peers of a restarted listener do not dial all at once.
   */
  readonly jitter: number;
  /** A connection that lasted this long counts as a success: the next delay is `fromMs` again. */
  readonly stableMs: number;
}

const REDIAL_BACKOFF: RedialBackoff = Object.freeze({
  fromMs: 500,
  toMs: 30_000,
  jitter: 0.2,
  stableMs: 10_000,
});

const RULES = { fromMs: number(1), toMs: number(1), jitter: number(0, 1), stableMs: number(0) };

/** The delays, where not all are given. */
export function redialBackoff(changes: Partial<RedialBackoff> = {}): RedialBackoff {
  checkOptions('backoff', changes, RULES);
  return { ...REDIAL_BACKOFF, ...changes };
}

/** `failures` counts from 1; `random` is from 0 up to 1. */
export function redialDelayMs(backoff: RedialBackoff, failures: number, random: number): number {
  const delayMs = Math.min(backoff.toMs, backoff.fromMs * 2 ** Math.min(failures - 1, 30));
  return delayMs * (1 + backoff.jitter * (2 * random - 1));
}
