// Hot path: `act` runs once per record.
import type { Job } from '../../ledger/job.js';
import type { LedgerRecord, PurgeRecord, RedriveRecord } from '../../ledger/record.js';
import type { AdminApi } from '../admin/admin-api.js';
import type { Attempts } from '../dispatch/attempts.js';
import { leaseOf } from '../dispatch/lease.js';
import type { LeaderContext, Session } from '../leader-context.js';
import type { ClientSession } from '../sessions/client-session.js';
import type { SessionRegistry } from '../sessions/session-registry.js';
import type { SubmitProcessor } from '../submit/submit-processor.js';
import { tellWaiters } from './outcome-waiters.js';

interface Parts {
  readonly submits: SubmitProcessor;
  readonly attempts: Attempts;
  readonly admin: AdminApi;
  readonly sessions: SessionRegistry;
}

/** What follows from a record that is durable and applied: who lines up, who is told, what ends. */
export class CommitEffects {
  private readonly context: LeaderContext;
  private readonly parts: Parts;

  constructor(context: LeaderContext, parts: Parts) {
    this.context = context;
    this.parts = parts;
  }

  /**
   * `applied` is what `apply` returned; the ledger may have dropped it already. Where a record is about one job there is one, so the
   * casts below are `apply`'s promise. `from` and `tag` are what the record was staged with.
   */
  act(
    record: LedgerRecord,
    applied: Job | undefined,
    from: Session | undefined,
    tag: number,
    lsn: number,
  ): void {
    const { context } = this;
    const { submits, attempts } = this.parts;
    switch (record.type) {
      case 'enqueue':
        return submits.enqueued(record, applied as Job, from as ClientSession, tag, lsn);
      case 'enqueue_all': {
        const jobs = submits.answers.get(record) ?? [];
        return submits.enqueuedAll(record, from as ClientSession, jobs, lsn);
      }
      case 'assign':
        return attempts.granted(record, applied as Job);
      case 'ack': {
        const job = this.over(record, applied as Job);
        tellWaiters(context, job);
        const sinceSubmitMs = record.at - job.at;
        return context.observe?.({
          kind: 'completed',
          job: job.no,
          exec: job.policy.exec,
          sinceSubmitMs,
        });
      }
      case 'retry':
      case 'timeout_requeue':
      case 'worker_down_requeue':
      case 'release':
        return context.queues.addFirst(this.over(record, applied as Job), context.at());
      case 'dlq':
        return tellWaiters(context, this.over(record, applied as Job));
      case 'cancel':
        return this.cancelled(applied as Job, from as ClientSession, tag);
      case 'redrive':
      case 'purge':
        return this.treated(record, from as ClientSession, tag);
      case 'policy_drop':
        return this.parts.sessions.policies.dropped(record);
      case 'producer':
      case 'producer_drop':
      case 'policy':
      case 'genesis':
      case 'limits':
      case 'tick':
        return;
      default:
        return record satisfies never;
    }
  }

  private over(record: { readonly attempt: number }, job: Job): Job {
    this.parts.attempts.over(job, record.attempt);
    return job;
  }

  private cancelled(job: Job, session: ClientSession, call: number): void {
    const { context } = this;
    const lease = leaseOf(job);
    if (lease === undefined) context.queues.forget(job, context.at());
    else {
      lease.session.abort(job.no, lease.attempt, 'cancelled');
      context.markDirty(lease.session);
    }
    this.parts.attempts.over(job, job.attempt);
    tellWaiters(context, job);
    this.parts.admin.answer(session, call, { kind: 'cancelled', state: job.state });
    context.observe?.({ kind: 'cancelled', job: job.no, exec: job.policy.exec });
  }

  private treated(record: RedriveRecord | PurgeRecord, session: ClientSession, call: number): void {
    const { ledger, queues } = this.context;
    for (const no of record.jobs) {
      const job = ledger.jobs.get(no);
      if (job === undefined) continue;
      job.pending = false;
      if (job.state === 'queued') queues.add(job, this.context.at());
    }
    this.parts.admin.answer(session, call, { kind: 'count', count: record.jobs.length });
  }
}
