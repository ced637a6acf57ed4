import { TimedHeap } from '../collections/timed-heap.js';
import { payloadHash } from '../job/payload.js';
import { LedgerCorruptError } from '../jobs-error.js';
import { Job, type JobEnd, type JobState, StoredPolicy } from './job.js';
import { JobTable } from './job-table.js';
import { KeyWindow, windowKey } from './key-window.js';
import { DEFAULT_LEDGER_LIMITS, type LedgerLimits } from './ledger-limits.js';
import { Producer } from './producer.js';
import type {
  AckRecord,
  AssignRecord,
  CancelRecord,
  DeadRecord,
  LedgerRecord,
  PurgeRecord,
  RedriveRecord,
  RequeueRecord,
  Submission,
} from './record.js';

const PRODUCER_SWEEP_MS = 60_000;

/**
 * All facts about jobs, as the fold of the records. No clock, no chance, no I/O: the time is the records' time. A transition
 * that the life cycle forbids throws {@link LedgerCorruptError}: the log is damaged or the leader that wrote it is wrong.
 */
export class Ledger {
  tag = '';
  /** The latest time any record carried. Never goes back. */
  now = 0;
  nextJob = 1;
  nextPolicy = 1;
  nextProducer = 1;
  /** Everything ever taken; equals the sum of `counts` and `dropped`. */
  accepted = 0;
  dropped = 0;
  /** Payload bytes of queued and running jobs. */
  liveBytes = 0;
  resultBytes = 0;
  producerSweepAt = 0;
  limits: LedgerLimits;
  readonly jobs = new JobTable();
  readonly policies = new Map<number, StoredPolicy>();
  readonly producers = new Map<number, Producer>();
  readonly keys = new KeyWindow();
  readonly counts: Record<JobState, number> = { queued: 0, running: 0, done: 0, dead: 0, cancelled: 0 };
  /** Numbers of ended jobs but for the dead, soonest to go first. */
  readonly ended = new TimedHeap<number>();
  readonly dead = new TimedHeap<Job>();

  constructor(limits: LedgerLimits = DEFAULT_LEDGER_LIMITS) {
    this.limits = limits;
  }

  /** Returns the one job the record is about, also where retention has dropped it by the same record. */
  apply(record: LedgerRecord): Job | undefined {
    this.advance(record.at);
    switch (record.type) {
      case 'enqueue':
        return this.take(record, record.producer, record.seq, record.low, record.at);
      case 'assign':
        return this.assign(record);
      case 'ack':
        return this.ack(record);
      case 'enqueue_all':
        for (const job of record.jobs) this.take(job, record.producer, 0, 0, record.at);
        this.producer(record.producer).taken(record.seq, record.jobs[0]?.job ?? 0, record.low, record.at);
        return undefined;
      case 'retry':
      case 'timeout_requeue':
      case 'worker_down_requeue':
      case 'release':
        return this.requeue(record);
      case 'dlq':
        return this.die(record);
      case 'cancel':
        return this.cancel(record);
      case 'redrive':
        this.redrive(record);
        return undefined;
      case 'purge':
        this.purge(record);
        return undefined;
      case 'genesis':
        if (this.tag !== '') throw new LedgerCorruptError('a second genesis record');
        this.tag = record.tag;
        return undefined;
      case 'policy':
        this.policies.set(record.no, new StoredPolicy(record.no, record.policy));
        this.nextPolicy = Math.max(this.nextPolicy, record.no + 1);
        return undefined;
      case 'policy_drop':
        // A job may have come to refer to one between the wish and the record.
        for (const no of record.policies) if (this.policies.get(no)?.jobs === 0) this.policies.delete(no);
        return undefined;
      case 'producer':
        this.producers.set(
          record.producer,
          new Producer(record.producer, record.client, record.token, record.at),
        );
        this.nextProducer = Math.max(this.nextProducer, record.producer + 1);
        return undefined;
      case 'producer_drop':
        for (const no of record.producers) this.producers.delete(no);
        return undefined;
      case 'limits':
        this.limits = record;
        this.trim();
        return undefined;
      case 'tick':
        return undefined;
      default:
        return record satisfies never;
    }
  }

  /** The first invariant of the life cycle. */
  get balanced(): boolean {
    const { queued, running, done, dead, cancelled } = this.counts;
    return this.accepted === queued + running + done + dead + cancelled + this.dropped;
  }

  private take(from: Submission, producerNo: number, seq: number, low: number, at: number): Job {
    const policy = this.policies.get(from.policy);
    if (policy === undefined)
      throw new LedgerCorruptError(`job ${from.job} refers to policy ${from.policy}, unknown`);
    if (from.job < this.nextJob) throw new LedgerCorruptError(`job ${from.job} is enqueued twice`);
    const producer = this.producer(producerNo);
    const job = new Job(from.job, policy, producer.client, at, from.key, from.payload, from.dueAt);
    this.nextJob = from.job + 1;
    this.jobs.add(job);
    policy.jobs += 1;
    this.accepted += 1;
    this.counts.queued += 1;
    this.liveBytes += job.payload.length;
    if (seq !== 0) producer.taken(seq, from.job, low, at);
    if (from.key === '') return job;
    const hash = payloadHash('', from.payload);
    const key = windowKey(job.client, policy.exec, from.key);
    this.keys.add({ key, job: from.job, hash, expiresAt: this.now + this.limits.keyWindowMs });
    return job;
  }

  private assign(record: AssignRecord): Job {
    const job = this.expect(record.job, 'queued', record.type);
    if (record.attempt !== job.attempt + 1) {
      throw new LedgerCorruptError(`job ${job.no}: attempt ${record.attempt} assigned after ${job.attempt}`);
    }
    this.move(job, 'running');
    job.attempt = record.attempt;
    job.worker = record.worker;
    return job;
  }

  private ack(record: AckRecord): Job {
    const job = this.expectAttempt(record);
    this.finish(job, 'done', { at: record.at, result: record.result, reason: '', failure: undefined });
    return job;
  }

  private requeue(record: RequeueRecord): Job {
    const job = this.expectAttempt(record);
    if (record.type === 'worker_down_requeue') job.crashes += 1;
    else if (record.type !== 'release') job.failures += 1;
    if (record.failure !== undefined) job.failure = record.failure;
    job.worker = '';
    job.dueAt = record.dueAt;
    this.move(job, 'queued');
    return job;
  }

  private die(record: DeadRecord): Job {
    const job = this.expectAttempt(record);
    if (record.reason === 'quarantined') job.crashes += 1;
    else job.failures += 1;
    job.failure = record.failure ?? job.failure;
    job.worker = '';
    this.move(job, 'dead');
    // The payload stays: a dead job can be driven again.
    this.liveBytes -= job.payload.length;
    this.settle(job, { at: record.at, result: undefined, reason: record.reason, failure: job.failure });
    return job;
  }

  private cancel(record: CancelRecord): Job {
    const job = this.jobs.get(record.job);
    if (job === undefined || (job.state !== 'queued' && job.state !== 'running')) {
      throw new LedgerCorruptError(`job ${record.job}: cancelled while ${job?.state ?? 'unknown'}`);
    }
    this.finish(job, 'cancelled', {
      at: record.at,
      result: undefined,
      reason: record.reason,
      failure: job.failure,
    });
    return job;
  }

  /** A dead job may have gone between the wish and the record; then there is nothing to drive. */
  private redrive(record: RedriveRecord): void {
    for (const no of record.jobs) {
      const job = this.jobs.get(no);
      if (job === undefined || job.state !== 'dead') continue;
      job.end = undefined;
      job.failures = 0;
      job.crashes = 0;
      job.dueAt = 0;
      this.liveBytes += job.payload.length;
      this.move(job, 'queued');
    }
    this.sweepDead();
  }

  private purge(record: PurgeRecord): void {
    for (const no of record.jobs) {
      const job = this.jobs.get(no);
      if (job?.state === 'dead') this.forget(job.no, job);
    }
    this.sweepDead();
  }

  /** Redriven and purged jobs leave entries behind; they must not outnumber the dead. */
  private sweepDead(): void {
    if (this.dead.size <= 2 * this.counts.dead + 64) return;
    this.dead.keep((job) => this.isDead(job));
  }

  /** And has not gone. */
  private isDead(job: Job): boolean {
    return job.state === 'dead' && this.jobs.get(job.no) === job;
  }

  private finish(job: Job, state: 'done' | 'cancelled', end: JobEnd): void {
    this.move(job, state);
    this.liveBytes -= job.payload.length;
    job.payload = '';
    job.failure = undefined;
    job.worker = '';
    this.settle(job, end);
    this.trim();
  }

  /** Also the way in for a snapshot's ended jobs. */
  settle(job: Job, end: JobEnd): void {
    job.end = end;
    const { keep } = job.policy;
    if (job.state === 'dead') {
      this.dead.push(end.at + keep.deadMs, job, job.no);
      return;
    }
    this.resultBytes += end.result?.length ?? 0;
    this.ended.push(end.at + keep.doneMs, job.no, job.no);
    this.jobs.jobEnded(job.no);
  }

  private advance(at: number): void {
    if (at <= this.now) return;
    this.now = at;
    while (this.ended.nextAt <= at) this.dropEnded();
    while (this.dead.nextAt <= at) {
      const job = this.dead.pop() as Job;
      // A job driven again and dead again stands here twice; only its latest end counts.
      if (this.isDead(job) && (job.end?.at ?? 0) + job.policy.keep.deadMs <= at) this.forget(job.no, job);
    }
    this.keys.expire(at);
    if (at < this.producerSweepAt) return;
    this.producerSweepAt = at + PRODUCER_SWEEP_MS;
    for (const producer of this.producers.values()) {
      if (producer.lastAt + this.limits.keyWindowMs <= at) this.producers.delete(producer.no);
    }
  }

  private trim(): void {
    while (this.ended.size > this.limits.resultsMax || this.resultBytes > this.limits.resultsBytesMax) {
      this.dropEnded();
    }
  }

  private dropEnded(): void {
    const no = this.ended.pop() as number;
    const like = this.jobs.templateOf(no);
    if (like === undefined) return;
    this.resultBytes -= this.jobs.resultOf(no)?.length ?? 0;
    this.forget(no, like);
  }

  /** The job of this number, which is like the one given. */
  private forget(no: number, { policy, state, client, key }: Job): void {
    this.jobs.remove(no);
    policy.jobs -= 1;
    this.counts[state] -= 1;
    this.dropped += 1;
    // What was done is not done again while its key is remembered; what came to nothing may be asked for anew (ADR 0096).
    if (key !== '' && state !== 'done') this.keys.free(windowKey(client, policy.exec, key), no);
  }

  private move(job: Job, to: JobState): void {
    this.counts[job.state] -= 1;
    this.counts[to] += 1;
    job.state = to;
  }

  private producer(no: number): Producer {
    const producer = this.producers.get(no);
    if (producer === undefined) throw new LedgerCorruptError(`producer ${no} is unknown`);
    return producer;
  }

  private expect(no: number, state: JobState, what: string): Job {
    const job = this.jobs.get(no);
    if (job?.state !== state)
      throw new LedgerCorruptError(`job ${no}: ${what} while ${job?.state ?? 'unknown'}`);
    return job;
  }

  private expectAttempt(record: AckRecord | RequeueRecord | DeadRecord): Job {
    const job = this.expect(record.job, 'running', record.type);
    if (job.attempt !== record.attempt) {
      throw new LedgerCorruptError(
        `job ${job.no}: ${record.type} of attempt ${record.attempt} during ${job.attempt}`,
      );
    }
    return job;
  }
}
