import type { DeadRecord, RequeueRecord } from '../../ledger/ledger-record.js';
import type { AttemptEnding, EndedAttempt } from '../../protocol/admin-messages.js';
import type { LeaderJob } from '../leader-context.js';

/** Of one job: the latest. */
const ATTEMPTS_MAX = 20;
/** Characters of all jobs. Beyond it the job whose attempt ended first loses its history. */
const TOTAL_CHARS_MAX = 16 * 1024 * 1024;
/** The cost of an attempt beside its failure. */
const ATTEMPT_CHARS = 200;

interface Entry {
  attempts: EndedAttempt[];
  chars: number;
}

/**
 * Attempts that ended without an output, and those of the same jobs that came after. Never in the journal,
 * and bounded: a job that is done with its first attempt costs nothing here.
 */
export class AttemptHistory {
  /** By job, the one whose latest attempt ended first at the front. */
  private readonly entries = new Map<number, Entry>();
  private chars = 0;

  /** To be called before the lease of the attempt ends. */
  failed(record: RequeueRecord | DeadRecord, job: LeaderJob): void {
    const ending = record.type === 'dlq' ? record.reason : ENDINGS[record.type];
    this.add(job, attemptOf(job, record.attempt, record.at, ending, record.failure));
  }

  cancelled(job: LeaderJob): void {
    if (job.lease === undefined) return;
    this.add(job, attemptOf(job, job.attempt, job.end?.at ?? 0, 'cancelled', undefined));
  }

  /** Only where an earlier attempt was not. */
  done(job: LeaderJob): void {
    if (!this.entries.has(job.no)) return;
    this.add(job, attemptOf(job, job.attempt, job.end?.at ?? 0, 'done', undefined));
  }

  /** Oldest first; undefined: none. */
  of(job: number): readonly EndedAttempt[] | undefined {
    return this.entries.get(job)?.attempts;
  }

  private add({ no }: LeaderJob, attempt: EndedAttempt): void {
    const known = this.entries.get(no);
    if (known !== undefined) this.remove(no, known);
    const attempts = [...(known?.attempts ?? []), attempt].slice(-ATTEMPTS_MAX);
    let chars = 0;
    for (const { failure } of attempts)
      chars += ATTEMPT_CHARS + (failure === undefined ? 0 : JSON.stringify(failure).length);
    this.chars += chars;
    this.entries.set(no, { attempts, chars });
    for (const [oldest, entry] of this.entries) {
      if (this.chars <= TOTAL_CHARS_MAX) return;
      this.remove(oldest, entry);
    }
  }

  private remove(job: number, entry: Entry): void {
    this.entries.delete(job);
    this.chars -= entry.chars;
  }
}

const ENDINGS = {
  retry: 'failed',
  timeout_requeue: 'timed-out',
  worker_down_requeue: 'worker-lost',
  release: 'released',
} as const satisfies Record<RequeueRecord['type'], AttemptEnding>;

function attemptOf(
  { lease }: LeaderJob,
  attempt: number,
  endedAt: number,
  ending: AttemptEnding,
  failure: EndedAttempt['failure'],
): EndedAttempt {
  const worker = lease?.session.name ?? '';
  return { attempt, worker, startedAt: lease?.assignedAt ?? 0, endedAt, ending, ...(failure && { failure }) };
}
