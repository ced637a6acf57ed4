import type { LogCondition } from '@troupe/wal';
import { RECORD_BYTES_MAX } from '../job/definition/job-policy.js';
import type { PayloadStore } from '../job/payload/payload-store.js';
import { JournalDeposedError } from '../jobs-error.js';
import type { JobsClock } from '../jobs-host.js';
import type { Journal } from '../journal/journal.js';
import type { LedgerRecord } from '../ledger/ledger-record.js';
import type { LeaderOverview, LogUse } from '../protocol/client/admin-messages.js';
import type { ClientHello, ClientMessage } from '../protocol/client/client-messages.js';
import type { LostPayload } from '../protocol/leader-interface.js';
import type {
  HeartbeatHello,
  LoopBlocked,
  WorkerHello,
  WorkerMessage,
} from '../protocol/worker/worker-messages.js';
import type { SpillLoaded, SpillWritten } from '../spill/spill.js';
import { AdminApi } from './admin/admin-api.js';
import type { InputRead } from './admin/job-inputs.js';
import { OperatorApi } from './admin/operator-api.js';

import { AppliedTasks } from './commit/applied-tasks.js';
import { CommitEffects } from './commit/commit-effects.js';
import { JournalWriter } from './commit/journal-writer.js';
import { awaitOutcome } from './commit/outcome-waiters.js';
import type { RecordBatch } from './commit/record-batch.js';
import { AttemptLifecycle } from './dispatch/attempt-lifecycle.js';
import { Dispatcher } from './dispatch/dispatcher.js';
import { Fleet } from './dispatch/fleet.js';
import { JobQueues } from './dispatch/job-queues.js';
import { LeaseWatch } from './dispatch/lease-watch.js';
import { FeedTable } from './feeds/feed-table.js';
import type { JobsObserver } from './jobs-event.js';
import type { LeaderContext, LeaderJob, LeaderLedger, Session } from './leader-context.js';
import type { LeaderEffects } from './leader-effects.js';
import { LeaderTime } from './leader-time.js';
import type { LeaderLimits, LeaderTimes } from './options/leader-limits.js';
import { ProgressTable } from './progress/progress-table.js';
import { ScheduleApi } from './schedules/schedule-api.js';
import { Scheduler } from './schedules/scheduler.js';
import { JobIndex } from './search/job-index.js';
import { JobSearch } from './search/job-search.js';
import { JobWalks } from './search/job-walks.js';
import type { ClientPort, ClientSession } from './sessions/client-session.js';
import type { HeartbeatSession } from './sessions/heartbeat-session.js';
import { MessageSlices } from './sessions/message-slices.js';
import { OutboundFlush } from './sessions/outbound-flush.js';
import { SessionRegistry } from './sessions/session-registry.js';
import type { WorkerPort, WorkerSession } from './sessions/worker-session.js';
import { DurationHistogram } from './stats/duration-histogram.js';
import { LeaderStats } from './stats/exec-stats.js';
import type { FoundBlock } from './streams/spill-block.js';
import { StreamTable } from './streams/stream-table.js';
import { type DiskRefusal, diskRefusalOf } from './submit/disk-refusal.js';
import { ProducerRegistry } from './submit/producer-registry.js';
import { SubmitProcessor } from './submit/submit-processor.js';
import { UncommittedJobs } from './submit/uncommitted-jobs.js';

/** No turn does more of these than a few milliseconds take. */
const RESTORED_PER_TURN = 8_192;
/** Numbers, times, keys and failures beside the payload of a record. */
const ENTRY_FRAMING_BYTES = 512 * 1024;

export interface LeaderSetup {
  readonly ledger: LeaderLedger;
  readonly journal: Journal;
  readonly lsn: number;
  /** How long the journal was read. */
  readonly replayMs: number;
  readonly clock: JobsClock;
  readonly effects: LeaderEffects;
  readonly limits: LeaderLimits;
  readonly times: LeaderTimes;
  readonly labels?: readonly string[] | undefined;
  /** It has files for chunks of streams. */
  readonly hasSpill: boolean;
  readonly observe?: JobsObserver | undefined;
}

/** A file of the spill of before a restart. */
export interface FoundFile {
  readonly file: number;
  readonly bytes: number;
  readonly blocks: readonly FoundBlock[];
}

/**
 * A sans-I/O state machine, driven by `LeaderActor`: sessions → journal → ledger → dispatch. Its inputs are
 * its methods, its outputs are {@link LeaderEffects} and the ports of its sessions. Every request takes one
 * order: validate → append → durable → apply → act. It holds no socket, no timer and no promise.
 */
export class Leader implements LeaderContext {
  readonly ledger: LeaderLedger;
  readonly queues: JobQueues;
  readonly fleet = new Fleet();
  readonly uncommitted: UncommittedJobs;
  readonly index: JobIndex;
  readonly stats = new LeaderStats();
  readonly limits: LeaderLimits;
  readonly times: LeaderTimes;
  readonly labels: readonly string[] | undefined;
  readonly clock: JobsClock;
  readonly effects: LeaderEffects;
  readonly observe: JobsObserver | undefined;
  draining = false;
  readonly journal: Journal;
  readonly recordBytesMax: number;
  private log: LogCondition;
  /** In microseconds: a disk answers within a millisecond. */
  private readonly commits = new DurationHistogram();
  private readonly replayMs: number;
  private readonly journalWriter: JournalWriter<Session>;
  private readonly submits: SubmitProcessor;
  private readonly attempts: AttemptLifecycle;
  private readonly leaseWatch: LeaseWatch;
  private readonly admin: AdminApi;
  private readonly sessions: SessionRegistry;
  private readonly streams: StreamTable;
  private readonly feeds: FeedTable;
  private readonly scheduler: Scheduler;
  private readonly walks = new JobWalks();
  private readonly dispatcher: Dispatcher;
  private readonly commitEffects: CommitEffects;
  private readonly outbound = new OutboundFlush((session) => this.addPostponed(session));
  private readonly slices = new MessageSlices({
    fromClient: (session, message) => this.handleClient(session, message),
    fromWorker: (session, message) => this.sessions.fromWorker(session, message),
  });
  private readonly tasks = new AppliedTasks();
  private readonly time: LeaderTime;
  private turnScheduled = false;
  private stopped = false;
  /** It ends once its records are durable and answered. */
  private stopping = false;
  /** The jobs that are still to be put back after recovery. */
  private unrestored: Iterator<LeaderJob>;

  constructor(setup: LeaderSetup) {
    this.ledger = setup.ledger;
    this.journal = setup.journal;
    const { entryBytesMax } = setup.journal;
    const framingBytes = Math.min(ENTRY_FRAMING_BYTES, entryBytesMax / 2);
    this.recordBytesMax = Math.min(RECORD_BYTES_MAX, Math.floor(entryBytesMax - framingBytes));
    this.log = setup.journal.condition;
    this.replayMs = setup.replayMs;
    this.limits = setup.limits;
    this.labels = setup.labels;
    this.times = setup.times;
    this.clock = setup.clock;
    this.time = new LeaderTime(setup.clock, setup.ledger.now);
    this.effects = setup.effects;
    this.unrestored = setup.ledger.jobs.unended();
    this.observe = setup.observe;
    this.queues = new JobQueues(setup.limits.clientRunningMax, {
      isWaiting: (no) => this.dispatcher.isWaiting(no),
      waitsSince: (no) => this.dispatcher.waitsSince(no),
      isRedriven: (no) => this.ledger.redrivenAt.has(no),
    });
    // Buckets start empty: a restart must not give a second burst.
    for (const control of setup.ledger.queueControls.values())
      this.queues.controlChanged(control.queue, control, this.time.record);
    this.uncommitted = new UncommittedJobs(setup.ledger.nextJob);
    this.index = new JobIndex(setup.ledger);
    for (const [no, template] of setup.ledger.jobs.templates()) this.index.add(no, template);
    this.journalWriter = new JournalWriter(
      setup.effects,
      setup.lsn,
      setup.journal,
      (batch, firstLsn) => this.durable(batch, firstLsn),
      (error) => this.fail(error),
    );
    this.feeds = new FeedTable(this);
    this.attempts = new AttemptLifecycle(this, this.feeds);
    const producers = new ProducerRegistry(this);
    this.submits = new SubmitProcessor(this, this.attempts, producers, {
      producerExpired: (session) => this.sessions.producerExpired(session),
      committed: (job) => this.dispatcher.deadlines.add(job),
    });
    this.leaseWatch = new LeaseWatch(this, this.attempts);
    const progress = new ProgressTable(this);
    this.streams = new StreamTable(this, setup);
    this.sessions = new SessionRegistry(
      this,
      this.attempts,
      this.leaseWatch,
      producers,
      this.streams,
      this.feeds,
      progress,
    );
    this.scheduler = new Scheduler(this, this.submits);
    const schedules = new ScheduleApi(this, this.scheduler, this.sessions.policies);
    const {
      walks,
      sessions: { steering },
    } = this;
    const search = new JobSearch(this, this.index);
    this.admin = new AdminApi(
      this,
      this.leaseWatch,
      this.feeds,
      progress,
      schedules,
      (viewOf) => new OperatorApi(this, search, walks, steering, this.sessions, viewOf),
    );
    this.dispatcher = new Dispatcher(this, this.attempts);
    const { submits, attempts, admin, sessions, streams, feeds, scheduler } = this;
    const { operator } = admin;
    const parts = {
      submits,
      attempts,
      admin,
      sessions,
      streams,
      feeds,
      scheduler,
      schedules,
      operator,
    };
    this.commitEffects = new CommitEffects(this, parts);
  }

  get recordTime(): number {
    return this.time.record;
  }

  get wallStepMs(): number {
    return this.time.wallStepMs;
  }

  get leaseTime(): number {
    return this.time.lease;
  }

  openClient(hello: ClientHello, port: ClientPort): ClientSession {
    this.time.read();
    const session = this.sessions.openClient(hello, port);
    this.wake();
    return session;
  }

  openWorker(hello: WorkerHello, port: WorkerPort): WorkerSession {
    this.time.read();
    const session = this.sessions.openWorker(hello, port);
    this.wake();
    return session;
  }

  fromClient(session: ClientSession, message: ClientMessage): void {
    this.time.read();
    // A message without an answer is repeated at the next leader.
    if (session.closed || this.stopped || this.stopping) return;
    if (!this.slices.defers(session, message)) this.handleClient(session, message);
    this.wake();
  }

  private handleClient(session: ClientSession, message: ClientMessage): void {
    if (!this.sessions.isCurrent(session, message)) return;
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
  }

  fromWorker(session: WorkerSession, message: WorkerMessage): void {
    if (!session.open || this.stopped) return;
    this.time.read();
    this.leaseWatch.receivedFrom(session);
    if (!this.slices.defersReport(session, message)) this.sessions.fromWorker(session, message);
    this.wake();
  }

  openHeartbeat(hello: HeartbeatHello, port: WorkerPort): HeartbeatSession {
    return this.leaseWatch.openHeartbeat(hello, port);
  }

  fromHeartbeat(heartbeat: HeartbeatSession, report: LoopBlocked): void {
    if (!this.stopped) this.leaseWatch.fromHeartbeat(heartbeat, report);
  }

  /** A session that was full has room again. */
  writable(session: Session): void {
    this.outbound.writable(session);
    this.wake();
  }

  /** The connection is lost. A worker keeps its attempts for its grace period. */
  closed(session: Session | HeartbeatSession): void {
    if (session.kind === 'client') this.sessions.clientClosed(session);
    else if (session.kind === 'heartbeat') this.leaseWatch.closeHeartbeat(session);
    else this.sessions.workerLost(session);
    this.wake();
  }

  /** The store of large payloads, where the journal has one. */
  get payloads(): PayloadStore | undefined {
    return this.journal.payloads;
  }

  /** The payload of a job cannot be read: the job is dead, with that reason; the worker never had it. */
  payloadLost(session: WorkerSession, lost: LostPayload): void {
    this.time.read();
    this.attempts.payloadLost(session, lost);
    this.wake();
  }

  logChanged(condition: LogCondition): void {
    this.log = condition;
  }

  /** The log has another leader: nothing more is answered. */
  logLost(error: Error): void {
    this.fail(error);
  }

  inputRead(read: InputRead): void {
    this.admin.inputRead(read);
  }

  overview(): LeaderOverview {
    return this.admin.overview();
  }

  /** Refuses new work; accepted jobs go on. */
  drain(): void {
    this.draining = true;
  }

  /** Ends with the effect `finished`, once staged records are durable and answered. */
  stop(): void {
    this.draining = true;
    this.stopping = true;
    this.wake();
  }

  get lsn(): number {
    return this.journalWriter.lsn;
  }

  get diskLow(): boolean {
    return this.log.disk === 'low';
  }

  get diskRefusal(): DiskRefusal | undefined {
    return diskRefusalOf(this.log);
  }

  get logUse(): LogUse {
    const { sealedBytes, cutBytes, failedSnapshots, segments, snapshot, freeBytes } = this.log;
    const { commits, replayMs, recordTime: now } = this;
    const ms = (share: number): number => commits.quantile(share, now) / 1_000;
    const commitMs = { p50: ms(0.5), p99: ms(0.99) };
    const log = { bytes: sealedBytes, cutBytes, failedSnapshots, replayMs, commitMs };
    return { ...log, segments, snapshot, freeBytes };
  }

  stage(record: LedgerRecord, from?: Session, tag = 0): void {
    this.journalWriter.stage(record, from, tag);
  }

  whenApplied(run: () => void): void {
    this.tasks.add(run);
  }

  get spillBytes(): number {
    return this.streams.spillBytes;
  }

  chunkCount(job: LeaderJob): number | undefined {
    return this.streams.countOf(job);
  }

  markDirty(session: Session): void {
    this.outbound.markDirty(session);
  }

  /** Outcomes that had no room are read from the ledger again; a redriven job is awaited again. */
  private addPostponed(session: ClientSession): void {
    for (const no of session.takePostponed()) awaitOutcome(this, no, session);
  }

  /**
   * Puts a slice of the jobs back into their queues and to their workers. False: it was the last one, and the
   * leader may be used.
   */
  restoreSlice(): boolean {
    for (let left = RESTORED_PER_TURN; left > 0; left -= 1) {
      const next = this.unrestored.next();
      if (next.done === true) {
        this.queues.restored(this.ledger.now);
        this.effects.startTick(this.times.tickMs);
        return false;
      }
      this.restoreJob(next.value);
    }
    return true;
  }

  private restoreJob(job: LeaderJob): void {
    if (job.state === 'queued') {
      this.queues.restore(job, this.ledger.now);
      this.dispatcher.deadlines.add(job);
    }
    if (job.state === 'running') {
      this.attempts.restore(job, this.sessions.placeholderSession(job.worker));
      this.feeds.restored(job);
    }
  }

  private wake(): void {
    if (this.turnScheduled || this.stopped) return;
    this.turnScheduled = true;
    this.effects.requestTurn();
  }

  /** The requested turn: dispatch, append, flush. */
  turn(): void {
    this.turnScheduled = false;
    if (this.stopped) return;
    this.time.read();
    this.tasks.runSome();
    this.slices.step();
    for (const lease of this.streams.takeUnread()) this.leaseWatch.failUnread(lease);
    if (this.scheduler.fireDue()) this.wake();
    const isMore = this.dispatcher.dispatch() || this.tasks.hasReady || this.slices.size > 0;
    // The disk first: it works while the sessions are flushed.
    this.journalWriter.flush(this.clock.now());
    this.feeds.flush();
    if (this.streams.flush() || this.continueWalks() || isMore) this.wake();
    // With another leader on the log the answers may be of an old state. The log's own look, before it
    // reports an append as durable, is older than the messages that came since.
    if (!this.outbound.isEmpty && !this.isOwner()) return;
    if (this.outbound.flushAll()) this.wake();
    if (this.stopping && this.journalWriter.isIdle && this.tasks.size === 0) this.finish();
  }

  /** For the share of one turn. True: there is more to do. */
  private continueWalks(): boolean {
    if (this.walks.size === 0) return false;
    this.walks.step();
    // A walk may end in records.
    this.journalWriter.flush(this.clock.now());
    return this.walks.size > 0;
  }

  private finish(): void {
    this.stopped = true;
    this.effects.finished();
  }

  /** The files of the spill, as they were found at the start: before the first request. */
  restoreSpill(found: readonly FoundFile[]): void {
    for (const { file, bytes, blocks } of found) this.streams.restoreFile(file, bytes, blocks);
    this.streams.restored([...this.ledger.spillFiles]);
  }

  spillWritten({ error }: SpillWritten): void {
    if (this.stopped) return;
    this.time.read();
    this.streams.spillWritten(error);
    this.wake();
  }

  spillLoaded(loaded: SpillLoaded): void {
    if (this.stopped) return;
    this.time.read();
    this.streams.spillLoaded(loaded);
    this.wake();
  }

  /** The oldest append is durable, or has failed. */
  appended(error: Error | null, firstLsn: number): void {
    this.journalWriter.appended(error, firstLsn);
  }

  /** Durable: now, and only now, the records are applied and acted on. */
  private durable(batch: RecordBatch<Session>, firstLsn: number): void {
    if (this.stopped) return;
    this.time.read();
    const tookMs = this.clock.now() - batch.appendedAt;
    this.commits.add(tookMs * 1_000, this.recordTime);
    this.observe?.({
      kind: 'durable',
      records: batch.size,
      tookMs,
      lsn: this.journalWriter.lsn,
    });
    batch.visit(firstLsn, this.applyAndAct);
    this.tasks.release();
    this.expire();
    this.turn();
  }

  private readonly applyAndAct = (
    record: LedgerRecord,
    from: Session | undefined,
    tag: number,
    lsn: number,
  ): void => {
    this.commitEffects.prepare(record);
    const job = this.ledger.apply(record);
    this.commitEffects.run(record, job, from, tag, lsn);
  };

  /** Once every `tickMs`: leases, liveness, retention. */
  tick(): void {
    if (this.stopped || this.stopping) return;
    this.time.tick(this.times.tickMs);
    this.leaseWatch.check();
    this.queues.tick(this.recordTime, (queue) => this.fleet.canServe(queue));
    this.expire();
    this.streams.tick();
    this.feeds.tick();
    this.scheduler.tick();
    this.sessions.steering.tick();
    this.index.sweep();
    this.outbound.retryAll();
    this.effects.startTick(this.times.tickMs);
    this.wake();
  }

  /** The first delayed job is due. */
  due(): void {
    this.dispatcher.dueTimerEnded();
    this.wake();
  }

  /** The first schedule is due. */
  scheduleDue(): void {
    this.scheduler.timerEnded();
    this.wake();
  }

  /** A tick drops a bounded number; the next is staged when it is applied, until nothing is due. */
  private expire(): void {
    const { ledger, recordTime } = this;
    if (this.journalWriter.isIdle && ledger.nextExpiryAt <= recordTime)
      this.stage({ type: 'tick', at: recordTime });
  }

  /** Whether the state here is that of the log. If not, the leader ends as after a failed append. */
  private isOwner(): boolean {
    if (this.journal.isOwner()) return true;
    this.fail(new JournalDeposedError('another process has opened it'));
    return false;
  }

  private fail(error: Error): void {
    if (this.stopped) return;
    this.stopped = true;
    this.effects.failed(error);
  }
}
