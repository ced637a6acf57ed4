/** A token bucket on times handed in. */
export class SubmitQuota {
  private readonly perMs: number;
  private readonly burst: number;
  private tokens: number;
  private at: number;

  constructor(perSecond: number, burst: number, now: number) {
    this.perMs = perSecond / 1000;
    this.burst = burst;
    this.tokens = burst;
    this.at = now;
  }

  take(now: number): boolean {
    this.tokens = Math.min(this.burst, this.tokens + (now - this.at) * this.perMs);
    this.at = now;
    if (this.tokens < 1) return false;
    this.tokens -= 1;
    return true;
  }
}
