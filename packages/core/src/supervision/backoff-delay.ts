import type { Backoff } from '../define/supervision-policy.js';

/**
 * The delay before restart number `attempt` (1 is the first): doubles from `fromMs`, saturates at `toMs` (the
 * exponent is bounded before it is used), then varies by the jitter. `random` is in [0, 1).
 */
export function backoffMs(backoff: Backoff, attempt: number, random: number): number {
  const doublings = Math.min(Math.max(attempt - 1, 0), 52);
  const delay = Math.min(backoff.fromMs * 2 ** doublings, backoff.toMs);
  const jitterMs = delay * (backoff.jitter ?? 0) * (2 * random - 1);
  return Math.max(0, delay + jitterMs);
}
