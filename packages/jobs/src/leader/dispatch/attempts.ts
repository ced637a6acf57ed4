// Hot path: `grant`, `granted`, `ended` and `over` run once per attempt.
import { retryDelayMs } from '../../job/retry.js';
import type { JobFailure } from '../../jobs-error.js';
import type { Job } from '../../ledger/job.js';
import type {
  AssignRecord,
  DeadReason,
  DeadRecord,
  RequeueRecord,
  RequeueType,
} from '../../ledger/record.js';
import type { LostPayload } from '../../protocol/leader-interface.js';
import type { AttemptEnd, AttemptRef } from '../../protocol/worker-messages.js';
import type { LeaderContext } from '../leader-context.js';
import { RECORD_BYTES_MAX } from '../leader-limits.js';
import type { WorkerSession } from '../sessions/worker-session.js';
import { Lease, leaseOf } from './lease.js';

/** Why an attempt came to nothing, beyond what a worker can report. */
type Fate = 'failed' | 'final' | 'timed-out' | 'crashed' | 'released' | 'payload-lost';

/** Attempts: handed out, ended by their worker, taken back from it. */
export class Attempts {
  private readonly context: LeaderContext;

  constructor(context: LeaderContext) {
    this.context = context;
  }

  /** The credit is spent here, with the decision (A28); the worker hears of it when the record is durable (A21). */
  grant(no: number, bytes: number, session: WorkerSession): void {
    session.spent += 1;
    session.spentBytes += bytes;
    const job = this.context.ledger.jobs.get(no);
    const attempt = (job?.attempt ?? 0) + 1;
    if (job !== undefined) this.reserve(job, attempt, session);
    else {
      session.expected += 1;
      this.context.uncommitted.handTo(no, session);
    }
    this.context.fleet.refresh(session);
    const record: AssignRecord = {
      type: 'assign',
      at: this.context.at(),
      job: no,
      attempt,
      worker: session.name,
    };
    this.context.stage(record, session);
  }

  /** The job's own record is durable, and a worker was chosen for it before it was: the assign is right behind. */
  landed(job: Job, session: WorkerSession): void {
    session.expected -= 1;
    this.reserve(job, 1, session);
  }

  private reserve(job: Job, attempt: number, session: WorkerSession): void {
    job.pending = true;
    const lease = new Lease(job, attempt, session, this.context.time);
    job.lease = lease;
    session.hold(lease);
  }

  granted(record: AssignRecord, job: Job): void {
    const lease = leaseOf(job) as Lease;
    job.pending = false;
    lease.startedAt = this.context.time;
    const { session } = lease;
    if (!session.open || lease.unpaid) {
      // The connection went while the record was written: the worker never saw the job.
      this.end(lease, 'released', undefined);
      return;
    }
    const { policy } = job;
    session.assign({
      job: job.no,
      attempt: record.attempt,
      exec: policy.exec,
      payload: job.payload,
      client: job.client,
      runMs: policy.limits.runMs,
      outputBytes: policy.limits.outputBytes,
    });
    this.context.markDirty(session);
    const waitedMs = record.at - Math.max(job.at, job.dueAt);
    const { attempt } = record;
    this.context.observe?.({ kind: 'assigned', job: job.no, exec: policy.exec, attempt, waitedMs });
  }

  /** A worker says how an attempt ended. Only the holder of the running attempt is believed (A22). */
  ended(session: WorkerSession, end: AttemptEnd): void {
    const job = this.context.ledger.jobs.get(end.job);
    if (job?.pending === true) return this.context.whenApplied(() => this.ended(session, end));
    const lease = job === undefined ? undefined : leaseOf(job);
    if (
      job === undefined ||
      lease === undefined ||
      lease.attempt !== end.attempt ||
      lease.session.name !== session.name
    ) {
      session.settle(end.job, end.attempt, end.outcome === 'ok' ? end.result.length : 0);
      this.context.markDirty(session);
      this.context.observe?.({ kind: 'stale', worker: session.name, job: end.job, attempt: end.attempt });
      return;
    }
    if (end.outcome === 'ok') {
      const bytesMax = Math.min(job.policy.limits.outputBytes, RECORD_BYTES_MAX);
      if (end.result.length > bytesMax) {
        const message = `output of ${end.result.length} bytes, at most ${bytesMax}`;
        return this.end(lease, 'final', { name: 'OutputTooLarge', message });
      }
      job.pending = true;
      const { attempt, result } = end;
      this.context.stage({ type: 'ack', at: this.context.at(), job: job.no, attempt, result }, session);
      return;
    }
    this.end(lease, end.outcome, end.outcome === 'released' ? undefined : end.failure);
  }

  payloadLost(session: WorkerSession, { job: no, attempt, problem }: LostPayload): void {
    const job = this.context.ledger.jobs.get(no);
    const lease = job === undefined ? undefined : leaseOf(job);
    if (lease === undefined || lease.attempt !== attempt || lease.session !== session) return;
    // What was spent for it comes back: the worker has not used it, and will not.
    session.spent -= 1;
    session.spentBytes -= lease.job.payload.length;
    this.context.fleet.refresh(session);
    this.end(lease, 'payload-lost', { name: 'PayloadLost', code: 'ERR_PAYLOAD_LOST', message: problem });
  }

  /** Ends a running attempt that did not succeed: the same record sends it back to wait or to the dead letters. */
  end(lease: Lease, fate: Fate, failure: JobFailure | undefined): void {
    const { job } = lease;
    job.pending = true;
    this.context.stage(this.verdict(job, fate, failure && bounded(failure)), lease.session);
  }

  /** The attempt is over in the ledger; its lease, its client's share and its worker's patience end with it. */
  over(job: Job, attempt: number): void {
    const lease = leaseOf(job);
    job.pending = false;
    if (lease === undefined) return;
    job.lease = undefined;
    lease.session.letGo(lease);
    this.context.queues.release(job.client);
    if (!lease.session.open) return;
    lease.session.settle(job.no, attempt, job.end?.result?.length ?? 0);
    this.context.markDirty(lease.session);
  }

  /** After recovery: whoever had it may claim it. */
  restore(job: Job, session: WorkerSession): void {
    const lease = new Lease(job, job.attempt, session, this.context.time);
    job.lease = lease;
    session.hold(lease);
    this.context.queues.resume(job.client);
  }

  /**
   * The worker is back, with these attempts in hand. What the leader also has for it goes on; what it no longer has, it
   * never got; what the leader does not have for it, it must stop.
   */
  claim(session: WorkerSession, before: WorkerSession | undefined, held: readonly AttemptRef[]): void {
    const kept = new Set<Lease>();
    for (const one of held) {
      const job = this.context.ledger.jobs.get(one.job);
      const lease = job === undefined ? undefined : leaseOf(job);
      const own = lease !== undefined && lease.attempt === one.attempt && lease.session.name === session.name;
      if (own) kept.add(lease);
      else session.abort(one.job, one.attempt, 'fenced');
    }
    for (const lease of [...(before?.leases ?? [])]) {
      before?.letGo(lease);
      session.hold(lease);
      if (lease.job.state === 'queued') lease.unpaid = true;
      else if (!kept.has(lease) && !lease.job.pending) this.end(lease, 'released', undefined);
    }
    this.context.markDirty(session);
  }

  private verdict(job: Job, fate: Fate, failure: JobFailure | undefined): RequeueRecord | DeadRecord {
    const { retry } = job.policy;
    switch (fate) {
      case 'released':
        return this.requeue(job, 'release', 0, undefined);
      case 'final':
      case 'payload-lost':
        return this.bury(job, fate, failure);
      case 'crashed':
        if (job.crashes + 1 >= retry.crashes) return this.bury(job, 'quarantined', failure);
        // The first lost worker is bad luck; from the second on the job waits as if it had failed.
        return this.requeue(job, 'worker_down_requeue', job.crashes, failure);
      case 'failed':
      case 'timed-out':
        if (job.failures + 1 >= retry.attempts) return this.bury(job, fate, failure);
        return this.requeue(job, fate === 'failed' ? 'retry' : 'timeout_requeue', job.failures + 1, failure);
      default:
        return fate satisfies never;
    }
  }

  private requeue(
    job: Job,
    type: RequeueType,
    times: number,
    failure: JobFailure | undefined,
  ): RequeueRecord {
    const at = this.context.at();
    const { retry, exec } = job.policy;
    const delayMs = times === 0 ? 0 : retryDelayMs(retry, times, this.context.host.random());
    this.context.observe?.({ kind: 'requeued', job: job.no, exec, cause: type, delayMs });
    return { type, at, job: job.no, attempt: job.attempt, dueAt: delayMs === 0 ? 0 : at + delayMs, failure };
  }

  private bury(job: Job, reason: DeadReason, failure: JobFailure | undefined): DeadRecord {
    this.context.observe?.({ kind: 'dead', job: job.no, exec: job.policy.exec, reason });
    return { type: 'dlq', at: this.context.at(), job: job.no, attempt: job.attempt, reason, failure };
  }
}

const FAILURE_CHARS_MAX = 4_096;

/** What a worker says of a failure is stored: only what is known, and only so much of it. */
function bounded(failure: JobFailure): JobFailure {
  const cut = (text: unknown): string => String(text).slice(0, FAILURE_CHARS_MAX);
  const plain = { name: cut(failure.name), message: cut(failure.message) };
  return failure.code === undefined ? plain : { ...plain, code: cut(failure.code) };
}
