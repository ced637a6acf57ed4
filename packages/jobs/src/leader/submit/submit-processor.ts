// Hot path: `submit` and `enqueued` run once per job.
import { payloadHash } from '../../job/payload.js';
import type { Job, StoredPolicy } from '../../ledger/job.js';
import { windowKey } from '../../ledger/key-window.js';
import type { Producer } from '../../ledger/producer.js';
import type { EnqueueAllRecord, EnqueueRecord, Submission } from '../../ledger/record.js';
import type { ClientMessage, Receipt, Refusal, SubmitItem } from '../../protocol/client-messages.js';
import { awaitOutcome } from '../commit/outcome-waiters.js';
import type { Attempts } from '../dispatch/attempts.js';
import type { LeaderContext } from '../leader-context.js';
import { RECORD_BYTES_MAX } from '../leader-limits.js';
import type { ClientSession } from '../sessions/client-session.js';
import { type Admitted, admit, refusal } from './admission.js';
import type { ProducerRegistry } from './producer-registry.js';
import type { UncommittedJobs } from './uncommitted-jobs.js';

/** How far a submit's number may be ahead of what its client has answers to. */
const SEQ_WINDOW = 1_048_576;

/** The answers to a submit, kept as the tag of its record: a receipt once it is durable, and perhaps the outcome later. */
const RECEIPT_ONLY = 0;
const RECEIPT_THEN_OUTCOME = 1;

/** Takes submits: judged against what is durable and what is in flight, answered when durable. */
export class SubmitProcessor {
  private readonly context: LeaderContext;
  private readonly attempts: Attempts;
  private readonly producers: ProducerRegistry;
  private readonly uncommitted: UncommittedJobs;
  private readonly onForgotten: (session: ClientSession) => void;

  /** `onForgotten`: a session whose client is forgotten has something to say that must not be lost. */
  constructor(
    context: LeaderContext,
    attempts: Attempts,
    producers: ProducerRegistry,
    onForgotten: (session: ClientSession) => void,
  ) {
    this.context = context;
    this.attempts = attempts;
    this.producers = producers;
    this.onForgotten = onForgotten;
    this.uncommitted = context.uncommitted;
  }

  submit(session: ClientSession, low: number, item: SubmitItem): void {
    const producer = this.producerOf(session);
    const problem = badNumber(producer, item.seq, low);
    if (problem !== undefined) return this.refuse(session, item.seq, problem);
    if (this.answered(session, producer, item)) return;
    const admission = admit(this.context, this.uncommitted, session, item);
    if (admission.verdict === 'wait') return this.later(session, () => this.submit(session, low, item));
    if (admission.verdict === 'refuse') return this.refuse(session, item.seq, admission.refusal);
    if (admission.verdict === 'same') return this.same(session, item, [admission.job]);
    if (session.producer === 0 && !this.producers.enrol(session))
      return this.refuse(session, item.seq, CROWDED);
    const policy = session.refs.get(item.ref) as StoredPolicy;
    const at = this.context.at();
    const job = this.uncommitted.nextJob;
    const record: EnqueueRecord = {
      type: 'enqueue',
      at,
      producer: session.producer,
      seq: item.seq,
      low: Math.min(low, item.seq - 1),
      job,
      policy: policy.no,
      dueAt: item.delayMs > 0 ? at + item.delayMs : 0,
      key: item.key,
      payload: item.payload,
    };
    if (admission.key !== '') this.uncommitted.keys.add(admission.key);
    this.context.stage(record, session, item.wantsOutcome ? RECEIPT_THEN_OUTCOME : RECEIPT_ONLY);
    this.takeOff(session, record, policy, item.seq);
  }

  /** Staged: a worker may be chosen for it in this very turn. */
  private takeOff(session: ClientSession, from: Submission, policy: StoredPolicy, seq: number): void {
    const { numbers, client } = session;
    if (seq > numbers.high) numbers.high = seq;
    this.uncommitted.add(from.payload.length, numbers.producer, seq);
    if (from.dueAt === 0) this.context.queues.lineUp(from.job, policy, client);
  }

  submitAll(session: ClientSession, message: ClientMessage & { kind: 'submit_all' }): void {
    const { seq, items } = message;
    const first = items[0];
    if (first === undefined || items.length > this.context.limits.batchMax) {
      const problem = `a batch of ${items.length} jobs, 1 to ${this.context.limits.batchMax} are allowed`;
      return this.refuse(session, seq, refusal('ERR_MESSAGE_MALFORMED', problem, 0));
    }
    const bad = badNumber(this.producerOf(session), seq, message.low);
    if (bad !== undefined) return this.refuse(session, seq, bad);
    const known = this.knownAll(session, seq, items);
    if (known === 'wait') return this.later(session, () => this.submitAll(session, message));
    if (known === 'received') return;
    if (known !== undefined) return this.same(session, { ...first, seq }, known);
    const admissions = this.admitAll(session, items);
    if (admissions === 'wait') return this.later(session, () => this.submitAll(session, message));
    if (!Array.isArray(admissions)) return this.refuse(session, seq, admissions);
    this.stageAll(session, message, admissions);
  }

  /** After the record has been applied: its client is told. */
  enqueued(record: EnqueueRecord, job: Job, session: ClientSession, tag: number, lsn: number): void {
    this.landed(record, job);
    this.context.markDirty(session);
    session.receipt({ seq: record.seq, jobs: [record.job], lsn, duplicate: false, refusal: undefined });
    if (tag === RECEIPT_THEN_OUTCOME) awaitOutcome(this.context, record.job, session);
  }

  enqueuedAll(record: EnqueueAllRecord, session: ClientSession, jobs: readonly number[], lsn: number): void {
    for (const from of record.jobs) this.landed(from, this.context.ledger.jobs.get(from.job) as Job);
    session.receipt({ seq: record.seq, jobs, lsn, duplicate: false, refusal: undefined });
    this.context.markDirty(session);
    for (const job of jobs) awaitOutcome(this.context, job, session);
  }

  /** Its record has just been applied, so the ledger has it. */
  private landed(from: Submission, job: Job): void {
    const { queues } = this.context;
    const session = this.uncommitted.land();
    this.context.observe?.({ kind: 'accepted', job: job.no, exec: job.policy.exec });
    if (from.key !== '') this.uncommitted.keys.delete(windowKey(job.client, job.policy.exec, from.key));
    if (session !== undefined) this.attempts.landed(job, session);
    else if (from.dueAt !== 0) queues.add(job, this.context.at());
  }

  /** A number that was taken before, or is being taken, is answered from there. */
  private answered(session: ClientSession, producer: Producer | undefined, item: SubmitItem): boolean {
    const job = producer?.jobOf(item.seq) ?? 0;
    if (job < 0) return true;
    if (job > 0) {
      this.same(session, item, [job]);
      return true;
    }
    if (!this.uncommitted.carries(session.numbers, item.seq)) return false;
    this.later(session, () => this.submit(session, 0, item));
    return true;
  }

  private knownAll(
    session: ClientSession,
    seq: number,
    items: readonly SubmitItem[],
  ): number[] | 'wait' | 'received' | undefined {
    if (this.uncommitted.carries(session.numbers, seq)) return 'wait';
    let next = this.producerOf(session)?.jobOf(seq) ?? 0;
    if (next < 0) return 'received';
    if (next === 0) return undefined;
    return items.map((item) => {
      const policy = session.refs.get(item.ref);
      const isKeyed = item.key !== '' && policy !== undefined;
      const key = isKeyed ? windowKey(session.client, policy.exec, item.key) : '';
      const earlier = key === '' ? undefined : this.context.ledger.keys.get(key);
      if (earlier !== undefined && earlier.job !== next) return earlier.job;
      next += 1;
      return next - 1;
    });
  }

  private admitAll(session: ClientSession, items: readonly SubmitItem[]): Admitted[] | Refusal | 'wait' {
    const admissions: Admitted[] = [];
    const own = new Map<string, number>();
    const load = { jobs: this.uncommitted.jobs, bytes: this.uncommitted.bytes, keys: this.uncommitted.keys };
    for (const item of items) {
      const admission = admit(this.context, load, session, item);
      if (admission.verdict === 'wait') return 'wait';
      if (admission.verdict === 'refuse') return admission.refusal;
      const hash = admission.key === '' ? 0 : payloadHash('', item.payload);
      if (admission.key !== '' && (own.get(admission.key) ?? hash) !== hash) {
        return refusal(
          'ERR_KEY_CONFLICT',
          `key '${item.key}' stands twice in the batch, with different payloads`,
          0,
        );
      }
      if (admission.key !== '') own.set(admission.key, hash);
      load.jobs += 1;
      load.bytes += item.payload.length;
      admissions.push(admission);
    }
    const bytes = load.bytes - this.uncommitted.bytes;
    if (bytes > RECORD_BYTES_MAX) {
      return refusal('ERR_PAYLOAD_TOO_LARGE', `a batch of ${bytes} bytes, at most ${RECORD_BYTES_MAX}`, 0);
    }
    return admissions;
  }

  private stageAll(
    session: ClientSession,
    message: ClientMessage & { kind: 'submit_all' },
    admissions: readonly Admitted[],
  ): void {
    const at = this.context.at();
    const own = new Map<string, number>();
    const jobs: Submission[] = [];
    const policies: StoredPolicy[] = [];
    const answer = message.items.map((item, i) => {
      const admission = admissions[i] as Admitted;
      const earlier = admission.verdict === 'same' ? admission.job : own.get(admission.key);
      if (earlier !== undefined) return earlier;
      const job = this.uncommitted.nextJob + jobs.length;
      if (admission.key !== '') own.set(admission.key, job);
      const policy = session.refs.get(item.ref) as StoredPolicy;
      const dueAt = item.delayMs > 0 ? at + item.delayMs : 0;
      policies.push(policy);
      jobs.push({ job, policy: policy.no, dueAt, key: item.key, payload: item.payload });
      return job;
    });
    if (jobs.length === 0)
      return this.same(session, { ...message.items[0], seq: message.seq } as SubmitItem, answer);
    if (session.producer === 0 && !this.producers.enrol(session))
      return this.refuse(session, message.seq, CROWDED);
    for (const key of own.keys()) this.uncommitted.keys.add(key);
    const low = Math.min(message.low, message.seq - 1);
    const record: EnqueueAllRecord = {
      type: 'enqueue_all',
      at,
      producer: session.producer,
      seq: message.seq,
      low,
      jobs,
    };
    this.answers.set(record, answer);
    this.context.stage(record, session);
    jobs.forEach((job, i) => {
      this.takeOff(session, job, policies[i] as StoredPolicy, message.seq);
    });
  }

  /** The numbers to answer with; they differ from the record's where a key led to an earlier job. */
  readonly answers = new WeakMap<EnqueueAllRecord, readonly number[]>();

  private same(session: ClientSession, item: SubmitItem, jobs: readonly number[]): void {
    const receipt: Receipt = {
      seq: item.seq,
      jobs,
      lsn: this.context.lsn,
      duplicate: true,
      refusal: undefined,
    };
    session.receipt(receipt);
    this.context.markDirty(session);
    if (item.wantsOutcome) for (const job of jobs) awaitOutcome(this.context, job, session);
  }

  /** Once what is in flight has landed. A session that has ended meanwhile says it again in its next. */
  private later(session: ClientSession, run: () => void): void {
    this.context.whenApplied(() => {
      if (session.closed) return;
      if (this.producers.isCurrent(session)) run();
      else this.onForgotten(session);
    });
  }

  private refuse(session: ClientSession, seq: number, why: Refusal): void {
    session.receipt({ seq, jobs: [], lsn: this.context.lsn, duplicate: false, refusal: why });
    this.context.markDirty(session);
    this.context.observe?.({ kind: 'refused', client: session.client, code: why.code });
  }

  private producerOf(session: ClientSession): Producer | undefined {
    return this.context.ledger.producers.get(session.producer);
  }
}

const CROWDED = refusal('ERR_PRODUCERS_FULL', 'too many clients that submit are remembered', 1_000);

/**
 * Numbers go into records and into a window that grows with them: one far ahead of the mark would make the leader remember
 * all between, one that is no number would not come back from the log.
 */
function badNumber(producer: Producer | undefined, seq: number, low: number): Refusal | undefined {
  const whole = Number.isSafeInteger(seq) && Number.isSafeInteger(low) && seq >= 1 && low >= 0;
  const mark = Math.max(low, producer?.low ?? 0);
  if (whole && seq - mark <= SEQ_WINDOW) return undefined;
  return refusal(
    'ERR_MESSAGE_MALFORMED',
    `submit number ${seq} after ${mark}, at most ${SEQ_WINDOW} ahead`,
    0,
  );
}
