/** A worker gets as many jobs at once as keep it busy for so long; longer jobs are spread over workers. */
const BATCH_MS = 2;
export const BATCH_JOBS_MAX = 256;

/**
 * The recent run time of attempts at one worker. Leader and worker estimate it alike (ADR 0410).
 */
export class RunTimeEstimate {
  /** Unknown before the first has ended. */
  private attemptMs = Number.POSITIVE_INFINITY;

  add(attempts: number, totalMs: number): void {
    if (attempts === 0 || !(totalMs >= 0)) return;
    const meanMs = totalMs / attempts;
    // A slow attempt counts at once, fast ones gradually.
    if (meanMs > this.attemptMs || this.attemptMs === Number.POSITIVE_INFINITY) this.attemptMs = meanMs;
    else this.attemptMs += (meanMs - this.attemptMs) / 4;
  }

  /** Short jobs that make one batch; 0 while a single job is long, or nothing is known. */
  get batchSize(): number {
    return Math.min(BATCH_JOBS_MAX, Math.floor(BATCH_MS / this.attemptMs));
  }
}
