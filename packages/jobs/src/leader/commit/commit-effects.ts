// Hot path: `run` runs once per record.
import type { LedgerRecord, PurgeRecord, RedriveRecord } from '../../ledger/ledger-record.js';
import type { AdminApi } from '../admin/admin-api.js';
import type { OperatorApi } from '../admin/operator-api.js';
import type { AttemptLifecycle } from '../dispatch/attempt-lifecycle.js';
import type { FeedTable } from '../feeds/feed-table.js';
import type { LeaderJob, LeaderParts, Session } from '../leader-context.js';
import type { ScheduleApi } from '../schedules/schedule-api.js';
import type { Scheduler } from '../schedules/scheduler.js';
import type { ClientSession } from '../sessions/client-session.js';
import type { SessionRegistry } from '../sessions/session-registry.js';
import type { StreamTable } from '../streams/stream-table.js';
import type { SubmitProcessor } from '../submit/submit-processor.js';
import { notifyWaiters } from './outcome-waiters.js';

interface Parts {
  readonly submits: SubmitProcessor;
  readonly attempts: AttemptLifecycle;
  readonly admin: AdminApi;
  readonly sessions: SessionRegistry;
  readonly streams: StreamTable;
  readonly feeds: FeedTable;
  readonly scheduler: Scheduler;
  readonly schedules: ScheduleApi;
  readonly operator: OperatorApi;
}

/**
 * Side effects of a record that is durable and applied: jobs are queued, sessions are notified, leases end.
 */
export class CommitEffects {
  private readonly context: LeaderParts<
    'ledger' | 'markDirty' | 'observe' | 'queues' | 'recordTime' | 'stats'
  >;
  private readonly parts: Parts;

  constructor(context: CommitEffects['context'], parts: Parts) {
    this.context = context;
    this.parts = parts;
  }

  /** Before the record is applied: a queued job that it ends leaves its queue, with its order key. */
  prepare(record: LedgerRecord): void {
    const no = endedUnrun(record);
    const job = no === 0 ? undefined : this.context.ledger.jobs.get(no);
    if (job?.state === 'queued') this.context.queues.cancelled(job);
  }

  /**
   * `applied` is the job that `apply` returned; the ledger may have dropped it already. A record about one
   * job always has one, which the casts below rely on. `from` and `tag` are those that the record was staged
   * with.
   */
  run(
    record: LedgerRecord,
    applied: LeaderJob | undefined,
    from: Session | undefined,
    tag: number,
    lsn: number,
  ): void {
    const { context } = this;
    const { submits, attempts } = this.parts;
    switch (record.type) {
      case 'enqueue':
        return submits.enqueued(record, applied as LeaderJob, from as ClientSession, tag, lsn);
      case 'enqueue_all':
        return submits.enqueuedAll(record, from as ClientSession, tag, lsn);
      case 'assign':
        this.parts.streams.assigned(applied as LeaderJob, record.attempt);
        this.parts.feeds.assigned(applied as LeaderJob);
        return attempts.assigned(record, applied as LeaderJob);
      case 'ack': {
        const job = this.endAttempt(record, applied as LeaderJob);
        this.ended(job);
        const sinceSubmitMs = record.at - job.at;
        return context.observe?.({ kind: 'completed', job: job.no, exec: job.policy.exec, sinceSubmitMs });
      }
      case 'retry':
      case 'timeout_requeue':
      case 'worker_down_requeue':
      case 'release':
        return context.queues.addFirst(this.endAttempt(record, applied as LeaderJob), context.recordTime);
      case 'dlq':
        return this.ended(this.endAttempt(record, applied as LeaderJob));
      case 'cancel':
        return this.cancelled(applied as LeaderJob, from as ClientSession | undefined, tag);
      case 'feed':
        return this.parts.feeds.fed(record, applied, from as ClientSession, tag);
      case 'feed_end':
        return this.parts.feeds.ended(record);
      case 'schedule_set':
      case 'schedule_drop':
      case 'schedule_pause':
        this.parts.scheduler.changed(record.name);
        return this.parts.schedules.answerView(from as ClientSession, tag, record.name);
      case 'schedule_fire':
        if (applied !== undefined) this.ended(this.stopCancelled(applied));
        return this.parts.schedules.fired(record, from as ClientSession | undefined, tag);
      case 'redrive_edited':
        return this.redrivenOrPurged({ jobs: [record.job] }, from as ClientSession, tag);
      case 'worker_quiet':
        return this.parts.operator.workerChanged(record.worker, from as ClientSession, tag);
      case 'redrive':
      case 'purge':
        return this.redrivenOrPurged(record, from as ClientSession, tag);
      case 'expire':
        return this.expired(applied as LeaderJob);
      case 'queue_limits':
      case 'queue_mode':
        context.queues.controlChanged(record.queue, context.ledger.queueControls.get(record.queue));
        return this.parts.admin.queueChanged(record.queue, from as ClientSession, tag);
      case 'key_release':
        return this.parts.admin.keysReleased(record.keys.length, from as ClientSession, tag);
      case 'spill_file':
        return this.parts.streams.spillFileNamed(record.file);
      case 'spill_drop':
        return this.parts.streams.spillFilesDropped(record.files);
      case 'policy_drop':
        return this.parts.sessions.policies.dropped(record);
      case 'producer':
      case 'producer_drop':
      case 'policy':
      case 'genesis':
      case 'limits':
      case 'state':
      case 'tick':
      case 'feed_drop':
      case 'audit':
        return;
      default:
        return record satisfies never;
    }
  }

  private ended(job: LeaderJob): void {
    this.context.queues.ended(job.no);
    notifyWaiters(this.context, job);
    this.parts.scheduler.jobEnded(job.no);
    if (job.policy.streaming === undefined) return;
    this.parts.streams.jobEnded(job);
    this.parts.feeds.jobEnded(job.no);
  }

  private endAttempt(record: { readonly attempt: number }, job: LeaderJob): LeaderJob {
    this.parts.attempts.endLease(job, record.attempt);
    return job;
  }

  /** A job among many has no session of its own. */
  private cancelled(job: LeaderJob, session: ClientSession | undefined, call: number): void {
    this.ended(this.stopCancelled(job));
    if (session !== undefined)
      this.parts.admin.answer(session, call, { kind: 'cancelled', state: job.state });
  }

  /** The worker of a cancelled job aborts its attempt; no worker gets one that was queued. */
  private stopCancelled(job: LeaderJob): LeaderJob {
    const { context } = this;
    const { lease } = job;
    if (lease !== undefined) {
      lease.session.abort(job.no, lease.attempt, 'cancelled', job.end?.reason ?? '');
      context.markDirty(lease.session);
    }
    this.parts.attempts.endLease(job, job.attempt);
    this.countCancelled(job);
    return job;
  }

  private expired(job: LeaderJob): void {
    job.pending = false;
    this.ended(job);
    this.countCancelled(job);
  }

  private countCancelled({ no, policy }: LeaderJob): void {
    this.context.stats.of(policy.exec).cancelled += 1;
    this.context.observe?.({ kind: 'cancelled', job: no, exec: policy.exec });
  }

  private redrivenOrPurged(
    record: Pick<RedriveRecord | PurgeRecord, 'jobs'>,
    session: ClientSession,
    call: number,
  ): void {
    const { ledger, queues } = this.context;
    // From the last to the first: each goes before the jobs that wait for its order key.
    for (const no of [...record.jobs].reverse()) {
      const job = ledger.jobs.get(no);
      if (job === undefined) continue;
      job.pending = false;
      if (job.state !== 'queued') continue;
      this.parts.streams.redriven(job);
      queues.addRedriven(job, this.context.recordTime);
    }
    this.parts.admin.answer(session, call, { kind: 'count', count: record.jobs.length });
  }
}

/** The job that the record ends, perhaps before it has run; 0: none. */
function endedUnrun(record: LedgerRecord): number {
  if (record.type === 'cancel' || record.type === 'expire') return record.job;
  return record.type === 'schedule_fire' ? record.replaced : 0;
}
