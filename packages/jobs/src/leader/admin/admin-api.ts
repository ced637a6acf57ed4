import { DEFAULT_PRIORITY } from '../../job/definition/job-policy.js';
import { windowKey } from '../../ledger/key-window.js';
import type { CancelRecord } from '../../ledger/ledger-record.js';
import type {
  AdminAnswer,
  AdminRequest,
  CancelRequest,
  JobView,
  LeaderOverview,
  ReleaseKeys,
  WorkerView,
} from '../../protocol/client/admin-messages.js';
import type { LeaseWatch } from '../dispatch/lease-watch.js';
import type { FeedTable } from '../feeds/feed-table.js';
import type { LeaderJob, LeaderParts } from '../leader-context.js';
import type { ProgressTable } from '../progress/progress-table.js';
import type { ScheduleApi } from '../schedules/schedule-api.js';
import type { ClientSession } from '../sessions/client-session.js';
import type { WorkerSession } from '../sessions/worker-session.js';
import { JobExplainer } from './job-explainer.js';
import { type InputRead, JobInputs } from './job-inputs.js';
import type { OperatorApi } from './operator-api.js';

import { QueueAdmin } from './queue-admin.js';
import { refusalReasons } from './refusal-reasons.js';
import { runnerWaits } from './runner-waits.js';
import { nearQuotas, tableUses } from './table-usage.js';

type BulkRequest = AdminRequest & { readonly kind: 'redrive' | 'purge' };

const REASON_CHARS_MAX = 500;
const FORBIDDEN: AdminAnswer = { kind: 'forbidden', needed: 'observe on leader.observe' };
const FORBIDDEN_ADMIN: AdminAnswer = { kind: 'forbidden', needed: 'admin on leader.admin' };

/**
 * Requests of clients and operators about jobs, queues and the leader. Answers show durable state only.
 */
export class AdminApi {
  private readonly context: LeaderParts<
    | 'chunkCount'
    | 'diskLow'
    | 'diskRefusal'
    | 'draining'
    | 'effects'
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
    | 'wallStepMs'
    | 'whenApplied'
  >;
  private readonly leaseWatch: LeaseWatch;
  private readonly feeds: FeedTable;
  private readonly progress: ProgressTable;
  private readonly schedules: ScheduleApi;
  readonly operator: OperatorApi;
  private readonly queueAdmin: QueueAdmin;
  private readonly explainer: JobExplainer;
  private readonly inputs: JobInputs;

  constructor(
    context: AdminApi['context'],
    leaseWatch: LeaseWatch,
    feeds: FeedTable,
    progress: ProgressTable,
    schedules: ScheduleApi,
    makeOperator: (viewOf: (job: LeaderJob) => JobView | undefined) => OperatorApi,
  ) {
    this.context = context;
    this.schedules = schedules;
    this.operator = makeOperator((job) => (this.isExpired(job) ? undefined : this.jobView(job)));
    this.leaseWatch = leaseWatch;
    this.feeds = feeds;
    this.progress = progress;
    this.queueAdmin = new QueueAdmin(context);
    this.explainer = new JobExplainer(context);
    this.inputs = new JobInputs(context.effects, (session, call, answer) =>
      this.answer(session, call, answer),
    );
  }

  serve(session: ClientSession, call: number, request: AdminRequest): void {
    switch (request.kind) {
      case 'cancel':
        return this.cancel(session, call, request);
      case 'inspect': {
        const job = this.context.ledger.jobs.get(request.job);
        if (this.isExpiredButChanging(job))
          return this.context.whenApplied(() => this.serve(session, call, request));
        if (job === undefined || this.isExpired(job) || !session.permits('observe', job))
          return this.answer(session, call, { kind: 'unknown', job: request.job });
        return this.answer(session, call, { kind: 'job', view: this.inspected(job) });
      }
      case 'input': {
        const job = this.context.ledger.jobs.get(request.job);
        if (job === undefined || this.isExpired(job) || !session.permits('observe', job))
          return this.answer(session, call, { kind: 'unknown', job: request.job });
        return this.inputs.serve(session, call, request, job);
      }
      case 'find-key': {
        const { client } = session;
        const entry = this.context.ledger.keys.get(windowKey(client, request.exec, request.key));
        return this.serve(session, call, { kind: 'inspect', job: entry?.job ?? 0 });
      }
      case 'release-keys':
        return this.releaseKeys(session, call, request);
      case 'list':
        return this.operator.list(session, call, request);
      case 'overview':
        if (!session.permitsOverview) return this.answer(session, call, FORBIDDEN);
        return this.answer(session, call, { kind: 'overview', overview: this.overview() });
      case 'actors': {
        if (!session.permitsAdmin) return this.answer(session, call, FORBIDDEN_ADMIN);
        const { effects, logUse: log, lsn } = this.context;
        return this.answer(session, call, { kind: 'actors', actors: { ...effects.viewActors(), log, lsn } });
      }
      case 'redrive':
      case 'purge':
        return this.redriveOrPurge(session, call, request);
      case 'dead-attempts':
        return this.deadAttempts(session, call, request.jobs);
      case 'queues':
        return this.answer(session, call, this.queueAdmin.list(session));
      case 'queue-limits':
      case 'queue-mode': {
        const refused = this.queueAdmin.change(session, call, request.queue, request);
        return refused === undefined ? undefined : this.answer(session, call, refused);
      }
      case 'explain':
        return this.explain(session, call, request.job);
      case 'schedule-set':
      case 'schedule-drop':
      case 'schedule-pause':
      case 'schedule-run':
      case 'schedules':
        return this.schedules.serve(session, call, request);
      default:
        return this.operator.serve(session, call, request);
    }
  }

  private explain(session: ClientSession, call: number, no: number): void {
    const job = this.context.ledger.jobs.get(no);
    if (job === undefined || this.isExpired(job) || !session.permits('observe', job))
      return this.answer(session, call, { kind: 'unknown', job: no });
    this.answer(session, call, { kind: 'explained', explanation: this.explainer.explain(job) });
  }

  /** Keys of its own identity, as those that a submit looks at. */
  private releaseKeys(session: ClientSession, call: number, { exec, keys }: ReleaseKeys): void {
    const { ledger, recordTime: at } = this.context;
    const scoped = keys.map((key) => windowKey(session.client, exec, key));
    const held = scoped.filter((key) => ledger.keys.isHeld(key));
    if (held.length === 0) return this.answer(session, call, { kind: 'count', count: 0 });
    this.context.stage({ type: 'key_release', at, keys: held }, session, call);
  }

  /** The record of this session is applied. */
  keysReleased(count: number, session: ClientSession, call: number): void {
    this.answer(session, call, { kind: 'count', count });
  }

  /** The record of a change is applied. */
  queueChanged(queue: string, session: ClientSession, call: number): void {
    this.answer(session, call, { kind: 'queue', queue: this.queueAdmin.view(queue) });
  }

  /** A part of a stored input has been read. */
  inputRead(read: InputRead): void {
    this.inputs.read(read);
  }

  /** Wins over any retry. A job that has ended already stays as it is, and the answer has its state. */
  private cancel(session: ClientSession, call: number, request: CancelRequest): void {
    const { ledger } = this.context;
    const { job: no, reason } = request;
    const job = ledger.jobs.get(no);
    if (this.isExpiredButChanging(job))
      return this.context.whenApplied(() => this.cancel(session, call, request));
    if (job === undefined || this.isExpired(job) || !session.permits('cancel', job))
      return this.answer(session, call, { kind: 'unknown', job: no });
    if (job.pending) return this.context.whenApplied(() => this.cancel(session, call, request));
    if (job.end !== undefined) return this.answer(session, call, { kind: 'cancelled', state: job.state });
    job.pending = true;
    const text = reason.slice(0, REASON_CHARS_MAX);
    const chunks = this.context.chunkCount(job);
    const record: CancelRecord = {
      type: 'cancel',
      at: this.context.recordTime,
      job: no,
      reason: text,
      by: session.authorOf(request),
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
    const [jobs, by] = [dead.map((job) => job.no), session.authorOf(request)];
    const record = { type, at: this.context.recordTime, jobs, by };
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
      runnerWaits: runnerWaits(this.context),
      execs: this.operator.depths(),
      clockStepMs: Math.round(this.context.wallStepMs),
      workers: [...fleet.sessions.values()].map((session) => this.workerView(session)),
    };
  }

  /** A dead letter whose time is over, and whose redrive is being written: it may be queued again. */
  private isExpiredButChanging(job: LeaderJob | undefined): boolean {
    return job?.pending === true && this.isExpired(job);
  }

  private isExpired(job: LeaderJob): boolean {
    return this.context.ledger.isExpired(job, this.context.recordTime);
  }

  private jobView(job: LeaderJob): JobView {
    const holder = job.state === 'running' ? job.lease?.session : undefined;
    const tags = this.context.ledger.tags.of(job.no);
    const view = { ...viewOf(job), ...this.feeds.view(job.no), ...(tags.length === 0 ? {} : { tags }) };
    if (holder === undefined) return this.waitingView(job, view);
    const waitsForRunner = this.progress.waitsForRunner(job.no, job.attempt);
    return {
      ...view,
      ...(waitsForRunner === undefined ? {} : { waitsForRunner }),
      liveness: this.leaseWatch.liveness(holder),
      blockedMs: this.leaseWatch.blockedMs(holder),
    };
  }

  /** With its log lines and earlier attempts, which a list would have too many of. */
  private inspected(job: LeaderJob): JobView {
    const progress = this.progress.of(job.no);
    const attempts = this.context.ledger.attempts.of(job.no);
    const startedAt = job.assignment?.startedAt ?? 0;
    return {
      ...this.jobView(job),
      ...(progress === undefined ? {} : { progress }),
      ...(attempts.length === 0 ? {} : { attempts }),
      ...(startedAt === 0 ? {} : { startedAt }),
    };
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
      ...(session.labels.size === 0 ? {} : { labels: [...session.labels] }),
      ...(session.isQuiet ? { quiet: true } : {}),
    };
  }
}

function viewOf(job: LeaderJob): JobView {
  const { exec, group, priority } = job.policy;
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
    ...(job.key === '' ? {} : { key: job.key }),
    ...(job.orderKey === '' ? {} : { orderKey: job.orderKey }),
    ...(priority === DEFAULT_PRIORITY ? {} : { priority }),
  };
}
