import type { AssignRecord, LedgerRecord } from '#src/ledger/ledger-record.js';

/** A change is in force once its leader has applied it; starts that were decided before may follow it. */
const IN_FORCE_MS = 250;

/** The acts of clients and operators, and the workers that they have made quiet, by the records. */
export class ActModel {
  /** Time, client and act, in the order of the log. */
  readonly acts: string[] = [];
  /**
   * Quiet workers, and since when: in virtual time, because a record may wait for its disk, and in record time, because
   * a start may be read back after the restart of a leader.
   */
  readonly quiet = new Map<string, { readonly changedAt: number; readonly recordedAt: number }>();
  private readonly now: () => number;
  private readonly problem: (text: string) => void;

  constructor(now: () => number, problem: (text: string) => void) {
    this.now = now;
    this.problem = problem;
  }

  take(record: LedgerRecord): void {
    const by =
      record.type === 'schedule_set' ? (record.by ?? record.client) : 'by' in record ? record.by : undefined;
    if (by !== undefined) this.acts.push(`${record.at} ${by} ${actionOf(record)}`);
    if (record.type === 'assign') return this.assigned(record);
    if (record.type !== 'worker_quiet') return;
    if (record.quiet) this.quiet.set(record.worker, { changedAt: this.now(), recordedAt: record.at });
    else this.quiet.delete(record.worker);
  }

  /** By the name of the worker; its incarnation follows it. */
  private assigned({ job, worker, at }: AssignRecord): void {
    const since = this.quiet.get(worker.split('~')[0] ?? '');
    if (since === undefined) return;
    const { changedAt, recordedAt } = since;
    if (this.now() - changedAt > IN_FORCE_MS && at - recordedAt > IN_FORCE_MS)
      this.problem(`job ${job} goes to ${worker}, which is quiet`);
  }
}

function actionOf(record: LedgerRecord): string {
  switch (record.type) {
    case 'queue_mode':
      return `queue-${record.mode}`;
    case 'worker_quiet':
      return record.quiet ? 'worker-quiet' : 'worker-resume';
    case 'schedule_pause':
      return record.paused ? 'schedule-pause' : 'schedule-resume';
    case 'schedule_fire':
      return 'schedule-run';
    case 'audit':
      return record.action;
    default:
      return record.type.replace('_', '-');
  }
}
