// Hot path: `assign`, `assigned`, `report` and `endLease` run once per attempt.

import { isFed } from '../../job/definition/job-policy.js';
import { retryDelayMs } from '../../job/definition/retry-policy.js';
import { boundedFailure } from '../../job/job-failure.js';
import { TRAILER_BYTES_MAX } from '../../job/trailer.js';
import type { JobFailure } from '../../jobs-error.js';
import type {
  AckRecord,
  AssignRecord,
  DeadReason,
  DeadRecord,
  RequeueRecord,
  RequeueType,
} from '../../ledger/ledger-record.js';
import { YEAR_MS } from '../../option-check.js';
import type { LostPayload } from '../../protocol/leader-interface.js';
import type { AttemptEnd, AttemptRef, StreamEnd } from '../../protocol/worker/worker-messages.js';
import type { FeedTable } from '../feeds/feed-table.js';
import type { LeaderJob, LeaderParts } from '../leader-context.js';
import type { WorkerSession } from '../sessions/worker-session.js';
import type { ExecQueue } from './exec-queue.js';
import { Lease } from './lease.js';

/** How an attempt without a result ended: reported by its worker, or decided here. */
type EndCause = 'failed' | 'final' | 'timed-out' | 'crashed' | 'released' | 'payload-lost';

/** Attempts: assigned to workers, ended by them, taken back from them. */
export class AttemptLifecycle {
  private readonly context: LeaderParts<
    | 'chunkCount'
    | 'clock'
    | 'fleet'
    | 'leaseTime'
    | 'ledger'
    | 'markDirty'
    | 'observe'
    | 'queues'
    | 'recordBytesMax'
    | 'recordTime'
    | 'stage'
    | 'stats'
    | 'uncommitted'
    | 'whenApplied'
  >;
  private readonly feeds: Pick<FeedTable, 'isReplayable'>;

  constructor(context: AttemptLifecycle['context'], feeds: Pick<FeedTable, 'isReplayable'>) {
    this.context = context;
    this.feeds = feeds;
  }

  /** The credit is spent with the decision; the assignment is sent when its record is durable. */
  assign(no: number, bytes: number, session: WorkerSession, queue: ExecQueue): void {
    session.spend(queue, bytes);
    const job = this.context.ledger.jobs.get(no);
    const attempt = (job?.attempt ?? 0) + 1;
    if (job !== undefined) this.reserve(job, attempt, session);
    else {
      session.uncommitted += 1;
      this.context.uncommitted.assignWorker(no, session);
    }
    this.context.fleet.refresh(session);
    const record: AssignRecord = {
      type: 'assign',
      at: this.context.recordTime,
      job: no,
      attempt,
      worker: session.name,
    };
    this.context.stage(record, session);
  }

  /**
   * A job was assigned before its own record was durable, and now that is: the record of the assignment is
   * right behind it.
   */
  reserveCommitted(job: LeaderJob, session: WorkerSession): void {
    session.uncommitted -= 1;
    this.reserve(job, 1, session);
  }

  private reserve(job: LeaderJob, attempt: number, session: WorkerSession): void {
    job.pending = true;
    const lease = new Lease(job, attempt, session, this.context.leaseTime);
    job.lease = lease;
    session.addLease(lease);
  }

  /** The record of the assignment is durable. */
  assigned(record: AssignRecord, job: LeaderJob): void {
    const lease = job.lease as Lease;
    job.pending = false;
    lease.startedAt = this.context.leaseTime;
    const { session } = lease;
    if (!session.open || lease.unpaid) {
      // The connection was lost while the record was written: the worker never got the job.
      this.stageEnd(lease, 'released', undefined);
      return;
    }
    const { policy } = job;
    const trace = this.context.ledger.traceOf(job.no);
    session.assign({
      job: job.no,
      attempt: record.attempt,
      exec: policy.exec,
      payload: job.payload,
      client: job.client,
      runMs: policy.limits.runMs,
      outputBytes: policy.limits.outputBytes,
      streaming: policy.streaming !== undefined,
      isFed: isFed(policy) ? true : undefined,
      durable: policy.stream?.durable,
      silenceMs: policy.limits.silenceMs,
      trace,
    });
    this.context.markDirty(session);
    const waitedMs = record.at - this.context.ledger.waitsSince(job);
    lease.assignedAt = record.at;
    this.context.stats.of(policy.exec).waits.add(waitedMs, record.at);
    const { attempt } = record;
    this.context.observe?.({ kind: 'assigned', job: job.no, exec: policy.exec, attempt, waitedMs, trace });
  }

  /** A worker reports the end of an attempt. Only the holder of the running attempt is believed. */
  report(session: WorkerSession, end: AttemptEnd): void {
    const job = this.context.ledger.jobs.get(end.job);
    if (job?.pending === true) return this.context.whenApplied(() => this.report(session, end));
    const lease = job?.lease;
    if (
      job === undefined ||
      lease === undefined ||
      lease.attempt !== end.attempt ||
      lease.session.name !== session.name
    ) {
      session.answerStale(end.job, end.attempt);
      this.context.markDirty(session);
      this.context.observe?.({ kind: 'stale', worker: session.name, job: end.job, attempt: end.attempt });
      return;
    }
    if (end.outcome === 'ok') {
      const bytesMax = Math.min(job.policy.limits.outputBytes, this.context.recordBytesMax);
      if (end.result.length > bytesMax) {
        const message = `output of ${end.result.length} bytes, at most ${bytesMax}`;
        return this.stageEnd(lease, 'final', { name: 'OutputTooLarge', message });
      }
      job.pending = true;
      const { attempt, result } = end;
      const record: AckRecord = { type: 'ack', at: this.context.recordTime, job: job.no, attempt, result };
      this.context.stage(withStreamEnd(record, end), session);
      return;
    }
    if (end.outcome === 'snoozed') return this.stageSnooze(lease, end.delayMs, end);
    this.stageEnd(lease, end.outcome, end.outcome === 'released' ? undefined : end.failure, end);
  }

  payloadLost(session: WorkerSession, { job: no, attempt, problem }: LostPayload): void {
    const lease = this.context.ledger.jobs.get(no)?.lease;
    if (lease === undefined || lease.attempt !== attempt || lease.session !== session) return;
    // The credit comes back: the worker has not used it, and will not.
    session.unspend(lease.job.policy, lease.job.payload.length);
    this.context.fleet.refresh(session);
    this.stageEnd(lease, 'payload-lost', { name: 'PayloadLost', code: 'ERR_PAYLOAD_LOST', message: problem });
  }

  /**
   * Ends a running attempt that did not succeed: one record puts the job back into its queue, or among the
   * dead letters.
   */
  stageEnd(lease: Lease, cause: EndCause, failure: JobFailure | undefined, reported?: StreamEnd): void {
    const { job } = lease;
    job.pending = true;
    lease.isRevoked = reported === undefined;
    const end = reported ?? { chunks: this.context.chunkCount(job) };
    const record = this.endRecord(job, cause, failure && boundedFailure(failure));
    this.context.stage(withStreamEnd(record, end), lease.session);
  }

  /** Its handler wants another attempt later: a release with a delay, which counts as nothing. */
  private stageSnooze(lease: Lease, delayMs: number, end: StreamEnd): void {
    const { job } = lease;
    job.pending = true;
    const record = this.requeue(job, 'release', 0, undefined);
    const ms = Math.min(Math.max(0, delayMs) || 0, YEAR_MS);
    const dueAt = ms === 0 ? 0 : record.at + ms;
    this.context.stage(
      withStreamEnd(record.type === 'dlq' ? record : { ...record, dueAt }, end),
      lease.session,
    );
  }

  /** The attempt has ended in the ledger: its lease ends, and its worker may forget it. */
  endLease(job: LeaderJob, attempt: number): void {
    const { lease } = job;
    job.pending = false;
    if (lease === undefined) return;
    job.lease = undefined;
    this.addRun(job, lease.assignedAt);
    lease.session.removeLease(lease);
    this.context.queues.removeRunning(job);
    if (!lease.session.open) return;
    lease.session.acknowledge(job.no, attempt, job.end?.result?.length ?? 0);
    this.context.markDirty(lease.session);
  }

  private addRun({ policy, state }: LeaderJob, assignedAt: number): void {
    const { recordTime: now } = this.context;
    const stats = this.context.stats.of(policy.exec);
    if (assignedAt > 0) stats.runs.add(now - assignedAt, now);
    if (state === 'done') stats.done.add(now);
    else if (state !== 'cancelled') stats.failed.add(now);
    if (state === 'dead') stats.dead.add(now);
  }

  /** After recovery: the worker that held the attempt may claim it. */
  restore(job: LeaderJob, session: WorkerSession): void {
    const lease = new Lease(job, job.attempt, session, this.context.leaseTime);
    job.lease = lease;
    session.addLease(lease);
    this.context.queues.addRunning(job);
  }

  /**
   * The worker is back with the attempts in `held`. An attempt that both sides have goes on; one that only
   * the leader has was never received; one that only the worker has must be aborted, and one whose end is
   * being written because the worker was away.
   */
  claim(session: WorkerSession, before: WorkerSession | undefined, held: readonly AttemptRef[]): void {
    const kept = new Set<Lease>();
    for (const { job, attempt } of held) {
      const lease = this.context.ledger.jobs.get(job)?.lease;
      const isOwn = lease !== undefined && lease.attempt === attempt && lease.session.name === session.name;
      if (isOwn && !lease.isRevoked) kept.add(lease);
      else session.abort(job, attempt, 'fenced', 'the attempt is not running here');
    }
    for (const lease of [...(before?.leases ?? [])]) {
      before?.removeLease(lease);
      session.addLease(lease);
      if (lease.job.state === 'queued') lease.unpaid = true;
      else if (!kept.has(lease) && !lease.job.pending) this.stageEnd(lease, 'released', undefined);
    }
    this.context.markDirty(session);
  }

  private endRecord(
    job: LeaderJob,
    cause: EndCause,
    failure: JobFailure | undefined,
  ): RequeueRecord | DeadRecord {
    const { retry } = job.policy;
    switch (cause) {
      case 'released':
        return this.requeue(job, 'release', 0, undefined);
      case 'final':
      case 'payload-lost':
        return this.deadLetter(job, cause, failure);
      case 'crashed':
        if (job.crashes + 1 >= retry.crashes) return this.deadLetter(job, 'quarantined', failure);
        // No delay after the first lost worker; from the second on the job waits as if it had failed.
        return this.requeue(job, 'worker_down_requeue', job.crashes, failure);
      case 'failed':
      case 'timed-out':
        if (failure?.code !== undefined && retry.stopOn?.includes(failure.code) === true)
          return this.deadLetter(job, 'final', failure);
        if (job.failures + 1 >= retry.attempts) return this.deadLetter(job, cause, failure);
        return this.requeue(job, cause === 'failed' ? 'retry' : 'timeout_requeue', job.failures + 1, failure);
      default:
        return cause satisfies never;
    }
  }

  private requeue(
    job: LeaderJob,
    type: RequeueType,
    times: number,
    failure: JobFailure | undefined,
  ): RequeueRecord | DeadRecord {
    // Another attempt would not see the beginning of its feed.
    if (!this.feeds.isReplayable(job.no)) return this.deadLetter(job, 'feed-dropped', failure);
    const at = this.context.recordTime;
    const { retry, exec } = job.policy;
    const delayMs = times === 0 ? 0 : retryDelayMs(retry, times, this.context.clock.random());
    this.context.observe?.({ kind: 'requeued', job: job.no, exec, cause: type, delayMs });
    return { type, at, job: job.no, attempt: job.attempt, dueAt: delayMs === 0 ? 0 : at + delayMs, failure };
  }

  private deadLetter(job: LeaderJob, reason: DeadReason, failure: JobFailure | undefined): DeadRecord {
    this.context.observe?.({ kind: 'dead', job: job.no, exec: job.policy.exec, reason });
    return { type: 'dlq', at: this.context.recordTime, job: job.no, attempt: job.attempt, reason, failure };
  }
}

/** The fields of a stream; most attempts have none. */
function withStreamEnd<T extends object>(record: T, { chunks, metadata }: StreamEnd): T & StreamEnd {
  if (chunks === undefined && metadata === undefined) return record;
  // A worker of this package refuses longer ones at its handler.
  const isKept = metadata !== undefined && metadata.length <= TRAILER_BYTES_MAX;
  return { ...record, ...(chunks === undefined ? {} : { chunks }), ...(isKept ? { metadata } : {}) };
}
