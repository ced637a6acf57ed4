/** A token bucket for the jobs that one identity submits. */
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

  /** A batch larger than what is left is taken where there is anything left, and its rest is owed. */
  take(now: number, jobs = 1): boolean {
    this.tokens = Math.min(this.burst, this.tokens + (now - this.filledAt) * this.perMs);
    this.filledAt = now;
    if (this.tokens < 1) return false;
    this.tokens -= jobs;
    return true;
  }
}
