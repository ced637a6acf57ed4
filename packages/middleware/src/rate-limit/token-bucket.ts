/** Times are fractions of milliseconds; a difference below this one counts as none. */
const EPSILON_MS = 1e-6;

/** The speed of a limit, and its burst after a pause. */
export interface Rate {
  /** Milliseconds until the next token. */
  readonly msPerToken: number;
  readonly burst: number;
}

/**
 * A token bucket without a refill loop: its only state is the time at which it is full again. Taking a token
 * moves that time by one token; the bucket is empty when the time lies a whole burst ahead.
 *
 *   now ──────────────┬───────────────┬──→
 *                     fullAt          now + burst × msPerToken: empty
 */
export class TokenBucket {
  private fullAt: number;

  constructor(now: number) {
    this.fullAt = now;
  }

  /** Takes a token and returns 0, or takes nothing and returns the exact milliseconds until the next one. */
  take(now: number, rate: Rate): number {
    const emptyAt = now + (rate.burst - 1) * rate.msPerToken;
    const missing = Math.max(this.fullAt, now) - emptyAt;
    if (missing > EPSILON_MS) return missing;
    this.fullAt = Math.max(this.fullAt, now) + rate.msPerToken;
    return 0;
  }

  /**
   * Needs the exact time. A bucket is never more than a burst away from full, unless the clock of another
   * system has filled it: such a bucket starts full.
   */
  resetIfFromOtherClock(now: number, rate: Rate): void {
    if (this.fullAt > now + rate.burst * rate.msPerToken + EPSILON_MS) this.fullAt = now;
  }

  /** Returns the token of a message that was not handled. */
  giveBack(rate: Rate): void {
    this.fullAt -= rate.msPerToken;
  }

  tokens(now: number, rate: Rate): number {
    return rate.burst - Math.max(0, this.fullAt - now) / rate.msPerToken;
  }
}
