import { decodeRecords } from '@troupe/jobs';
import { dumpWal } from '@troupe/wal';

/** Counts of jobs in the log of a leader, read from the disk after every process has ended. */
export interface LoggedJobs {
  readonly accepted: number;
  readonly attempts: number;
  readonly completed: number;
  /** Jobs with more than one accepted result. */
  readonly duplicated: number;
  /** Accepted jobs without a result. */
  readonly unfinished: number;
}

export async function countJobsInLog(folder: string): Promise<LoggedJobs> {
  const results = new Map<number, number>();
  let attempts = 0;
  await dumpWal(folder, (entry) => {
    if (entry.kind !== 'record') return;
    decodeRecords(entry.payload, (record) => {
      if (record.type === 'enqueue') results.set(record.job, 0);
      else if (record.type === 'assign') attempts += 1;
      else if (record.type === 'ack') results.set(record.job, (results.get(record.job) ?? 0) + 1);
    });
  });
  const counts = [...results.values()];
  return {
    accepted: counts.length,
    attempts,
    completed: counts.filter((count) => count > 0).length,
    duplicated: counts.filter((count) => count > 1).length,
    unfinished: counts.filter((count) => count === 0).length,
  };
}
