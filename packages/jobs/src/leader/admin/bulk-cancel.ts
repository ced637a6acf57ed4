import { jobId } from '../../job/job-id.js';
import type { CancelRecord } from '../../ledger/ledger-record.js';
import type { AdminAnswer } from '../../protocol/client/admin-messages.js';
import { BULK_JOBS_MAX } from '../../protocol/client/admin-messages.js';
import type { CancelWhereRequest } from '../../protocol/client/search-messages.js';
import type { LeaderJob, LeaderParts } from '../leader-context.js';
import { type JobSearch, matches } from '../search/job-search.js';
import type { JobWalks } from '../search/job-walks.js';
import type { ClientSession } from '../sessions/client-session.js';

/** Ids that an entry of the audit names. */
const NAMED_JOBS = 10;
const REASON_CHARS_MAX = 500;

interface Act {
  readonly session: ClientSession;
  readonly call: number;
  readonly request: CancelWhereRequest;
  readonly next: number;
  readonly matched: number;
  cancelled: number;
}

/**
 * Cancels the queued and running jobs that fit a filter, or counts them: a batch a request, found by a walk
 * in slices.
 */
export class BulkCancel {
  private readonly context: LeaderParts<
    'chunkCount' | 'ledger' | 'markDirty' | 'recordTime' | 'stage' | 'whenApplied'
  >;
  private readonly search: JobSearch;
  private readonly walks: JobWalks;

  constructor(context: BulkCancel['context'], search: JobSearch, walks: JobWalks) {
    this.context = context;
    this.search = search;
    this.walks = walks;
  }

  serve(session: ClientSession, call: number, request: CancelWhereRequest): void {
    const { filter, after, max, dryRun } = request;
    const batchMax = dryRun ? Number.MAX_SAFE_INTEGER : Math.max(1, Math.min(max, BULK_JOBS_MAX));
    const numbers: number[] = [];
    let [matched, last] = [0, after];
    this.walks.start({
      session,
      jobs: this.search.candidates(filter, after),
      visit: (job) => {
        const isMeant =
          job.end === undefined &&
          matches(this.context.ledger, filter, job) &&
          session.permits('cancel', job);
        if (!isMeant) return false;
        matched += 1;
        last = job.no;
        if (!dryRun) numbers.push(job.no);
        return !dryRun;
      },
      isFull: () => matched === batchMax,
      end: (isOver) =>
        this.found({ session, call, request, next: isOver ? 0 : last, matched, cancelled: 0 }, numbers),
    });
  }

  private found(act: Act, numbers: readonly number[]): void {
    if (numbers.length === 0) return this.answer(act);
    const { session, request } = act;
    const { tag } = this.context.ledger;
    const ids = numbers.slice(0, NAMED_JOBS).map((no) => jobId(tag, no));
    // The entry is durable before its jobs are cancelled, or together with them.
    this.context.stage({
      type: 'audit',
      at: this.context.recordTime,
      by: session.authorOf(request),
      action: 'cancel',
      target: numbers.length === 1 ? (ids[0] ?? '') : `${numbers.length} jobs`,
      detail: [request.reason.slice(0, REASON_CHARS_MAX), JSON.stringify(request.filter), ids.join(' ')]
        .filter((text) => text !== '')
        .join('; '),
    });
    this.cancel(act, numbers);
  }

  /**
   * Until all of them have ended: a job whose record is on its way is looked at again when records are
   * applied, and one that has ended since stays as it is.
   */
  private cancel(act: Act, numbers: readonly number[]): void {
    const { ledger } = this.context;
    const left: number[] = [];
    for (const no of numbers) {
      const job = ledger.jobs.get(no);
      if (job === undefined || job.end !== undefined) continue;
      left.push(no);
      if (!job.pending) this.stage(job, act);
    }
    if (left.length === 0) return this.answer(act);
    this.context.whenApplied(() => this.cancel(act, left));
  }

  private stage(job: LeaderJob, act: Act): void {
    job.pending = true;
    act.cancelled += 1;
    const chunks = this.context.chunkCount(job);
    const record: CancelRecord = {
      type: 'cancel',
      at: this.context.recordTime,
      job: job.no,
      reason: act.request.reason.slice(0, REASON_CHARS_MAX),
    };
    this.context.stage(chunks === undefined ? record : { ...record, chunks });
  }

  private answer({ session, call, matched, cancelled, next }: Act): void {
    const answer: AdminAnswer = { kind: 'cancel-report', matched, cancelled, next };
    session.add({ kind: 'answer', call, answer });
    this.context.markDirty(session);
  }
}
