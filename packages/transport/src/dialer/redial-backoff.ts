/** How long to wait before another attempt. */
export interface RedialBackoff {
  readonly fromMs: number;
  readonly toMs: number;
  /** 0.2: between 80 % and 120 % of the wait, so that a thousand peers of a restarted listener do not come at once. */
  readonly jitter: number;
  /** A connection that lived this long counts as a success: the next wait is short again. */
  readonly stableMs: number;
}

export const REDIAL_BACKOFF: RedialBackoff = Object.freeze({
  fromMs: 500,
  toMs: 30_000,
  jitter: 0.2,
  stableMs: 10_000,
});

/** `failures` counts from 1; `random` is from 0 up to 1. Saturates, so any number of failures is fine. */
export function redialDelayMs(backoff: RedialBackoff, failures: number, random: number): number {
  const plain = Math.min(backoff.toMs, backoff.fromMs * 2 ** Math.min(failures - 1, 30));
  return plain * (1 + backoff.jitter * (2 * random - 1));
}
