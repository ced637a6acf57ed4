/** Jobs go to one worker in a row while they keep it busy for no longer than this; beyond, they go side by side. */
const BATCH_MS = 2;
export const BATCH_JOBS_MAX = 256;

/** How long attempts take at a worker, lately; both sides look at it the same way (ADR 0084, ADR 0138). */
export class RunTimeEstimate {
  /** Unknown before the first has ended. */
  private attemptMs = Number.POSITIVE_INFINITY;

  ran(attempts: number, togetherMs: number): void {
    if (attempts === 0 || !(togetherMs >= 0)) return;
    const meanMs = togetherMs / attempts;
    // A slow one counts at once, fast ones by and by.
    if (meanMs > this.attemptMs || this.attemptMs === Number.POSITIVE_INFINITY) this.attemptMs = meanMs;
    else this.attemptMs += (meanMs - this.attemptMs) / 4;
  }

  /** How many in a row are short work; 0 while one alone is long, or nobody knows. */
  get batchSize(): number {
    return Math.min(BATCH_JOBS_MAX, Math.floor(BATCH_MS / this.attemptMs));
  }
}
