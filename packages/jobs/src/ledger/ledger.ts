import { TimedHeap } from '../collections/timed-heap.js';
import { type Payload, payloadHash } from '../job/payload/payload.js';
import type { TraceContext } from '../job/trace-context.js';
import { type JobFailure, LedgerCorruptError } from '../jobs-error.js';
import type { AttemptEnding } from './attempts/ended-attempt.js';
import { endingOf, JobAttempts } from './attempts/job-attempts.js';
import { auditEntryOf } from './audit/audit-entry.js';
import { AuditTrail } from './audit/audit-trail.js';
import { loadChunk } from './codec/ledger-snapshot-codec.js';
import { StoredFeed } from './feeds/stored-feed.js';
import { IdentityUsages } from './identity-usage.js';
import { Job, type JobEnd, type JobState, type OwnerState } from './jobs/job.js';
import { JobHeap } from './jobs/job-heap.js';
import { JobTable } from './jobs/job-table.js';
import { StoredPolicy } from './jobs/stored-policy.js';
import { KeyWindow, requestKey, windowKey } from './key-window.js';
import { DEFAULT_LEDGER_LIMITS, type LedgerLimits } from './ledger-limits.js';
import type {
  AckRecord,
  ActRecord,
  AssignRecord,
  CancelRecord,
  DeadRecord,
  EnqueueAllRecord,
  EnqueueRecord,
  ExpireRecord,
  FeedDropRecord,
  FeedEndRecord,
  FeedRecord,
  KeyReleaseRecord,
  LedgerRecord,
  PurgeRecord,
  RedriveEditedRecord,
  RedriveRecord,
  RequeueRecord,
  ScheduleFireRecord,
  SchedulePauseRecord,
  ScheduleSetRecord,
  SetupRecord,
  SpillDropRecord,
  SpillFileRecord,
  StateRecord,
  Submission,
  WorkerQuietRecord,
} from './ledger-record.js';
import { Producer } from './producer.js';
import { ProducerTable } from './producer-table.js';
import { QueueControls } from './queue-controls.js';
import { EarlierRuns, replacedReason } from './schedules/earlier-runs.js';
import { ScheduleTable } from './schedules/schedule-table.js';
import { JobTags } from './tags/job-tags.js';

/**
 * The most of each kind that one record drops because its time has come. Part of the format: a replay drops
 * the same by the same records. A tick drops many, and the leader writes ticks until nothing is due; a record
 * of a job drops a few, so that a batch of them stays short.
 */
export const TICK_EXPIRIES_MAX = 1_024;
export const RECORD_EXPIRIES_MAX = 4;

/** The reason of a job that did not begin within its time, and was cancelled for that. */
const EXPIRED = 'expired';

/**
 * All facts about jobs, as the fold of the records. No clock, no randomness, no I/O: the time is that of the
 * records. A transition that the life cycle forbids throws {@link LedgerCorruptError}: the log is damaged, or
 * its leader has a bug.
 */
export class Ledger<State extends OwnerState = OwnerState> {
  tag = '';
  /** The latest time any record carried. Never goes back. */
  now = 0;
  nextJob = 1;
  nextPolicy = 1;
  nextProducer = 1;
  /** All jobs ever accepted; equals the sum of `counts` and `dropped`. */
  accepted = 0;
  dropped = 0;
  /** Bytes of the payloads and feeds of queued and running jobs. */
  liveBytes = 0;
  resultBytes = 0;
  /** The same of dead letters: they stay in memory, so that a dead letter can be redriven. */
  deadBytes = 0;
  /** Counted as the records are applied, and so equal after every replay. */
  readonly usages = new IdentityUsages();
  limits: LedgerLimits;
  readonly jobs = new JobTable<State>();
  readonly policies = new Map<number, StoredPolicy>();
  readonly producers = new ProducerTable(this.usages);
  readonly keys = new KeyWindow();
  /** By job, as long as the job is kept. */
  readonly feeds = new Map<number, StoredFeed>();
  readonly schedules = new ScheduleTable();
  readonly earlierRuns = new EarlierRuns();
  /** Of jobs that are kept. */
  readonly tags = new JobTags();
  /** Of jobs that are kept, where an attempt ended without an output. */
  readonly attempts = new JobAttempts();
  readonly audit = new AuditTrail();
  /** Names of workers that get no jobs. */
  readonly quietWorkers = new Set<string>();
  /** Of queued, running and dead jobs that were submitted with one. Apart from the jobs: most have none. */
  readonly traces = new Map<number, TraceContext>();
  /** The time of a job's redrive, until an attempt after it ended. Apart from the jobs: most have none. */
  readonly redrivenAt = new Map<number, number>();
  /** Limits and modes of queues, as operators have set them. */
  readonly queueControls = new QueueControls();
  /** Files of the spill that may exist. */
  readonly spillFiles = new Set<number>();
  /** Never used before. */
  nextSpillFile = 1;
  readonly counts: Record<JobState, number> = { queued: 0, running: 0, done: 0, dead: 0, cancelled: 0 };
  /** Numbers of done and cancelled jobs, by the end of their retention. */
  readonly ended = new TimedHeap();
  /** Dead jobs, by the end of their retention. */
  readonly dead = new JobHeap<State>();

  constructor(limits: LedgerLimits = DEFAULT_LEDGER_LIMITS) {
    this.limits = limits;
  }

  /** Returns the job of a record about one job, even if retention has dropped it by the same record. */
  apply(record: LedgerRecord): Job<State> | undefined {
    // A version without these records must come to the same jobs, so they change nothing else, not even time.
    if (record.type === 'spill_file' || record.type === 'spill_drop') return this.applySpill(record);
    if (record.type === 'audit') return this.addAudit(record);
    if (record.type === 'key_release') return this.releaseKeys(record);
    if (record.type === 'state') return this.addState(record);
    this.advance(record.at, record.type === 'tick' ? TICK_EXPIRIES_MAX : RECORD_EXPIRIES_MAX);
    switch (record.type) {
      case 'enqueue':
        return this.submit(record);
      case 'assign':
        return this.assign(record);
      case 'ack':
        return this.ack(record);
      case 'enqueue_all':
        return this.submitAll(record);
      case 'retry':
      case 'timeout_requeue':
      case 'worker_down_requeue':
      case 'release':
        return this.requeue(record);
      case 'dlq':
        return this.deadLetter(record);
      case 'expire':
        return this.expireJob(record);
      case 'feed':
      case 'feed_end':
      case 'feed_drop':
        return this.feed(record);
      case 'tick':
        return this.trimResults(TICK_EXPIRIES_MAX);
      case 'genesis':
      case 'limits':
      case 'policy':
      case 'policy_drop':
      case 'producer':
      case 'producer_drop':
        return this.applySetup(record);
      default:
        return this.applyAct(record);
    }
  }

  /** Every act has an entry in the audit if its client is known. */
  private applyAct(record: ActRecord): Job<State> | undefined {
    this.addAudit(record);
    switch (record.type) {
      case 'cancel':
        return this.cancel(record);
      case 'redrive':
        return this.redrive(record);
      case 'redrive_edited':
        return this.redriveEdited(record);
      case 'purge':
        return this.purge(record);
      case 'queue_limits':
      case 'queue_mode':
        this.queueControls.take(record);
        return;
      case 'schedule_set':
        return this.setSchedule(record);
      case 'schedule_drop':
        this.schedules.remove(record.name);
        this.earlierRuns.remove(record.name);
        return;
      case 'schedule_pause':
        return this.pauseSchedule(record);
      case 'schedule_fire':
        return this.fireSchedule(record);
      case 'worker_quiet':
        return this.steerWorker(record);
      default:
        return record satisfies never;
    }
  }

  private applySetup(record: SetupRecord): undefined {
    switch (record.type) {
      case 'genesis':
        if (this.tag !== '') throw new LedgerCorruptError('a second genesis record');
        this.tag = record.tag;
        return;
      case 'limits':
        this.limits = record;
        this.producers.windowChanged();
        return this.trimResults(TICK_EXPIRIES_MAX);
      case 'policy':
        this.policies.set(record.no, new StoredPolicy(record.no, record.policy));
        this.nextPolicy = Math.max(this.nextPolicy, record.no + 1);
        return;
      case 'policy_drop':
        // A job may have come to refer to one after the record was staged.
        for (const no of record.policies) if (this.policies.get(no)?.jobs === 0) this.policies.delete(no);
        return;
      case 'producer':
        this.producers.add(new Producer(record.producer, record.client, record.token, record.at));
        this.nextProducer = Math.max(this.nextProducer, record.producer + 1);
        return;
      case 'producer_drop':
        for (const no of record.producers) this.producers.drop(no);
        return;
      default:
        return record satisfies never;
    }
  }

  private applySpill(record: SpillFileRecord | SpillDropRecord): undefined {
    if (record.type === 'spill_drop') for (const file of record.files) this.spillFiles.delete(file);
    else {
      this.spillFiles.add(record.file);
      this.nextSpillFile = Math.max(this.nextSpillFile, record.file + 1);
    }
  }

  /** The first invariant of the life cycle. */
  get balanced(): boolean {
    const { queued, running, done, dead, cancelled } = this.counts;
    return this.accepted === queued + running + done + dead + cancelled + this.dropped;
  }

  private submit(record: EnqueueRecord): Job<State> {
    const { producer, seq, job: no, low, at } = record;
    const job = this.enqueue(record, this.producers.known(producer).client, at);
    this.producers.addSubmit(producer, seq, no, low, at);
    return job;
  }

  private submitAll({ producer, seq, jobs, low, at }: EnqueueAllRecord): undefined {
    const { client } = this.producers.known(producer);
    for (const job of jobs) this.enqueue(job, client, at);
    this.producers.addSubmit(producer, seq, jobs[0]?.job ?? 0, low, at);
  }

  private enqueue(
    { job: no, policy: policyNo, key, payload, dueAt, trace, orderKey, tags, holdsKey }: Submission,
    client: string,
    at: number,
  ): Job<State> {
    const policy = this.policies.get(policyNo);
    if (policy === undefined) throw new LedgerCorruptError(`job ${no} refers to policy ${policyNo}, unknown`);
    if (no < this.nextJob) throw new LedgerCorruptError(`job ${no} is enqueued twice`);
    const job = new Job<State>(no, policy, client, at, key, payload, dueAt);
    if (orderKey !== undefined) job.orderKey = orderKey;
    if (tags !== undefined) this.tags.set(no, tags);
    this.nextJob = no + 1;
    this.jobs.add(job);
    policy.jobs += 1;
    this.accepted += 1;
    this.counts.queued += 1;
    policy.queued += 1;
    this.addLive(job);
    if (trace !== undefined) this.traces.set(no, trace);
    if (key !== '') this.addKey(windowKey(job.client, policy.exec, key), job, holdsKey === true);
    return job;
  }

  private addKey(key: string, { no, payload }: Job<State>, isHeld: boolean): void {
    const entry = { key, job: no, hash: payloadHash('', payload) };
    if (isHeld) this.keys.hold(entry);
    else this.keys.add({ ...entry, expiresAt: this.keyExpiresAt });
  }

  private releaseKeys({ keys }: KeyReleaseRecord): undefined {
    for (const key of keys) this.keys.release(key, this.keyExpiresAt);
    return undefined;
  }

  private get keyExpiresAt(): number {
    return this.now + this.limits.keyWindowMs;
  }

  private setSchedule({ name, client, policy: no, rule, payload, nextAt }: ScheduleSetRecord): undefined {
    const policy = this.policies.get(no);
    if (policy === undefined)
      throw new LedgerCorruptError(`schedule ${name} refers to policy ${no}, unknown`);
    this.schedules.set(name, { client, policy, rule, payload }, { nextAt });
  }

  private pauseSchedule({ name, paused, nextAt }: SchedulePauseRecord): undefined {
    const slot = this.schedules.slotOf(name);
    if (slot !== undefined) this.schedules.change(slot, { paused: paused ? 1 : 0, nextAt });
  }

  private steerWorker({ worker, quiet }: WorkerQuietRecord): undefined {
    if (quiet) this.quietWorkers.add(worker);
    else this.quietWorkers.delete(worker);
  }

  /** Returns the job that the run replaces. */
  private fireSchedule(record: ScheduleFireRecord): Job<State> | undefined {
    const { name, slotAt, nextAt, wallAt, held, replaced, at } = record;
    const schedule = this.schedules.get(name);
    if (schedule === undefined) throw new LedgerCorruptError(`schedule ${name} is unknown`);
    const slot = this.schedules.slotOf(name) as number; // it has one
    const [submission] = record.jobs;
    const isSkipped = submission === undefined && held === schedule.held;
    this.schedules.change(slot, { nextAt, held, skipped: schedule.skipped + (isSkipped ? 1 : 0) });
    if (submission === undefined) return undefined;
    const cancelled = replaced === 0 ? undefined : this.cancel(replacement(record));
    const { client } = schedule.template;
    this.earlierRuns.add(name, schedule.lastJob, this.jobs);
    const job = this.enqueue({ ...submission, key: '' }, client, at);
    // The key of a request is none of its job: one that is repeated runs nothing, also when its job is gone.
    if (submission.key !== '') this.addKey(requestKey(record.by ?? client, submission.key), job, false);
    this.schedules.change(slot, {
      lastAt: Math.max(schedule.lastAt, slotAt),
      lastWallAt: wallAt,
      lastJob: submission.job,
      runs: schedule.runs + 1,
    });
    return cancelled;
  }

  /** The first chunk has the tag, so a state is the beginning of a log. */
  private addState({ chunk }: StateRecord): undefined {
    loadChunk(this, chunk);
    if (this.tag === '') throw new LedgerCorruptError('a state without its head');
    return undefined;
  }

  private assign(record: AssignRecord): Job<State> {
    const job = this.expect(record.job, 'queued', record.type);
    if (record.attempt !== job.attempt + 1) {
      throw new LedgerCorruptError(`job ${job.no}: attempt ${record.attempt} assigned after ${job.attempt}`);
    }
    this.setState(job, 'running');
    job.attempt = record.attempt;
    job.assignment = { worker: record.worker, startedAt: record.at };
    job.chunks = undefined;
    return job;
  }

  private ack(record: AckRecord): Job<State> {
    const job = this.expectAttempt(record);
    job.chunks = record.chunks;
    if (this.attempts.size > 0 && this.attempts.of(job.no).length > 0)
      this.addAttempt(job, record.at, 'done', undefined);
    const end = { at: record.at, result: record.result, reason: '', failure: undefined };
    this.finish(job, 'done', withMetadata(end, record));
    return job;
  }

  private requeue(record: RequeueRecord): Job<State> {
    const job = this.expectAttempt(record);
    if (record.type === 'worker_down_requeue') job.crashes += 1;
    else if (record.type !== 'release') job.failures += 1;
    if (record.failure !== undefined) job.failure = record.failure;
    this.addAttempt(job, record.at, endingOf(record), record.failure);
    job.chunks = record.chunks;
    job.assignment = undefined;
    // It waited since its redrive, unless it is delayed now.
    job.dueAt = Math.max(record.dueAt, this.redrivenAt.get(job.no) ?? 0);
    if (this.redrivenAt.size > 0) this.redrivenAt.delete(job.no);
    this.setState(job, 'queued');
    return job;
  }

  private deadLetter(record: DeadRecord): Job<State> {
    const job = this.expectAttempt(record);
    if (record.reason === 'quarantined') job.crashes += 1;
    else job.failures += 1;
    job.failure = record.failure ?? job.failure;
    this.addAttempt(job, record.at, endingOf(record), record.failure);
    job.assignment = undefined;
    this.setState(job, 'dead');
    this.removeLive(job);
    // It cannot be redriven, so the rest of its feed is of no use.
    if (!this.isReplayable(job.no)) this.feeds.get(job.no)?.clear();
    job.chunks = record.chunks;
    const end = { at: record.at, result: undefined, reason: record.reason, failure: job.failure };
    this.recordEnd(job, withMetadata(end, record));
    return job;
  }

  /** The attempt of a running job has ended; called before its assignment is dropped. */
  private addAttempt(
    { no, attempt, assignment }: Job<State>,
    endedAt: number,
    ending: AttemptEnding,
    failure: JobFailure | undefined,
  ): void {
    const { worker = '', startedAt = 0 } = assignment ?? {};
    const ended = { attempt, worker, startedAt, endedAt, ending };
    this.attempts.add(no, failure === undefined ? ended : { ...ended, failure });
  }

  private cancel(record: CancelRecord): Job<State> {
    const job = this.jobs.get(record.job);
    if (job === undefined || (job.state !== 'queued' && job.state !== 'running')) {
      throw new LedgerCorruptError(`job ${record.job}: cancelled while ${job?.state ?? 'unknown'}`);
    }
    if (record.chunks !== undefined) job.chunks = record.chunks;
    if (job.state === 'running') this.addAttempt(job, record.at, 'cancelled', undefined);
    this.finish(job, 'cancelled', {
      at: record.at,
      result: undefined,
      reason: record.reason,
      failure: job.failure,
    });
    return job;
  }

  private expireJob({ at, job: no }: ExpireRecord): Job<State> {
    const job = this.expect(no, 'queued', 'expire');
    this.finish(job, 'cancelled', { at, result: undefined, reason: EXPIRED, failure: undefined });
    return job;
  }

  /** A job that has ended since the record was staged takes nothing. */
  private feed(record: FeedRecord | FeedEndRecord | FeedDropRecord): Job<State> | undefined {
    const job = this.jobs.get(record.job);
    if (job === undefined || job.end !== undefined) return job;
    const feed = this.feedOf(job.no);
    const before = feed.bytes;
    if (record.type === 'feed') feed.take(record);
    else if (record.type === 'feed_drop') feed.drop(record.below);
    else feed.end ??= 'abandoned';
    const change = feed.bytes - before;
    this.liveBytes += change;
    this.usages.of(job.client).jobBytes += change;
    return job;
  }

  /** Also for feeds from a snapshot, before their jobs. */
  feedOf(no: number): StoredFeed {
    const known = this.feeds.get(no);
    if (known !== undefined) return known;
    const feed = new StoredFeed();
    this.feeds.set(no, feed);
    return feed;
  }

  /** The payload and the feed of a job. */
  private bytesOf({ no, payload }: Job<State>): number {
    return payload.length + (this.feeds.size === 0 ? 0 : (this.feeds.get(no)?.bytes ?? 0));
  }

  /** A job that was dropped after the record was staged is skipped. */
  private redrive(record: RedriveRecord): undefined {
    for (const no of record.jobs) {
      const job = this.jobs.get(no);
      if (job?.state === 'dead') this.revive(job, job.payload, record.at);
    }
  }

  private redriveEdited({ at, job: no, payload }: RedriveEditedRecord): Job<State> | undefined {
    const job = this.jobs.get(no);
    if (job?.state === 'dead') this.revive(job, payload, at);
    return job;
  }

  private revive(job: Job<State>, payload: Payload, at: number): void {
    if (!this.isReplayable(job.no)) return;
    this.removeDead(job);
    job.payload = payload;
    job.end = undefined;
    job.failures = 0;
    job.crashes = 0;
    job.dueAt = 0;
    this.redrivenAt.set(job.no, at);
    this.addLive(job);
    this.setState(job, 'queued');
  }

  private addAudit(record: LedgerRecord): undefined {
    const entry = auditEntryOf(record, this.tag);
    if (entry !== undefined) this.audit.add(entry);
  }

  /** False for a job whose feed has lost its beginning: another attempt would not see the same. */
  isReplayable(no: number): boolean {
    return this.feeds.get(no)?.isReplayable !== false;
  }

  private purge(record: PurgeRecord): undefined {
    for (const no of record.jobs) {
      const job = this.jobs.get(no);
      if (job?.state === 'dead') this.drop(job.no, job);
    }
  }

  private finish(job: Job<State>, state: 'done' | 'cancelled', end: JobEnd): void {
    this.setState(job, state);
    this.removeLive(job);
    if (this.feeds.size > 0) this.feeds.get(job.no)?.clear();
    job.payload = '';
    job.orderKey = '';
    this.dropExtras(job.no);
    job.failure = undefined;
    job.assignment = undefined;
    this.recordEnd(job, end);
    this.trimResults(RECORD_EXPIRIES_MAX);
  }

  /** Starts the retention of a job that has ended. */
  private recordEnd(job: Job<State>, end: JobEnd): void {
    job.end = end;
    const { keep } = job.policy;
    if (job.state === 'dead') {
      this.dead.push(end.at + keep.deadMs, job);
      const bytes = this.bytesOf(job);
      this.deadBytes += bytes;
      this.usages.addDead(job.client, job.policy.exec, bytes);
      return;
    }
    this.resultBytes += end.result?.length ?? 0;
    this.ended.push(end.at + keep.doneMs, job.no);
    this.jobs.jobEnded(job.no);
  }

  /** When something is next to be dropped, by its time or by a bound; Infinity: nothing. */
  get nextExpiryAt(): number {
    if (this.hasTooManyResults) return this.now;
    return Math.min(this.ended.nextAt, this.dead.nextAt, this.keys.nextAt);
  }

  /**
   * The time of an ended job is over. It may be in the table for a while: a reader takes it for gone.
   */
  isExpired({ state, end, policy }: Job<State>, now: number): boolean {
    if (end === undefined) return false;
    return end.at + (state === 'dead' ? policy.keep.deadMs : policy.keep.doneMs) <= now;
  }

  private advance(at: number, expiriesMax: number): void {
    if (at > this.now) this.now = at;
    const { now } = this;
    if (this.ended.nextAt <= now)
      for (let left = expiriesMax; left > 0 && this.ended.nextAt <= now; left -= 1) this.dropEnded();
    if (this.dead.nextAt <= now)
      for (let left = expiriesMax; left > 0 && this.dead.nextAt <= now; left -= 1) this.expireDead();
    if (this.keys.nextAt <= now) this.keys.expire(now, expiriesMax);
    if (this.producers.nextAt <= now) this.producers.expire(now, this.limits.keyWindowMs, expiriesMax);
  }

  private expireDead(): void {
    const job = this.dead.pop() as Job<State>;
    this.drop(job.no, job);
  }

  private get hasTooManyResults(): boolean {
    return this.ended.size > this.limits.resultsMax || this.resultBytes > this.limits.resultsBytesMax;
  }

  private trimResults(dropsMax: number): undefined {
    for (let left = dropsMax; left > 0 && this.hasTooManyResults; left -= 1) this.dropEnded();
  }

  private dropEnded(): void {
    const no = this.ended.pop() as number;
    const template = this.jobs.templateOf(no);
    if (template === undefined) return;
    this.resultBytes -= this.jobs.resultOf(no)?.length ?? 0;
    this.drop(no, template);
  }

  /** Drops the job of this number, which shares its template with the one given. */
  private drop(no: number, template: Job<State>): void {
    const { policy, state, client, key } = template;
    // A dead letter has no template but itself.
    if (state === 'dead') this.removeDead(template);
    this.dropExtras(no);
    if (this.tags.size > 0) this.tags.drop(no);
    if (this.attempts.size > 0) this.attempts.drop(no);
    this.jobs.remove(no);
    if (this.feeds.size > 0) this.feeds.delete(no);
    policy.jobs -= 1;
    this.counts[state] -= 1;
    this.dropped += 1;
    // The key of a done job stays, so that it is not done again; a job without a result may be submitted anew
    // (ADR 0408).
    if (key !== '' && state !== 'done') this.keys.free(windowKey(client, policy.exec, key), no);
  }

  traceOf(no: number): TraceContext | undefined {
    return this.traces.size === 0 ? undefined : this.traces.get(no);
  }

  /** Traces and redrives, which are kept apart from the jobs because few have them. */
  private dropExtras(no: number): void {
    if (this.traces.size > 0) this.traces.delete(no);
    if (this.redrivenAt.size > 0) this.redrivenAt.delete(no);
  }

  /** Since when a job may begin: its submit, the end of its delay, or its redrive. */
  waitsSince({ no, at, dueAt }: Job<State>): number {
    const redrivenAt = this.redrivenAt.size === 0 ? 0 : (this.redrivenAt.get(no) ?? 0);
    return Math.max(at, dueAt, redrivenAt);
  }

  /** A job from a snapshot, as it was, behind its feed. `end` is there if it has ended. */
  restore(job: Job<State>, end: JobEnd | undefined): void {
    this.jobs.add(job);
    job.policy.jobs += 1;
    this.counts[job.state] += 1;
    countOf(job.policy, job.state, 1);
    if (end === undefined) this.addLive(job);
    else this.recordEnd(job, end);
  }

  /** A queued or running job. */
  private addLive(job: Job<State>): void {
    const bytes = this.bytesOf(job);
    this.liveBytes += bytes;
    const usage = this.usages.of(job.client);
    usage.jobs += 1;
    usage.jobBytes += bytes;
  }

  private removeLive(job: Job<State>): void {
    const { client } = job;
    const bytes = this.bytesOf(job);
    this.liveBytes -= bytes;
    const usage = this.usages.of(client);
    usage.jobs -= 1;
    usage.jobBytes -= bytes;
    this.usages.sweep(client, usage);
  }

  private removeDead(job: Job<State>): void {
    const { client, policy } = job;
    const bytes = this.bytesOf(job);
    this.dead.remove(job);
    this.deadBytes -= bytes;
    this.usages.removeDead(client, policy.exec, bytes);
  }

  private setState(job: Job<State>, to: JobState): void {
    const { policy, state: from } = job;
    this.counts[from] -= 1;
    this.counts[to] += 1;
    countOf(policy, from, -1);
    countOf(policy, to, 1);
    job.state = to;
  }

  private expect(no: number, state: JobState, transition: string): Job<State> {
    const job = this.jobs.get(no);
    if (job?.state !== state)
      throw new LedgerCorruptError(`job ${no}: ${transition} while ${job?.state ?? 'unknown'}`);
    return job;
  }

  private expectAttempt(record: AckRecord | RequeueRecord | DeadRecord): Job<State> {
    const job = this.expect(record.job, 'running', record.type);
    if (job.attempt !== record.attempt) {
      throw new LedgerCorruptError(
        `job ${job.no}: ${record.type} of attempt ${record.attempt} during ${job.attempt}`,
      );
    }
    return job;
  }
}

function countOf(policy: StoredPolicy, state: JobState, change: number): void {
  if (state === 'queued') policy.queued += change;
  else if (state === 'running') policy.running += change;
}

function replacement({ at, name, replaced }: ScheduleFireRecord): CancelRecord {
  return { type: 'cancel', at, job: replaced, reason: replacedReason(name) };
}

/** An end without metadata has no such property. */
function withMetadata(end: JobEnd, { metadata }: { readonly metadata?: string | undefined }): JobEnd {
  return metadata === undefined ? end : { ...end, metadata };
}
