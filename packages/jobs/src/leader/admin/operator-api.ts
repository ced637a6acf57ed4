import { payloadOfText } from '../../job/payload/payload.js';
import type { RequestRefusalCode } from '../../jobs-error.js';
import type { AdminAnswer, AdminRequest, JobView } from '../../protocol/client/admin-messages.js';
import type { ExecDepth } from '../../protocol/client/operator-messages.js';
import type { JobFilter, OperatorRequest } from '../../protocol/client/search-messages.js';
import { DeadLetterGroups } from '../dead-letters/dead-letter-groups.js';
import type { LeaderJob, LeaderParts } from '../leader-context.js';
import { type JobSearch, matches } from '../search/job-search.js';
import type { JobWalks } from '../search/job-walks.js';
import type { ClientSession } from '../sessions/client-session.js';
import type { SessionRegistry } from '../sessions/session-registry.js';
import { execDepths, statsView } from '../stats/stats-view.js';
import type { WorkerSteering } from '../steering/worker-steering.js';
import { BulkCancel } from './bulk-cancel.js';
import { clientViews } from './client-views.js';

type ListRequest = AdminRequest & { readonly kind: 'list' };
type RequestOf<Kind extends OperatorRequest['kind']> = OperatorRequest & { readonly kind: Kind };

const PAGE_MAX = 1_000;
const DEPTHS_MAX = 100;
const OBSERVE: AdminAnswer = { kind: 'forbidden', needed: 'observe on leader.observe' };
const ADMIN: AdminAnswer = { kind: 'forbidden', needed: 'admin on leader.admin' };

/** Requests of operators: search, groups of dead letters, audit, clients, stats, workers. */
export class OperatorApi {
  private readonly context: LeaderParts<
    | 'chunkCount'
    | 'fleet'
    | 'ledger'
    | 'limits'
    | 'markDirty'
    | 'queues'
    | 'recordBytesMax'
    | 'recordTime'
    | 'stage'
    | 'stats'
    | 'whenApplied'
  >;
  private readonly search: JobSearch;
  private readonly walks: JobWalks;
  private readonly steering: WorkerSteering;
  private readonly bulkCancel: BulkCancel;
  private readonly sessions: Pick<SessionRegistry, 'clients'>;
  private readonly viewOf: (job: LeaderJob) => JobView | undefined;

  /** `viewOf`: undefined for a job that is about to be dropped. */
  constructor(
    context: OperatorApi['context'],
    search: JobSearch,
    walks: JobWalks,
    steering: WorkerSteering,
    sessions: Pick<SessionRegistry, 'clients'>,
    viewOf: OperatorApi['viewOf'],
  ) {
    this.context = context;
    this.search = search;
    this.walks = walks;
    this.bulkCancel = new BulkCancel(context, search, walks);
    this.steering = steering;
    this.sessions = sessions;
    this.viewOf = viewOf;
  }

  serve(session: ClientSession, call: number, request: OperatorRequest): void {
    switch (request.kind) {
      case 'search':
        return this.find(session, call, request);
      case 'cancel-where':
        return this.bulkCancel.serve(session, call, request);
      case 'dead-groups':
        return this.groups(session, call, request);
      case 'redrive-edited':
        return this.redriveEdited(session, call, request);
      case 'audit':
        return this.answer(session, call, session.permitsAdmin ? this.audit(request) : ADMIN);
      case 'clients':
        if (!session.permitsOverview) return this.answer(session, call, OBSERVE);
        return this.answer(session, call, {
          kind: 'clients',
          clients: clientViews(this.context, this.sessions.clients),
        });
      case 'stats':
        if (!session.permitsOverview) return this.answer(session, call, OBSERVE);
        return this.answer(session, call, { kind: 'stats', stats: statsView(this.context, this.search) });
      case 'worker-quiet':
      case 'worker-stop':
        return this.steer(session, call, request);
      default:
        return request satisfies never;
    }
  }

  /** For an overview: the deepest queues. */
  depths(): ExecDepth[] {
    return execDepths(this.context, this.search).slice(0, DEPTHS_MAX);
  }

  /** Jobs in one state. */
  list(session: ClientSession, call: number, { state, after, max }: ListRequest): void {
    this.page(session, { state }, after, max, (jobs) =>
      this.answer(session, call, { kind: 'jobs', views: jobs }),
    );
  }

  /** The record of this session is applied. */
  workerChanged(worker: string, session: ClientSession, call: number): void {
    const sessions = this.steering.sessionsOf(worker);
    for (const one of sessions) this.steering.refresh(one);
    this.answer(session, call, { kind: 'count', count: sessions.length });
  }

  private find(session: ClientSession, call: number, { filter, after, max }: RequestOf<'search'>): void {
    this.page(session, filter, after, max, (jobs, next) =>
      this.answer(session, call, { kind: 'found', found: { jobs, next } }),
    );
  }

  private page(
    session: ClientSession,
    filter: JobFilter,
    after: number,
    max: number,
    done: (jobs: readonly JobView[], next: number) => void,
  ): void {
    const views: JobView[] = [];
    const pageMax = Math.max(1, Math.min(max, PAGE_MAX));
    let last = after;
    this.walk(session, filter, after, {
      visit: (view) => {
        views.push(view);
        last = view.job;
      },
      isFull: () => views.length === pageMax,
      end: (isOver) => done(views, isOver ? 0 : last),
    });
  }

  private groups(session: ClientSession, call: number, { exec, max }: RequestOf<'dead-groups'>): void {
    const groups = new DeadLetterGroups();
    const filter: JobFilter = { state: 'dead', ...(exec === undefined ? {} : { exec }) };
    this.walk(session, filter, 0, {
      visit: (_view, job) => groups.add(job),
      isFull: () => false,
      end: () =>
        this.answer(session, call, { kind: 'dead-groups', groups: groups.largest(Math.min(max, PAGE_MAX)) }),
    });
  }

  private walk(
    session: ClientSession,
    filter: JobFilter,
    after: number,
    each: {
      visit(view: JobView, job: LeaderJob): void;
      isFull(): boolean;
      end(isOver: boolean): void;
    },
  ): void {
    const { ledger } = this.context;
    this.walks.start({
      session,
      jobs: this.search.candidates(filter, after),
      visit: (job) => {
        if (!matches(ledger, filter, job) || !session.permits('observe', job)) return false;
        const view = this.viewOf(job);
        if (view !== undefined) each.visit(view, job);
        return true;
      },
      isFull: each.isFull,
      end: each.end,
    });
  }

  private redriveEdited(session: ClientSession, call: number, request: RequestOf<'redrive-edited'>): void {
    const { ledger, recordBytesMax, limits } = this.context;
    const job = ledger.jobs.get(request.job);
    if (job?.pending === true)
      return this.context.whenApplied(() => this.redriveEdited(session, call, request));
    if (job === undefined || !session.permits('admin', job) || ledger.isExpired(job, this.context.recordTime))
      return this.answer(session, call, { kind: 'unknown', job: request.job });
    const payload = payloadOfText(request.payload);
    if (payload.length > Math.min(limits.payloadBytesMax, recordBytesMax))
      return this.refuse(session, call, 'ERR_INPUT_TOO_LARGE', `an input of ${payload.length} bytes`);
    // The same request again: it is redriven since.
    if (job.state !== 'dead' && job.attempt >= request.attempt && job.payload === payload)
      return this.answer(session, call, { kind: 'count', count: 0 });
    if (job.state !== 'dead' || job.attempt !== request.attempt || !ledger.isReplayable(job.no))
      return this.refuse(
        session,
        call,
        'ERR_JOB_NOT_DEAD',
        `the job is ${job.state}, attempt ${job.attempt}`,
      );
    job.pending = true;
    const { recordTime: at } = this.context;
    this.context.stage(
      { type: 'redrive_edited', at, job: job.no, payload, by: session.authorOf(request) },
      session,
      call,
    );
  }

  private audit({ after, max }: RequestOf<'audit'>): AdminAnswer {
    const { audit } = this.context.ledger;
    const pageMax = Math.max(1, Math.min(max, PAGE_MAX));
    const from = after === undefined ? audit.nextNo - pageMax : after + 1;
    const entries = [...audit.entries()].filter(({ no }) => no >= from).slice(0, pageMax);
    return { kind: 'audit', entries };
  }

  private steer(
    session: ClientSession,
    call: number,
    request: RequestOf<'worker-quiet'> | RequestOf<'worker-stop'>,
  ): void {
    if (!session.permitsAdmin) return this.answer(session, call, ADMIN);
    const { worker } = request;
    const sessions = this.steering.sessionsOf(worker);
    const isKnown = sessions.length > 0 || this.context.ledger.quietWorkers.has(worker);
    if (!isKnown)
      return this.refuse(session, call, 'ERR_WORKER_UNKNOWN', `no worker '${worker}' is connected`);
    const { recordTime: at } = this.context;
    const by = session.authorOf(request);
    if (request.kind === 'worker-quiet')
      return this.context.stage(
        { type: 'worker_quiet', at, worker, quiet: request.quiet, by },
        session,
        call,
      );
    const detail = `${sessions.length} within ${request.withinMs} ms`;
    this.context.stage({ type: 'audit', at, by, action: 'worker-stop', target: worker, detail });
    // The entry in the audit is durable before its worker is stopped.
    this.context.whenApplied(() => {
      for (const { name } of sessions) this.steering.stop(name, request.withinMs);
      this.answer(session, call, { kind: 'count', count: sessions.length });
    });
  }

  private refuse(session: ClientSession, call: number, code: RequestRefusalCode, problem: string): void {
    this.answer(session, call, { kind: 'refused', code, problem });
  }

  private answer(session: ClientSession, call: number, answer: AdminAnswer): void {
    session.add({ kind: 'answer', call, answer });
    this.context.markDirty(session);
  }
}
