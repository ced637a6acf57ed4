import type { RateLimit } from '../../../job/queue-control.js';

/** Tokens are fractions: a part of one must not be lost to rounding. */
const ROUNDING = 1e-9;

/** The starts that a rate allows now. Each takes one token; tokens come back with time, up to `burst`. */
export class TokenBucket {
  readonly rate: RateLimit;
  private readonly burst: number;
  private readonly tokenMs: number;
  private tokens: number;
  private at: number;

  /** `emptyAt`: it had no token then; `-Infinity`: it is full. */
  constructor(rate: RateLimit, emptyAt: number) {
    this.rate = rate;
    this.burst = rate.burst ?? rate.jobs;
    this.tokenMs = rate.perMs / rate.jobs;
    this.tokens = emptyAt === Number.NEGATIVE_INFINITY ? this.burst : 0;
    this.at = emptyAt === Number.NEGATIVE_INFINITY ? 0 : emptyAt;
  }

  /** Whether so many tokens are there. */
  has(count: number, now: number): boolean {
    this.refill(now);
    return this.tokens >= count - ROUNDING;
  }

  take(now: number): void {
    this.refill(now);
    this.tokens -= 1;
  }

  /** When so many tokens are there, in whole milliseconds. */
  timeOf(count: number, now: number): number {
    this.refill(now);
    const missing = count - ROUNDING - this.tokens;
    return missing <= 0 ? now : Math.ceil(this.at + missing * this.tokenMs);
  }

  /** From then on it is as good as a new one. */
  fullAt(now: number): number {
    return this.timeOf(this.burst, now);
  }

  private refill(now: number): void {
    if (now <= this.at) return;
    this.tokens = Math.min(this.burst, this.tokens + (now - this.at) / this.tokenMs);
    this.at = now;
  }
}
