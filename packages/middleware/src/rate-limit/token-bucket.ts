/** Time is reckoned in fractions of milliseconds; what is closer than this is now. */
const EPSILON_MS = 1e-6;

/** How fast, and how many at once after a rest. */
export interface Rate {
  /** Milliseconds in which one token comes. */
  readonly msPerToken: number;
  readonly burst: number;
}

/**
 * A token bucket without a refill loop: all it keeps is the time at which it would be full again. Taking a token moves
 * that time one token further; a bucket is empty when it lies a whole burst ahead.
 *
 *   now ──────────────┬───────────────┬──→
 *                     fullAt          now + burst × msPerToken: nothing to take beyond here
 */
export class TokenBucket {
  private fullAt: number;

  constructor(now: number) {
    this.fullAt = now;
  }

  /** Takes a token and returns 0, or takes nothing and returns the exact time until there is one. */
  take(now: number, rate: Rate): number {
    const emptyAt = now + (rate.burst - 1) * rate.msPerToken;
    const missing = Math.max(this.fullAt, now) - emptyAt;
    if (missing > EPSILON_MS) return missing;
    this.fullAt = Math.max(this.fullAt, now) + rate.msPerToken;
    return 0;
  }

  /**
   * To be called with the exact time. No bucket is further from full than a whole burst: one that is was filled by
   * another clock, that of another system, and would wait for it. It begins anew.
   */
  keepTo(now: number, rate: Rate): void {
    if (this.fullAt > now + rate.burst * rate.msPerToken + EPSILON_MS) this.fullAt = now;
  }

  /** Gives a token back that was taken for nothing. */
  giveBack(rate: Rate): void {
    this.fullAt -= rate.msPerToken;
  }

  tokens(now: number, rate: Rate): number {
    return rate.burst - Math.max(0, this.fullAt - now) / rate.msPerToken;
  }
}
