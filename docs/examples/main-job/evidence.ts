import { decodeRecords } from '@troupe/jobs';
import { dumpWal } from '@troupe/wal';

/** What the leader's log says about every job, read from the disk after everything has ended. */
export interface Evidence {
  readonly accepted: number;
  readonly attempts: number;
  readonly completed: number;
  /** Jobs with more than one accepted result. */
  readonly doubled: number;
  /** Jobs that were accepted and have no result. */
  readonly open: number;
}

export async function evidenceIn(folder: string): Promise<Evidence> {
  const results = new Map<number, number>();
  let attempts = 0;
  await dumpWal(folder, (entry) => {
    if (entry.kind !== 'record' || entry.base64 === undefined) return;
    decodeRecords(Buffer.from(entry.base64, 'base64'), (record) => {
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
    doubled: counts.filter((count) => count > 1).length,
    open: counts.filter((count) => count === 0).length,
  };
}
