import type { Job } from '../jobs/job.js';

/** Of each schedule. */
const RUNS_MAX = 1_000;

interface Jobs {
  get(no: number): Job | undefined;
}

/**
 * Runs of schedules before their latest one, by the numbers of their jobs: each had not ended when a later
 * run began, or was a dead letter, which may be redriven. Those that are over leave with the next run.
 */
export class EarlierRuns {
  private readonly bySchedule = new Map<string, readonly number[]>();

  of(schedule: string): readonly number[] {
    return this.bySchedule.get(schedule) ?? [];
  }

  /** `job` is the latest run no longer. */
  add(schedule: string, job: number, jobs: Jobs): void {
    const runs = [...this.of(schedule), job].filter((no) => mayGoOn(jobs.get(no)));
    if (runs.length > 0) this.bySchedule.set(schedule, runs.slice(-RUNS_MAX));
    else this.bySchedule.delete(schedule);
  }

  /** From a snapshot. */
  restore(schedule: string, jobs: readonly number[]): void {
    this.bySchedule.set(schedule, jobs);
  }

  remove(schedule: string): void {
    this.bySchedule.delete(schedule);
  }

  entries(): IterableIterator<[string, readonly number[]]> {
    return this.bySchedule.entries();
  }
}

/** The reason of the cancel of a run. */
export function replacedReason(schedule: string): string {
  return `replaced by the next run of schedule ${schedule}`;
}

function mayGoOn(job: Job | undefined): boolean {
  return job !== undefined && (job.end === undefined || job.state === 'dead');
}
