import type { JobFailure } from '../../jobs-error.js';
import type { DeadRecord, RequeueRecord } from '../ledger-record.js';
import type { AttemptEnding, EndedAttempt } from './ended-attempt.js';

/** Of one job: the latest. */
export const ATTEMPTS_MAX = 20;
/** Characters of all jobs. Beyond it the job whose latest attempt ended first loses its attempts. */
export const ATTEMPT_CHARS_MAX = 16 * 1024 * 1024;
/** The cost of an attempt beside its failure. */
const ATTEMPT_CHARS = 200;

interface Entry {
  readonly attempts: readonly EndedAttempt[];
  readonly chars: number;
}

/**
 * Attempts that ended without an output, and those of the same jobs that came after: by job, and not on it,
 * since a job that is done with its first attempt costs nothing here.
 */
export class JobAttempts {
  /** The job whose latest attempt ended first is at the front. */
  private readonly byJob = new Map<number, Entry>();
  private chars = 0;

  get size(): number {
    return this.byJob.size;
  }

  /** Oldest first. */
  of(job: number): readonly EndedAttempt[] {
    return this.byJob.get(job)?.attempts ?? NONE;
  }

  add(job: number, attempt: EndedAttempt): void {
    const known = this.of(job);
    this.set(job, [...known.slice(Math.max(0, known.length + 1 - ATTEMPTS_MAX)), attempt]);
  }

  /** Also for attempts from a snapshot, in their order there. */
  set(job: number, attempts: readonly EndedAttempt[]): void {
    this.drop(job);
    const chars = attempts.reduce((sum, { failure }) => sum + ATTEMPT_CHARS + charsOf(failure), 0);
    this.byJob.set(job, { attempts, chars });
    this.chars += chars;
    for (const oldest of this.byJob.keys()) {
      if (this.chars <= ATTEMPT_CHARS_MAX) return;
      this.drop(oldest);
    }
  }

  drop(job: number): void {
    const entry = this.byJob.get(job);
    if (entry === undefined) return;
    this.byJob.delete(job);
    this.chars -= entry.chars;
  }

  *entries(): Generator<readonly [job: number, attempts: readonly EndedAttempt[]]> {
    for (const [job, { attempts }] of this.byJob) yield [job, attempts];
  }
}

export function endingOf(record: RequeueRecord | DeadRecord): AttemptEnding {
  return record.type === 'dlq' ? record.reason : ENDINGS[record.type];
}

const NONE: readonly EndedAttempt[] = [];
const ENDINGS = {
  retry: 'failed',
  timeout_requeue: 'timed-out',
  worker_down_requeue: 'worker-lost',
  release: 'released',
} as const satisfies Record<RequeueRecord['type'], AttemptEnding>;

function charsOf(failure: JobFailure | undefined): number {
  if (failure === undefined) return 0;
  const { name, message, code = '', stack = '', cause } = failure;
  return name.length + message.length + code.length + stack.length + charsOf(cause);
}
