import { windowKey } from '../../ledger/key-window.js';
import type { CancelRecord } from '../../ledger/ledger-record.js';
import type {
  AdminAnswer,
  AdminRequest,
  JobView,
  LeaderOverview,
  WorkerView,
} from '../../protocol/admin-messages.js';
import type { LeaseWatch } from '../dispatch/lease-watch.js';
import type { FeedTable } from '../feeds/feed-table.js';
import type { LeaderJob, LeaderParts } from '../leader-context.js';
import type { ProgressTable } from '../progress/progress-table.js';
import type { ClientSession } from '../sessions/client-session.js';
import type { WorkerSession } from '../sessions/worker-session.js';
import { JobListing } from './job-listing.js';
import { refusalReasons } from './refusal-reasons.js';
import { nearQuotas, tableUses } from './table-usage.js';

type BulkRequest = AdminRequest & { readonly kind: 'redrive' | 'purge' };

const REASON_CHARS_MAX = 500;
const FORBIDDEN: AdminAnswer = { kind: 'forbidden', needed: 'observe on leader.observe' };

/**
 * Requests of clients and operators: cancel, inspect, list, overview, redrive, purge. Answers show durable
 * state only.
 */
export class AdminApi {
  private readonly context: LeaderParts<
    | 'chunkCount'
    | 'diskLow'
    | 'diskSlow'
    | 'draining'
    | 'fleet'
    | 'ledger'
    | 'limits'
    | 'logUse'
    | 'lsn'
    | 'markDirty'
    | 'queues'
    | 'recordTime'
    | 'spillBytes'
    | 'stage'
    | 'whenApplied'
  >;
  private readonly leaseWatch: LeaseWatch;
  private readonly feeds: FeedTable;
  private readonly progress: ProgressTable;
  private readonly listing: JobListing;

  constructor(
    context: AdminApi['context'],
    leaseWatch: LeaseWatch,
    feeds: FeedTable,
    progress: ProgressTable,
  ) {
    this.context = context;
    this.leaseWatch = leaseWatch;
    this.feeds = feeds;
    this.progress = progress;
    this.listing = new JobListing(
      (job) => (this.isExpired(job) ? undefined : this.jobView(job)),
      (session, call, views) => this.answer(session, call, { kind: 'jobs', views }),
    );
  }

  /** Continues the lists for the share of one turn. True if there is more to do. */
  continueListings(): boolean {
    if (this.listing.size > 0) this.listing.step();
    return this.listing.size > 0;
  }

  serve(session: ClientSession, call: number, request: AdminRequest): void {
    switch (request.kind) {
      case 'cancel':
        return this.cancel(session, call, request.job, request.reason);
      case 'inspect': {
        const job = this.context.ledger.jobs.get(request.job);
        if (job === undefined || this.isExpired(job) || !session.permits('observe', job))
          return this.answer(session, call, { kind: 'unknown', job: request.job });
        return this.answer(session, call, { kind: 'job', view: this.inspected(job) });
      }
      case 'find-key': {
        const { client } = session;
        const entry = this.context.ledger.keys.get(windowKey(client, request.exec, request.key));
        return this.serve(session, call, { kind: 'inspect', job: entry?.job ?? 0 });
      }
      case 'list':
        return this.listing.start(session, call, request, this.context.ledger.jobs);
      case 'overview':
        if (!session.permitsOverview) return this.answer(session, call, FORBIDDEN);
        return this.answer(session, call, { kind: 'overview', overview: this.overview() });
      case 'redrive':
      case 'purge':
        return this.redriveOrPurge(session, call, request);
      case 'dead-attempts':
        return this.deadAttempts(session, call, request.jobs);
      default:
        return request satisfies never;
    }
  }

  /** Wins over any retry. A job that has ended already stays as it is, and the answer has its state. */
  private cancel(session: ClientSession, call: number, no: number, reason: string): void {
    const { ledger } = this.context;
    const job = ledger.jobs.get(no);
    if (job === undefined || this.isExpired(job) || !session.permits('cancel', job))
      return this.answer(session, call, { kind: 'unknown', job: no });
    if (job.pending) return this.context.whenApplied(() => this.cancel(session, call, no, reason));
    if (job.end !== undefined) return this.answer(session, call, { kind: 'cancelled', state: job.state });
    job.pending = true;
    const text = reason.slice(0, REASON_CHARS_MAX);
    const chunks = this.context.chunkCount(job);
    const record: CancelRecord = {
      type: 'cancel',
      at: this.context.recordTime,
      job: no,
      reason: text,
      by: session.client,
    };
    this.context.stage(chunks === undefined ? record : { ...record, chunks }, session, call);
  }

  answer(session: ClientSession, call: number, answer: AdminAnswer): void {
    session.add({ kind: 'answer', call, answer });
    this.context.markDirty(session);
  }

  private deadAttempts(session: ClientSession, call: number, numbers: readonly number[]): void {
    const items = this.deadAmong(session, numbers).map(({ no, attempt }) => ({ job: no, attempt }));
    this.answer(session, call, { kind: 'dead-attempts', items });
  }

  private deadAmong(session: ClientSession, numbers: readonly number[]): LeaderJob[] {
    const jobs = new Set(numbers.map((no) => this.context.ledger.jobs.get(no)));
    return [...jobs].filter(
      (job): job is LeaderJob =>
        job?.state === 'dead' && !this.isExpired(job) && session.permits('admin', job),
    );
  }

  private redriveOrPurge(session: ClientSession, call: number, request: BulkRequest): void {
    const { ledger } = this.context;
    const { kind: type, jobs: numbers, attempts } = request;
    if (numbers.some((no) => ledger.jobs.get(no)?.pending === true))
      return this.context.whenApplied(() => this.redriveOrPurge(session, call, request));
    const meant = new Map(numbers.map((no, i) => [no, attempts?.[i]]));
    const dead = this.deadAmong(session, numbers).filter(
      ({ no, attempt }) =>
        (meant.get(no) ?? attempt) === attempt && (type === 'purge' || ledger.isReplayable(no)),
    );
    if (dead.length === 0) return this.answer(session, call, { kind: 'count', count: 0 });
    for (const job of dead) job.pending = true;
    const record = { type, at: this.context.recordTime, jobs: dead.map((job) => job.no), by: session.client };
    this.context.stage(record, session, call);
  }

  overview(): LeaderOverview {
    const { ledger, queues, fleet, lsn, diskLow } = this.context;
    return {
      tag: ledger.tag,
      lsn,
      counts: { ...ledger.counts },
      accepted: ledger.accepted,
      dropped: ledger.dropped,
      delayed: queues.delayed,
      liveBytes: ledger.liveBytes,
      keys: ledger.keys.size,
      diskLow,
      tables: tableUses(this.context),
      nearQuotas: nearQuotas(this.context),
      refusing: refusalReasons(this.context),
      log: this.context.logUse,
      workers: [...fleet.sessions.values()].map((session) => this.workerView(session)),
    };
  }

  private isExpired(job: LeaderJob): boolean {
    return this.context.ledger.isExpired(job, this.context.recordTime);
  }

  private jobView(job: LeaderJob): JobView {
    const holder = job.state === 'running' ? job.lease?.session : undefined;
    const view = { ...viewOf(job), ...this.feeds.view(job.no) };
    if (holder === undefined) return this.waitingView(job, view);
    const waitsForRunner = this.progress.waitsForRunner(job.no, job.attempt);
    return {
      ...view,
      ...(waitsForRunner === undefined ? {} : { waitsForRunner }),
      liveness: this.leaseWatch.liveness(holder),
      blockedMs: this.leaseWatch.blockedMs(holder),
    };
  }

  /** With its log lines, which a list would have too many of. */
  private inspected(job: LeaderJob): JobView {
    const progress = this.progress.of(job.no);
    return progress === undefined ? this.jobView(job) : { ...this.jobView(job), progress };
  }

  private waitingView(job: LeaderJob, view: JobView): JobView {
    const isDue = job.state === 'queued' && job.dueAt <= this.context.recordTime;
    const waitsForRunner = isDue ? this.context.fleet.busyRunnerOf(job.policy) : undefined;
    return waitsForRunner === undefined ? view : { ...view, waitsForRunner };
  }

  private workerView(session: WorkerSession): WorkerView {
    return {
      worker: session.name,
      liveness: this.leaseWatch.liveness(session),
      blockedMs: this.leaseWatch.blockedMs(session),
      running: session.leases.length,
      overrun: session.overrun,
      credit: session.credit,
      slots: session.slots,
      cpu: session.cpu,
      lagMs: session.lagMs,
      runners: session.runnerUses,
    };
  }
}

function viewOf(job: LeaderJob): JobView {
  const { exec, group } = job.policy;
  return {
    job: job.no,
    exec,
    group,
    client: job.client,
    state: job.state,
    attempt: job.attempt,
    failures: job.failures,
    crashes: job.crashes,
    submittedAt: job.at,
    dueAt: job.dueAt,
    worker: job.worker,
    endedAt: job.end?.at ?? 0,
    reason: job.end?.reason ?? '',
    failure: job.end?.failure ?? job.failure,
    payloadBytes: job.payload.length,
  };
}
