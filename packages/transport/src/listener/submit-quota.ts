/** A token bucket for the SubmitJob frames of one identity. */
export class SubmitQuota {
  private readonly perMs: number;
  private readonly burst: number;
  private tokens: number;
  private filledAt: number;

  constructor(perSecond: number, burst: number, now: number) {
    this.perMs = perSecond / 1000;
    this.burst = burst;
    this.tokens = burst;
    this.filledAt = now;
  }

  take(now: number): boolean {
    this.tokens = Math.min(this.burst, this.tokens + (now - this.filledAt) * this.perMs);
    this.filledAt = now;
    if (this.tokens < 1) return false;
    this.tokens -= 1;
    return true;
  }
}
