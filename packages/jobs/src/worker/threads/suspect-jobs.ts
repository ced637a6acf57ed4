const SUSPECTS_MAX = 1_024;

/** Jobs that were on a shared thread when it ended by itself. The oldest is dropped for the newest. */
export class SuspectJobs {
  private readonly jobs = new Set<number>();

  has(job: number): boolean {
    return this.jobs.size > 0 && this.jobs.has(job);
  }

  add(job: number): void {
    this.jobs.add(job);
    if (this.jobs.size <= SUSPECTS_MAX) return;
    for (const oldest of this.jobs) {
      this.jobs.delete(oldest);
      return;
    }
  }

  delete(job: number): void {
    this.jobs.delete(job);
  }
}
