import type { OpenJournal } from '@troupe/jobs';
import type { DurableWrite } from '@troupe/wal';
import type { JobPolicy } from '#src/job/definition/job-policy.js';
import { payloadText } from '#src/job/payload/payload.js';
import { decodeRecords } from '#src/ledger/codec/ledger-record-codec.js';
import type {
  AckRecord,
  AssignRecord,
  CancelRecord,
  DeadRecord,
  FeedRecord,
  LedgerRecord,
  RequeueRecord,
  ScheduleFireRecord,
  Submission,
} from '#src/ledger/ledger-record.js';
import { ActModel } from './act-model.js';
import { OrderModel } from './order-model.js';
import { withoutRequired } from './other-versions.js';
import { ScheduleModel } from './schedule-model.js';

type JobRecord = AssignRecord | AckRecord | CancelRecord | DeadRecord | RequeueRecord;
export type ModelState = 'queued' | 'running' | 'done' | 'dead' | 'cancelled' | 'purged';

/** The reason of a job that did not begin in time. */
export const EXPIRED = 'expired';

/** One job, by its records. */
export interface JobModel {
  readonly no: number;
  readonly policy: JobPolicy;
  readonly client: string;
  readonly key: string;
  readonly payload: string;
  readonly at: number;
  readonly orderKey: string;
  readonly tags: readonly string[];
  /** Its input since a redrive has changed it, as the payload. */
  edited: string | undefined;
  readonly isDelayed: boolean;
  /** When it may begin, in record time. */
  since: number;
  /** It waits since a redrive. */
  isRedriven: boolean;
  state: ModelState;
  attempt: number;
  failures: number;
  crashes: number;
  endedAt: number;
  /** How often. */
  redrives: number;
  cancelReason: string;
  /** In virtual time, not in record time. */
  purgedAt: number;
}

/** The feed of one job, by its records. */
export interface FeedModel {
  /** Decoded, in the order of the log. */
  readonly items: string[];
  end: 'open' | 'final' | 'abandoned';
  readonly feeders: Map<string, number>;
  /** Another attempt would not see its beginning. */
  isDropped: boolean;
}

export interface RecordRules {
  readonly keyWindowMs: number;
  readonly clientRunningMax: number;
  readonly jobsPerIdentityMax: number;
}

/**
 * All durable records, in order, over crashes and snapshots, folded by a second implementation that does not
 * share the ledger's bugs. It has no retention: a job that the ledger has dropped is still here, with its
 * end.
 */
export class RecordModel {
  readonly jobs = new Map<number, JobModel>();
  readonly feeds = new Map<number, FeedModel>();
  readonly problems: string[] = [];
  readonly schedules: ScheduleModel;
  readonly acts: ActModel;
  private readonly rules: RecordRules;
  private readonly order: OrderModel;
  private readonly now: () => number;
  private readonly policies = new Map<number, JobPolicy>();
  private readonly clients = new Map<number, string>();
  private readonly byKey = new Map<string, JobModel>();
  private readonly running = new Map<string, number>();
  private lastLsn = 0;
  /** When a leader last learned that a record is durable, in virtual time. */
  lastAppendAt = 0;
  /** How often a leader has opened the log. */
  leaderStarts = 0;
  /** Sees each record before its effects. */
  onRecord: (record: LedgerRecord) => void = () => undefined;
  /** The content of every entry: no LSN may have two. */
  private readonly entries = new Map<number, Buffer>();

  constructor(rules: RecordRules, now: () => number) {
    this.rules = rules;
    this.now = now;
    this.schedules = new ScheduleModel({
      keyWindowMs: rules.keyWindowMs,
      isLive: (job) => ['queued', 'running'].includes(this.jobs.get(job)?.state ?? ''),
      problem: (text) => void this.problems.push(text),
    });
    this.order = new OrderModel(this.jobs, now, (text) => void this.problems.push(text));
    this.acts = new ActModel(now, (text) => void this.problems.push(text));
  }

  /** Sees a record when a leader learns that it is durable, or when the next leader reads it. */
  watch(open: OpenJournal): OpenJournal {
    return (reader, done, owner) => {
      const durableLsn = this.lastLsn;
      let readTo = 0;
      open(
        {
          format: reader.format,
          snapshot: (chunk, lsn) => {
            readTo = lsn;
            reader.snapshot(chunk, lsn);
          },
          entry: (bytes, lsn) => {
            readTo = lsn;
            this.entry(bytes, lsn);
            reader.entry(bytes, lsn);
          },
        },
        (error, journal) => {
          if (journal === undefined) return done(error);
          // A log is read to its end, or the start is refused.
          if (readTo < durableLsn)
            this.problems.push(`a leader starts with record ${readTo}, ${durableLsn} was durable`);
          this.leaderStarts += 1;
          done(null, {
            level: journal.level,
            codec: journal.codec,
            entryBytesMax: journal.entryBytesMax,
            condition: journal.condition,
            watch: (watcher) => journal.watch(watcher),
            payloads: journal.payloads,
            isOwner: () => journal.isOwner(),
            append: (entries, stored, to) => {
              const durable = (written: DurableWrite): void => {
                if (written.error === null) this.appended(entries, written.firstLsn);
                to.tell.durable(written);
              };
              journal.append(entries, stored, { tell: { durable } });
            },
            snapshot: (made) => journal.snapshot(made),
            close: (closed) => journal.close(closed),
          });
        },
        owner,
      );
    };
  }

  /** Queued and running jobs of an identity, or of all. */
  liveOf(identity: string | undefined): number {
    let live = 0;
    for (const { client, state } of this.jobs.values())
      if ((state === 'queued' || state === 'running') && isOf(client, identity)) live += 1;
    return live;
  }

  /** Dead letters of an identity with one exec; those that retention has dropped count too. */
  deadOf(identity: string, exec: string): number {
    let dead = 0;
    for (const { client, state, policy } of this.jobs.values())
      if (state === 'dead' && policy.exec === exec && isOf(client, identity)) dead += 1;
    return dead;
  }

  get deadCount(): number {
    let dead = 0;
    for (const { state } of this.jobs.values()) if (state === 'dead') dead += 1;
    return dead;
  }

  /** Keys of an identity; those whose window is over count too. */
  keysOf(identity: string): number {
    let keys = 0;
    for (const { client } of this.byKey.values()) if (isOf(client, identity)) keys += 1;
    return keys;
  }

  isInWindow(earlier: Pick<JobModel, 'at'>, later: Pick<JobModel, 'at'>): boolean {
    return earlier.at + this.rules.keyWindowMs > later.at;
  }

  private appended(entries: readonly Uint8Array[], firstLsn: number): void {
    this.lastAppendAt = this.now();
    if (firstLsn <= this.lastLsn)
      this.problems.push(`record ${firstLsn} is durable for a leader, and was for another`);
    entries.forEach((bytes, i) => {
      this.entry(bytes, firstLsn + i);
    });
  }

  private entry(bytes: Uint8Array, lsn: number): void {
    const known = this.entries.get(lsn);
    if (known !== undefined && !known.equals(bytes)) this.problems.push(`record ${lsn} has two contents`);
    if (lsn <= this.lastLsn) return;
    this.entries.set(lsn, Buffer.from(bytes));
    this.lastLsn = lsn;
    decodeRecords(withoutRequired(bytes), (record) => this.record(record));
  }

  private record(record: LedgerRecord): void {
    this.acts.take(record);
    this.onRecord(record);
    switch (record.type) {
      case 'policy':
        this.policies.set(record.no, record.policy);
        return;
      case 'producer':
        this.clients.set(record.producer, record.client);
        return;
      case 'enqueue':
        return this.enqueued(record, this.clients.get(record.producer), record.at);
      case 'enqueue_all':
        for (const submission of record.jobs)
          this.enqueued(submission, this.clients.get(record.producer), record.at);
        return;
      case 'assign':
      case 'ack':
      case 'cancel':
      case 'retry':
      case 'timeout_requeue':
      case 'worker_down_requeue':
      case 'release':
      case 'dlq': {
        const job = this.jobs.get(record.job);
        if (job === undefined)
          this.problems.push(`${record.type} of job ${record.job}, which was never enqueued`);
        else this.applyTo(job, record);
        return;
      }
      case 'redrive':
      case 'purge':
        for (const no of record.jobs) this.redrivenOrPurged(this.jobs.get(no), record.type, record.at);
        return;
      case 'feed':
        return this.fed(record);
      case 'feed_end': {
        const feed = this.feedOf(record.job);
        if (feed.end === 'open') feed.end = 'abandoned';
        return;
      }
      case 'feed_drop':
        this.feedOf(record.job).isDropped = true;
        return;
      case 'expire': {
        const job = this.jobs.get(record.job);
        if (job?.state !== 'queued') this.problems.push(`job ${record.job} expires while ${job?.state}`);
        else {
          this.order.expired(job, record);
          job.cancelReason = EXPIRED;
          this.ended(job, 'cancelled', record.at);
        }
        return;
      }
      case 'queue_limits':
      case 'queue_mode':
        return this.order.changed(record);
      case 'schedule_set':
      case 'schedule_drop':
      case 'schedule_pause':
        this.schedules.take(record);
        return;
      case 'schedule_fire':
        return this.fired(record);
      case 'redrive_edited':
        return this.redrivenOrPurged(
          this.jobs.get(record.job),
          'redrive',
          record.at,
          payloadText(record.payload),
        );
      case 'worker_quiet':
      case 'audit':
      case 'genesis':
      case 'policy_drop':
      case 'producer_drop':
      case 'limits':
      case 'spill_file':
      case 'spill_drop':
      case 'key_release':
      case 'state':
      case 'tick':
        return;
      default:
        return record satisfies never;
    }
  }

  private fired(record: ScheduleFireRecord): void {
    const client = this.schedules.take(record);
    const replaced = this.jobs.get(record.replaced);
    if (replaced !== undefined) {
      replaced.cancelReason = `replaced by the next run of schedule ${record.name}`;
      this.ended(replaced, 'cancelled', record.at);
    }
    for (const submission of record.jobs) this.enqueued(submission, client, record.at);
  }

  /** Each number of a feeder counts once; nothing counts behind the end of the feed or of the job. */
  private fed({ job, feeder, first, items, final }: FeedRecord): void {
    const feed = this.feedOf(job);
    const state = this.jobs.get(job)?.state;
    if (feed.end !== 'open' || (state !== 'queued' && state !== 'running')) return;
    let number = first;
    const next = (): boolean => {
      const isNext = number === (feed.feeders.get(feeder) ?? 0);
      if (isNext) feed.feeders.set(feeder, number + 1);
      number += 1;
      return isNext;
    };
    for (const item of items) if (next()) feed.items.push(JSON.parse(payloadText(item)) as string);
    if (final && next()) feed.end = 'final';
  }

  private feedOf(job: number): FeedModel {
    const feed = this.feeds.get(job) ?? {
      items: [],
      end: 'open' as const,
      feeders: new Map(),
      isDropped: false,
    };
    this.feeds.set(job, feed);
    return feed;
  }

  private applyTo(job: JobModel, record: JobRecord): void {
    switch (record.type) {
      case 'assign':
        this.order.assigned(job, record);
        job.isRedriven = false;
        job.attempt = record.attempt;
        return this.assigned(job);
      case 'ack':
        return this.ended(job, 'done', record.at);
      case 'cancel':
        job.cancelReason = record.reason;
        return this.ended(job, 'cancelled', record.at);
      case 'dlq':
        this.died(job, record.reason);
        return this.ended(job, 'dead', record.at);
      default:
        this.requeued(job, record.type);
        job.since = Math.max(job.since, record.dueAt);
        return this.ended(job, 'queued', 0);
    }
  }

  /** A key belongs to one job; to another only if the first has no result, or the window is over. */
  private enqueued(from: Submission, client: string | undefined, at: number): void {
    const policy = this.policies.get(from.policy);
    if (policy === undefined || client === undefined) {
      this.problems.push(`job ${from.job} was recorded before its policy or its client`);
      return;
    }
    const job: JobModel = {
      no: from.job,
      policy,
      client,
      key: from.key,
      payload: payloadText(from.payload),
      at,
      orderKey: from.orderKey ?? '',
      tags: from.tags ?? [],
      edited: undefined,
      isDelayed: from.dueAt > 0,
      since: Math.max(at, from.dueAt),
      isRedriven: false,
      state: 'queued',
      attempt: 0,
      failures: 0,
      crashes: 0,
      endedAt: 0,
      redrives: 0,
      cancelReason: '',
      purgedAt: Number.POSITIVE_INFINITY,
    };
    this.jobs.set(job.no, job);
    this.checkQuota(job);
    if (from.key === '') return;
    const key = `${identityOf(client)} ${policy.exec}/${from.key}`;
    const before = this.byKey.get(key);
    this.byKey.set(key, job);
    if (before === undefined || !this.isInWindow(before, job)) return;
    if (!['purged', 'dead', 'cancelled'].includes(before.state))
      this.problems.push(
        `key ${key} led to job ${job.no}, and to job ${before.no}, which is ${before.state}`,
      );
  }

  /** A redrive is not refused, so it may bring an identity above its quota. */
  private checkQuota({ client }: JobModel): void {
    const { jobsPerIdentityMax } = this.rules;
    if (!Number.isFinite(jobsPerIdentityMax)) return;
    const identity = identityOf(client);
    const own = [...this.jobs.values()].filter((job) => job.redrives === 0 && isOf(job.client, identity));
    const live = own.filter(({ state }) => state === 'queued' || state === 'running').length;
    if (live > jobsPerIdentityMax)
      this.problems.push(`${identity} has ${live} jobs, ${jobsPerIdentityMax} are allowed`);
  }

  /** A client never has more attempts running than its limit. */
  private assigned(job: JobModel): void {
    job.state = 'running';
    const running = (this.running.get(job.client) ?? 0) + 1;
    this.running.set(job.client, running);
    if (running > this.rules.clientRunningMax)
      this.problems.push(
        `${job.client} has ${running} jobs running, ${this.rules.clientRunningMax} are allowed`,
      );
  }

  private ended(job: JobModel, state: ModelState, at: number): void {
    if (job.state === 'running') this.running.set(job.client, (this.running.get(job.client) ?? 0) - 1);
    job.state = state;
    job.endedAt = at;
  }

  private requeued(job: JobModel, type: string): void {
    const { retry } = job.policy;
    if (type === 'worker_down_requeue') job.crashes += 1;
    else if (type !== 'release') job.failures += 1;
    if (this.feeds.get(job.no)?.isDropped === true)
      this.problems.push(`job ${job.no} waits again, and the beginning of its feed is dropped`);
    if (job.failures >= retry.attempts || job.crashes >= retry.crashes)
      this.problems.push(`job ${job.no} waits again after ${job.failures} failures, ${job.crashes} crashes`);
  }

  /** Only a job that has spent its attempts, or failed finally, becomes a dead letter. */
  private died(job: JobModel, reason: string): void {
    const { retry } = job.policy;
    const early =
      reason === 'quarantined'
        ? job.crashes + 1 < retry.crashes
        : reason === 'feed-dropped'
          ? this.feeds.get(job.no)?.isDropped !== true
          : reason !== 'final' && job.failures + 1 < retry.attempts;
    if (early)
      this.problems.push(`job ${job.no} is dead (${reason}) after ${job.failures + 1} of ${retry.attempts}`);
  }

  /** A dead letter whose retention was over by the time of the record is skipped. */
  private redrivenOrPurged(
    job: JobModel | undefined,
    type: 'redrive' | 'purge',
    at: number,
    edited?: string,
  ): void {
    if (job?.state !== 'dead' || job.endedAt + job.policy.keep.deadMs <= at) return;
    if (type === 'redrive' && this.feeds.get(job.no)?.isDropped === true) return;
    if (type === 'purge') {
      job.state = 'purged';
      job.purgedAt = this.now();
      return;
    }
    job.state = 'queued';
    job.endedAt = 0;
    job.failures = 0;
    job.crashes = 0;
    job.redrives += 1;
    job.edited = edited ?? job.edited;
    job.isRedriven = true;
    job.since = Math.max(job.since, at);
  }
}

/** The part of a client's name that its handshake has proved. */
function identityOf(client: string): string {
  return client.slice(0, Math.max(0, client.lastIndexOf('/')));
}

function isOf(client: string, identity: string | undefined): boolean {
  return identity === undefined || identityOf(client) === identity;
}
