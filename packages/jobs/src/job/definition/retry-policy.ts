export type RetryBackoff = 'constant' | 'linear' | 'exponential';

/** The retries of a failed job. */
export interface RetryPolicy {
  /** Failed attempts before the job becomes a dead letter. */
  readonly attempts: number;
  /** How the delay grows: not at all, by `baseMs` each time, or twofold each time. */
  readonly backoff: RetryBackoff;
  /** The delay after the first failure. */
  readonly baseMs: number;
  /** The longest delay, before the jitter. */
  readonly capMs: number;
  /** 0.2 means ± 20 %. */
  readonly jitter: number;
  /** Lost workers before quarantine. */
  readonly crashes: number;
  /** Codes of errors after which there is no further attempt. Absent: none. */
  readonly stopOn?: readonly string[] | undefined;
}

/** 1 s × 2 up to 30 s, ± 20 %, six attempts. */
export const DEFAULT_RETRY: RetryPolicy = {
  attempts: 6,
  backoff: 'exponential',
  baseMs: 1_000,
  capMs: 30_000,
  jitter: 0.2,
  crashes: 5,
};

/**
 * The delay after the `failures`-th failure. `chance` is from 0 to 1 and chosen by the caller, who stores the
 * result. Saturates at the cap for any count; the jitter may exceed it.
 */
export function retryDelayMs(policy: RetryPolicy, failures: number, chance: number): number {
  const plain = Math.min(plainDelay(policy, Math.max(1, failures)), policy.capMs);
  const factor = 1 + policy.jitter * (2 * chance - 1);
  return Math.round(plain * factor);
}

function plainDelay(policy: RetryPolicy, failures: number): number {
  switch (policy.backoff) {
    case 'constant':
      return policy.baseMs;
    case 'linear':
      return policy.baseMs * failures;
    case 'exponential':
      // 2^1023 is the last finite power; the cap is far below.
      return policy.baseMs * 2 ** Math.min(failures - 1, 1_000);
    default:
      return policy.backoff satisfies never;
  }
}
