// Hot path: `submit` and `enqueued` run once per job.
import { payloadHash } from '../../job/payload/payload.js';
import type { StoredPolicy } from '../../ledger/jobs/stored-policy.js';
import { windowKey } from '../../ledger/key-window.js';
import type { EnqueueAllRecord, EnqueueRecord, Submission } from '../../ledger/ledger-record.js';
import type { Producer } from '../../ledger/producer.js';
import type { ClientMessage, Refusal, SubmitItem } from '../../protocol/client/client-messages.js';
import { submitBytes } from '../../protocol/client/submit-bytes.js';
import { awaitOutcome } from '../commit/outcome-waiters.js';
import type { AttemptLifecycle } from '../dispatch/attempt-lifecycle.js';
import type { LeaderJob, LeaderParts } from '../leader-context.js';
import type { ClientSession } from '../sessions/client-session.js';
import { type Admitted, admit } from './admission.js';
import type { ProducerRegistry } from './producer-registry.js';
import { RETRY_AFTER_MS, refusal } from './refusal.js';
import type { IdentityLoad, UncommittedJobs } from './uncommitted-jobs.js';

/**
 * The answers to a submit, kept as the tag of its record: a receipt once it is durable, and perhaps the
 * outcome later.
 */
const RECEIPT_ONLY = 0;
const RECEIPT_THEN_OUTCOME = 1;

/** The effects of a submit elsewhere. */
interface Onward {
  /** The client must open a new session, so that its submit is not lost. */
  producerExpired(session: ClientSession): void;
  /** The ledger has the job. */
  committed(job: LeaderJob): void;
}

type SubmitAll = ClientMessage & { readonly kind: 'submit_all' };

/**
 * Processes submits: validates them against durable and uncommitted jobs, stages their records, answers when
 * those are durable.
 */
export class SubmitProcessor {
  private readonly context: LeaderParts<
    | 'diskRefusal'
    | 'draining'
    | 'index'
    | 'ledger'
    | 'limits'
    | 'lsn'
    | 'markDirty'
    | 'observe'
    | 'queues'
    | 'recordBytesMax'
    | 'recordTime'
    | 'stage'
    | 'stats'
    | 'uncommitted'
    | 'wallStepMs'
    | 'whenApplied'
  >;
  private readonly attempts: AttemptLifecycle;
  private readonly producers: ProducerRegistry;
  private readonly uncommitted: UncommittedJobs;
  private readonly onward: Onward;
  /**
   * The job numbers for the receipt of a batch; they differ from the record's where a key led to an earlier
   * job.
   */
  private readonly batchJobs = new WeakMap<EnqueueAllRecord, readonly number[]>();

  constructor(
    context: SubmitProcessor['context'],
    attempts: AttemptLifecycle,
    producers: ProducerRegistry,
    onward: Onward,
  ) {
    this.context = context;
    this.attempts = attempts;
    this.producers = producers;
    this.onward = onward;
    this.uncommitted = context.uncommitted;
  }

  submit(session: ClientSession, low: number, item: SubmitItem): void {
    this.joinProducer(session);
    if (this.producers.isOverdue(session)) return this.retry(session, () => this.submit(session, low, item));
    const producer = this.producerOf(session);
    const problem = this.numberProblem(producer, item.seq, low);
    if (problem !== undefined) return this.refuse(session, item.seq, problem);
    if (this.isRepeated(session, producer, item)) return;
    const admission = admit(this.context, this.uncommitted, this.ownLoad(session), session, item);
    if (admission.verdict === 'wait') return this.retry(session, () => this.submit(session, low, item));
    if (admission.verdict === 'refuse') return this.refuse(session, item.seq, admission.refusal);
    if (admission.verdict === 'duplicate') return this.answerDuplicate(session, item, [admission.job]);
    if (!session.takeSubmits(1)) return this.refuse(session, item.seq, RATE_EXCEEDED);
    if (session.producer === 0 && !this.producers.register(session))
      return this.refuse(session, item.seq, PRODUCERS_FULL);
    const policy = session.policies.get(item.ref) as StoredPolicy;
    const at = this.context.recordTime;
    const record: EnqueueRecord = {
      type: 'enqueue',
      at,
      producer: session.producer,
      seq: item.seq,
      low: Math.min(low, item.seq - 1),
      job: this.uncommitted.nextJob,
      policy: policy.no,
      dueAt: this.dueAt(item, at),
      key: item.key,
      payload: item.payload,
      trace: item.trace,
      orderKey: item.orderKey,
      tags: item.tags,
      ...(item.holdsKey === true ? { holdsKey: true } : {}),
    };
    if (admission.key !== '') this.uncommitted.addKey(admission.key, session.identity);
    this.context.stage(record, session, item.wantsOutcome ? RECEIPT_THEN_OUTCOME : RECEIPT_ONLY);
    this.addUncommitted(session, record, policy, item.seq, at);
  }

  /**
   * In record time. An instant is that of the leader's wall clock, as it is now: the difference of the two
   * clocks and not the time left, which would be counted from the beginning of the turn.
   */
  private dueAt({ delayMs, runAt }: SubmitItem, at: number): number {
    const dueAt = runAt === undefined ? at + delayMs : runAt - this.context.wallStepMs;
    return dueAt > at ? Math.ceil(dueAt) : 0;
  }

  /**
   * Another connection of the client may have become a producer since this one was made: its numbers count
   * here too.
   */
  private joinProducer(session: ClientSession): void {
    if (session.producer === 0) this.producers.resume(session);
  }

  /** The record is staged: a worker may be assigned in this very turn. */
  addUncommitted(
    { numbering, client }: Pick<ClientSession, 'numbering' | 'client'>,
    submission: Submission,
    policy: StoredPolicy,
    seq: number,
    at: number,
  ): void {
    numbering.lastAt = at;
    this.uncommitted.add(submission.payload.length, numbering, seq);
    const { job, dueAt, orderKey } = submission;
    if (policy.startWithinMs !== undefined) this.uncommitted.addDeadline(job, at + policy.startWithinMs);
    if (dueAt === 0) this.context.queues.enqueue(job, policy, client, orderKey);
  }

  submitAll(session: ClientSession, message: SubmitAll): void {
    const { seq, items } = message;
    const first = items[0];
    if (first === undefined || items.length > this.context.limits.batchMax) {
      const problem = `a batch of ${items.length} jobs, 1 to ${this.context.limits.batchMax} are allowed`;
      return this.refuse(session, seq, refusal('ERR_MESSAGE_MALFORMED', problem, 0));
    }
    this.joinProducer(session);
    if (this.producers.isOverdue(session)) return this.retry(session, () => this.submitAll(session, message));
    const badNumber = this.numberProblem(this.producerOf(session), seq, message.low);
    if (badNumber !== undefined) return this.refuse(session, seq, badNumber);
    const known = this.knownJobs(session, seq, items);
    if (known === 'wait') return this.retry(session, () => this.submitAll(session, message));
    if (known === 'received') return;
    if (known !== undefined) return this.answerDuplicate(session, { ...first, seq }, known);
    const admissions = this.admitAll(session, items);
    if (admissions === 'wait') return this.retry(session, () => this.submitAll(session, message));
    if (!Array.isArray(admissions)) return this.refuse(session, seq, admissions);
    if (!session.takeSubmits(items.length)) return this.refuse(session, seq, RATE_EXCEEDED);
    this.stageAll(session, message, admissions);
  }

  /** The record is applied: the client gets its receipt. */
  enqueued(record: EnqueueRecord, job: LeaderJob, session: ClientSession, tag: number, lsn: number): void {
    this.committed(record, job, session.identity);
    session.addReceipt({ seq: record.seq, jobs: [record.job], lsn, duplicate: false, refusal: undefined });
    this.context.markDirty(session);
    if (tag === RECEIPT_THEN_OUTCOME) awaitOutcome(this.context, record.job, session);
  }

  enqueuedAll(record: EnqueueAllRecord, session: ClientSession, tag: number, lsn: number): void {
    const jobs = this.batchJobs.get(record) ?? [];
    for (const submission of record.jobs)
      this.committed(submission, this.context.ledger.jobs.get(submission.job) as LeaderJob, session.identity);
    session.addReceipt({ seq: record.seq, jobs, lsn, duplicate: false, refusal: undefined });
    this.context.markDirty(session);
    if (tag === RECEIPT_THEN_OUTCOME) for (const job of jobs) awaitOutcome(this.context, job, session);
  }

  /** The record of this job has just been applied, so the ledger has the job. */
  committed(submission: Submission, job: LeaderJob, identity: string | undefined): void {
    const worker = this.uncommitted.commitOldest();
    const { exec } = job.policy;
    this.context.stats.of(exec).accepted.add(this.context.recordTime);
    this.context.index.add(job.no, job);
    this.context.observe?.({ kind: 'accepted', job: job.no, exec, trace: submission.trace });
    if (submission.key !== '')
      this.uncommitted.commitKey(windowKey(job.client, exec, submission.key), identity);
    if (worker !== undefined) this.attempts.reserveCommitted(job, worker);
    else {
      if (submission.dueAt !== 0) this.context.queues.add(job, this.context.recordTime);
      if (job.policy.startWithinMs !== undefined) this.onward.committed(job);
    }
  }

  /**
   * A number that was accepted before is answered from the ledger; one that is uncommitted, when that has
   * changed.
   */
  private isRepeated(session: ClientSession, producer: Producer | undefined, item: SubmitItem): boolean {
    const job = producer?.jobOf(item.seq) ?? 0;
    if (job < 0) return true;
    if (job > 0) {
      this.answerDuplicate(session, item, [job]);
      return true;
    }
    if (!session.numbering.uncommitted.has(item.seq)) return false;
    this.retry(session, () => this.submit(session, 0, item));
    return true;
  }

  /** The jobs of a batch that was accepted before, under the same number. */
  private knownJobs(
    session: ClientSession,
    seq: number,
    items: readonly SubmitItem[],
  ): number[] | 'wait' | 'received' | undefined {
    if (session.numbering.uncommitted.has(seq)) return 'wait';
    let next = this.producerOf(session)?.jobOf(seq) ?? 0;
    if (next < 0) return 'received';
    if (next === 0) return undefined;
    return items.map((item) => {
      const policy = session.policies.get(item.ref);
      const hasKey = item.key !== '' && policy !== undefined;
      const key = hasKey ? windowKey(session.client, policy.exec, item.key) : '';
      const earlier = key === '' ? undefined : this.context.ledger.keys.get(key);
      if (earlier !== undefined && earlier.job !== next) return earlier.job;
      next += 1;
      return next - 1;
    });
  }

  private admitAll(session: ClientSession, items: readonly SubmitItem[]): Admitted[] | Refusal | 'wait' {
    const admissions: Admitted[] = [];
    const batchKeys = new Map<string, number>();
    const { jobs, bytes, keys } = this.uncommitted;
    const load = { jobs, bytes, keys };
    const ownLoad = this.ownLoad(session);
    const own = ownLoad === undefined ? undefined : { ...ownLoad };
    let batchBytes = 0;
    for (const item of items) {
      const admission = admit(this.context, load, own, session, item);
      if (admission.verdict === 'wait') return 'wait';
      if (admission.verdict === 'refuse') return admission.refusal;
      const hash = admission.key === '' ? 0 : payloadHash('', item.payload);
      if (admission.key !== '' && (batchKeys.get(admission.key) ?? hash) !== hash) {
        const problem = `key '${item.key}' stands twice in the batch, with different payloads`;
        return refusal('ERR_KEY_CONFLICT', problem, 0);
      }
      if (admission.key !== '') batchKeys.set(admission.key, hash);
      load.jobs += 1;
      load.bytes += item.payload.length;
      batchBytes += submitBytes(item);
      if (own !== undefined) {
        own.jobs += 1;
        own.bytes += item.payload.length;
        if (admission.key !== '') own.keys += 1;
      }
      admissions.push(admission);
    }
    const { recordBytesMax } = this.context;
    if (batchBytes > recordBytesMax) {
      const problem = `a batch of ${batchBytes} bytes, at most ${recordBytesMax}`;
      return refusal('ERR_PAYLOAD_TOO_LARGE', problem, 0);
    }
    return admissions;
  }

  private stageAll(session: ClientSession, message: SubmitAll, admissions: readonly Admitted[]): void {
    const at = this.context.recordTime;
    const batchKeys = new Map<string, number>();
    const jobs: Submission[] = [];
    const policies: StoredPolicy[] = [];
    const receiptJobs = message.items.map((item, i) => {
      const admission = admissions[i] as Admitted;
      const earlier = admission.verdict === 'duplicate' ? admission.job : batchKeys.get(admission.key);
      if (earlier !== undefined) return earlier;
      const job = this.uncommitted.nextJob + jobs.length;
      if (admission.key !== '') batchKeys.set(admission.key, job);
      const policy = session.policies.get(item.ref) as StoredPolicy;
      const dueAt = this.dueAt(item, at);
      policies.push(policy);
      const { key, payload, trace, orderKey, tags } = item;
      jobs.push({ job, policy: policy.no, dueAt, key, payload, trace, orderKey, tags });
      return job;
    });
    const { seq } = message;
    if (jobs.length === 0)
      return this.answerDuplicate(session, { ...message.items[0], seq } as SubmitItem, receiptJobs);
    if (session.producer === 0 && !this.producers.register(session))
      return this.refuse(session, seq, PRODUCERS_FULL);
    for (const key of batchKeys.keys()) this.uncommitted.addKey(key, session.identity);
    const low = Math.min(message.low, seq - 1);
    const record: EnqueueAllRecord = {
      type: 'enqueue_all',
      at,
      producer: session.producer,
      seq,
      low,
      jobs,
    };
    this.batchJobs.set(record, receiptJobs);
    const isWanted = message.items.some((item) => item.wantsOutcome);
    this.context.stage(record, session, isWanted ? RECEIPT_THEN_OUTCOME : RECEIPT_ONLY);
    jobs.forEach((job, i) => {
      this.addUncommitted(session, job, policies[i] as StoredPolicy, seq, at);
    });
  }

  private answerDuplicate(session: ClientSession, item: SubmitItem, jobs: readonly number[]): void {
    const { lsn } = this.context;
    session.addReceipt({ seq: item.seq, jobs, lsn, duplicate: true, refusal: undefined });
    this.context.markDirty(session);
    if (item.wantsOutcome) for (const job of jobs) awaitOutcome(this.context, job, session);
  }

  /**
   * Once the uncommitted records are applied. A client whose session has ended meanwhile submits again in its
   * next.
   */
  private retry(session: ClientSession, run: () => void): void {
    this.context.whenApplied(() => {
      if (session.closed) return;
      if (this.producers.isCurrent(session)) run();
      else this.onward.producerExpired(session);
    });
  }

  private refuse(session: ClientSession, seq: number, why: Refusal): void {
    session.addReceipt({ seq, jobs: [], lsn: this.context.lsn, duplicate: false, refusal: why });
    this.context.markDirty(session);
    session.refusals.set(why.code, (session.refusals.get(why.code) ?? 0) + 1);
    this.context.observe?.({ kind: 'refused', client: session.client, code: why.code });
  }

  /**
   * A number is remembered until the client's mark passes it, so a client may be ahead of its mark by as many
   * as it may have unanswered. One that is not an integer would not come back from the log.
   */
  private numberProblem(producer: Producer | undefined, seq: number, low: number): Refusal | undefined {
    const { outstandingMax } = this.context.limits;
    if (!(Number.isSafeInteger(seq) && Number.isSafeInteger(low) && seq >= 1 && low >= 0))
      return refusal('ERR_MESSAGE_MALFORMED', 'the submit has no valid number', 0);
    const mark = Math.max(low, producer?.low ?? 0);
    // A number that was accepted under a wider window is answered again.
    if (seq - mark <= outstandingMax || (producer?.jobOf(seq) ?? 0) > 0) return undefined;
    const problem = `submit number ${seq} after ${mark}, at most ${outstandingMax} ahead`;
    return refusal('ERR_SUBMIT_WINDOW_FULL', problem, RETRY_AFTER_MS);
  }

  private ownLoad({ identity }: ClientSession): IdentityLoad | undefined {
    return identity === undefined ? undefined : this.uncommitted.loadOf(identity);
  }

  private producerOf(session: ClientSession): Producer | undefined {
    return this.context.ledger.producers.get(session.producer);
  }
}

const RATE_EXCEEDED = refusal(
  'ERR_SUBMIT_RATE',
  'this identity submits more jobs a second than allowed',
  RETRY_AFTER_MS,
);
const PRODUCERS_FULL = refusal(
  'ERR_PRODUCERS_FULL',
  'too many clients that submit are remembered',
  RETRY_AFTER_MS,
);
