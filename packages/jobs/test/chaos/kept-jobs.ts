import { jobId, payloadText } from '@troupe/jobs';
import { openWal } from '@troupe/wal';
import { ledgerFold } from '#src/ledger/ledger-fold.js';

/** A job as its folder holds it at the end. */
export interface KeptJob {
  readonly exec: string;
  readonly state: string;
  /** Undefined unless it is done. */
  readonly output: unknown;
  /** Record time of its submit. */
  readonly at: number;
}

/** The jobs that a leader would start with: the newest snapshot and the records after it. */
export async function keptJobs(dir: string): Promise<Map<string, KeptJob>> {
  await using log = await openWal({ dir });
  const { tag, jobs } = await log.restore(ledgerFold);
  const kept = new Map<string, KeptJob>();
  for (const { no, policy, state, at, end } of jobs.values()) {
    const output = end?.result === undefined ? undefined : (JSON.parse(payloadText(end.result)) as unknown);
    kept.set(jobId(tag, no), { exec: policy.exec, state, output, at });
  }
  return kept;
}
