import type { JobsHost, JobsTimer } from '../host.js';
import type { PayloadStore } from '../job/stored-payload.js';
import type { Journal } from '../journal/journal.js';
import type { Ledger } from '../ledger/ledger.js';
import type { LedgerRecord } from '../ledger/record.js';
import type { ClientHello, ClientMessage, LeaderOverview } from '../protocol/client-messages.js';
import type { LostPayload } from '../protocol/leader-interface.js';
import type { HeartbeatHello, LoopBlocked, WorkerHello, WorkerMessage } from '../protocol/worker-messages.js';
import { AdminApi } from './admin/admin-api.js';
import { CommitEffects } from './commit/commit-effects.js';
import { type Batch, Staging } from './commit/staging.js';
import { Attempts } from './dispatch/attempts.js';
import { Dispatcher } from './dispatch/dispatcher.js';
import { Fleet } from './dispatch/fleet.js';
import { JobQueues } from './dispatch/job-queues.js';
import { LeaseWatch } from './dispatch/lease-watch.js';
import type { JobsObserver } from './jobs-event.js';
import type { LeaderContext, Session } from './leader-context.js';
import type { LeaderLimits, LeaderTimes } from './leader-limits.js';
import type { ClientPort, ClientSession } from './sessions/client-session.js';
import type { HeartbeatSession } from './sessions/heartbeat-session.js';
import { OutboundFlush } from './sessions/outbound-flush.js';
import { SessionRegistry } from './sessions/session-registry.js';
import type { WorkerPort, WorkerSession } from './sessions/worker-session.js';
import { ProducerRegistry } from './submit/producer-registry.js';
import { SubmitProcessor } from './submit/submit-processor.js';
import { UncommittedJobs } from './submit/uncommitted-jobs.js';

export interface LeaderSetup {
  readonly ledger: Ledger;
  readonly journal: Journal;
  readonly lsn: number;
  readonly host: JobsHost;
  readonly limits: LeaderLimits;
  readonly times: LeaderTimes;
  readonly observe?: JobsObserver;
  readonly onFatal: (error: Error) => void;
}

/**
 * The leader as a machine that messages drive: sessions → journal → ledger → dispatch, in one order: validate → append →
 * durable → apply → act. It holds no socket and no promise; an actor or a simulator turns its handle.
 */
export class Leader implements LeaderContext {
  readonly ledger: Ledger;
  readonly queues: JobQueues;
  readonly fleet = new Fleet();
  readonly uncommitted: UncommittedJobs;
  readonly limits: LeaderLimits;
  readonly times: LeaderTimes;
  readonly host: JobsHost;
  readonly observe: JobsObserver | undefined;
  time = 0;
  draining = false;
  private readonly journal: Journal;
  private readonly staging: Staging<Session>;
  private readonly submits: SubmitProcessor;
  private readonly attempts: Attempts;
  private readonly watch: LeaseWatch;
  private readonly admin: AdminApi;
  private readonly sessions: SessionRegistry;
  private readonly dispatcher: Dispatcher;
  private readonly commitEffects: CommitEffects;
  private readonly outbound = new OutboundFlush();
  private waiting: (() => void)[] = [];
  private turnScheduled = false;
  private stopped = false;
  private lastNow: number;
  private readonly recordEpoch: number;
  private turnAt = 0;
  private ticker: JobsTimer;
  private whenIdle: (() => void) | undefined;

  constructor(setup: LeaderSetup) {
    this.ledger = setup.ledger;
    this.journal = setup.journal;
    this.limits = setup.limits;
    this.times = setup.times;
    this.host = setup.host;
    this.observe = setup.observe;
    this.queues = new JobQueues(setup.limits.clientRunningMax, (no) => this.dispatcher.waits(no));
    this.uncommitted = new UncommittedJobs(setup.ledger.nextJob);
    this.staging = new Staging(
      setup.journal,
      setup.lsn,
      (batch, firstLsn) => this.durable(batch, firstLsn),
      (error) => this.fail(error, setup.onFatal),
    );
    this.attempts = new Attempts(this);
    const producers = new ProducerRegistry(this);
    this.submits = new SubmitProcessor(this, this.attempts, producers, (session) =>
      this.sessions.forgotten(session),
    );
    this.watch = new LeaseWatch(this, this.attempts);
    this.admin = new AdminApi(this, this.watch);
    this.sessions = new SessionRegistry(this, this.attempts, this.watch, producers);
    this.dispatcher = new Dispatcher(this, this.attempts, () => this.wake());
    const { submits, attempts, admin, sessions } = this;
    this.commitEffects = new CommitEffects(this, { submits, attempts, admin, sessions });
    this.lastNow = setup.host.now();
    this.recordEpoch = Math.max(setup.host.wallNow(), this.ledger.now) - this.lastNow;
    this.readClock();
    this.restore();
    this.ticker = setup.host.setTimer(setup.times.tickMs, () => this.tick());
  }

  openClient(hello: ClientHello, port: ClientPort): ClientSession {
    this.readClock();
    const session = this.sessions.client(hello, port);
    this.wake();
    return session;
  }

  openWorker(hello: WorkerHello, port: WorkerPort): WorkerSession {
    this.readClock();
    const session = this.sessions.worker(hello, port);
    this.wake();
    return session;
  }

  fromClient(session: ClientSession, message: ClientMessage): void {
    this.readClock();
    if (session.closed || this.stopped || !this.sessions.current(session, message)) return;
    switch (message.kind) {
      case 'submit':
        for (const item of message.items) this.submits.submit(session, message.low, item);
        break;
      case 'submit_all':
        this.submits.submitAll(session, message);
        break;
      default:
        this.sessions.fromClient(session, message, this.admin);
    }
    this.wake();
  }

  fromWorker(session: WorkerSession, message: WorkerMessage): void {
    if (!session.open || this.stopped) return;
    this.readClock();
    this.watch.heard(session);
    this.sessions.fromWorker(session, message);
    this.wake();
  }

  openHeartbeat(hello: HeartbeatHello, port: WorkerPort): HeartbeatSession {
    return this.watch.openHeartbeat(hello, port);
  }

  fromHeartbeat(heartbeat: HeartbeatSession, report: LoopBlocked): void {
    if (!this.stopped) this.watch.fromHeartbeat(heartbeat, report);
  }

  /** The connection is gone. A worker keeps its attempts for the grace. */
  closed(session: Session | HeartbeatSession): void {
    if (session.kind === 'client') this.sessions.parted(session);
    else if (session.kind === 'heartbeat') this.watch.closeHeartbeat(session);
    else this.sessions.lost(session);
    this.wake();
  }

  /** Where large payloads are, if the journal keeps any. */
  get payloads(): PayloadStore | undefined {
    return this.journal.payloads;
  }

  /** The job cannot be run by anybody: it is dead, with its reason; the worker never had it. */
  payloadLost(session: WorkerSession, lost: LostPayload): void {
    this.readClock();
    this.attempts.payloadLost(session, lost);
    this.wake();
  }

  overview(): LeaderOverview {
    return this.admin.overview();
  }

  /** No new work; what is accepted goes on. */
  drain(): void {
    this.draining = true;
  }

  /** Lets what is in flight become durable and be answered, then closes the journal. */
  stop(done: (error: Error | undefined) => void): void {
    this.draining = true;
    this.ticker.cancel();
    this.dispatcher.stop();
    this.whenIdle = () => {
      this.stopped = true;
      this.journal.close(done);
    };
    this.wake();
  }

  /** Read once a turn: the records of one turn carry one time. */
  at(): number {
    return this.turnAt;
  }

  /** The wall clock is looked at once, when the leader starts (ADR 0094): set back, it would hold up every delay; set forward, end it. */
  private readClock(): void {
    this.turnAt = Math.floor(this.recordEpoch + this.host.now());
  }

  get lsn(): number {
    return this.staging.lsn;
  }

  get journalLow(): boolean {
    return this.journal.low;
  }

  stage(record: LedgerRecord, from?: Session, tag = 0): void {
    this.staging.stage(record, from, tag);
  }

  whenApplied(run: () => void): void {
    this.waiting.push(run);
  }

  markDirty(session: Session): void {
    this.outbound.markDirty(session);
  }

  private restore(): void {
    for (const job of this.ledger.jobs.unended()) {
      if (job.state === 'queued') this.queues.add(job, this.ledger.now);
      else if (job.state === 'running') this.attempts.restore(job, this.sessions.ghost(job.worker));
    }
  }

  private wake(): void {
    if (this.turnScheduled || this.stopped) return;
    this.turnScheduled = true;
    // Behind everything that has arrived by now: what a thousand connections say in one moment is one turn.
    this.host.later(() => this.turn());
  }

  private turn(): void {
    this.turnScheduled = false;
    if (this.stopped) return;
    this.readClock();
    this.dispatcher.dispatch();
    // The disk first: it works while the others are told.
    this.staging.flush(this.host.now());
    if (this.admin.walk()) this.wake();
    this.outbound.flushAll();
    if (this.whenIdle !== undefined && this.staging.idle && this.waiting.length === 0) this.whenIdle();
  }

  /** Durable: now, and only now, the records become facts and are acted on. */
  private durable(batch: Batch<Session>, firstLsn: number): void {
    if (this.stopped) return;
    this.readClock();
    this.observe?.({
      kind: 'durable',
      records: batch.size,
      tookMs: this.host.now() - batch.appendedAt,
      lsn: this.staging.lsn,
    });
    batch.visit(firstLsn, this.applyAndAct);
    if (this.waiting.length > 0) {
      const waiting = this.waiting;
      this.waiting = [];
      for (const run of waiting) run();
    }
    this.turn();
  }

  private readonly applyAndAct = (
    record: LedgerRecord,
    from: Session | undefined,
    tag: number,
    lsn: number,
  ): void => {
    const job = this.ledger.apply(record);
    this.commitEffects.act(record, job, from, tag, lsn);
  };

  private tick(): void {
    const now = this.host.now();
    this.readClock();
    // A leader that was stalled did not hear anybody; it does not hold that against them (ADR 0053).
    this.time += Math.min(now - this.lastNow, 2 * this.times.tickMs);
    this.lastNow = now;
    this.watch.sweep();
    const { ledger } = this;
    const nextAt = Math.min(ledger.ended.nextAt, ledger.dead.nextAt, ledger.keys.nextAt);
    if (this.staging.idle && nextAt <= this.at()) this.stage({ type: 'tick', at: this.at() });
    this.ticker = this.host.setTimer(this.times.tickMs, () => this.tick());
    this.wake();
  }

  private fail(error: Error, onFatal: (error: Error) => void): void {
    this.stopped = true;
    this.ticker.cancel();
    this.dispatcher.stop();
    onFatal(error);
  }
}
