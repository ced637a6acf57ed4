import type { Attempts } from './attempts.js';
import type { LeaderContext } from './leader-context.js';
import type { Lease } from './lease.js';
import type { WorkerSession } from './worker-session.js';

/** Looks at every worker once a tick: who is silent, who is gone, which attempt has run too long (ADR 0053). */
export class LeaseWatch {
  private readonly context: LeaderContext;
  private readonly attempts: Attempts;
  private readonly blocked = new WeakSet<WorkerSession>();

  constructor(context: LeaderContext, attempts: Attempts) {
    this.context = context;
    this.attempts = attempts;
  }

  sweep(): void {
    for (const session of this.context.fleet.sessions.values()) {
      if (session.open) this.watch(session);
      else this.mourn(session);
    }
  }

  liveness(session: WorkerSession): 'alive' | 'blocked' | 'gone' {
    if (!session.open) return 'gone';
    const silentMs = this.context.time - session.heardAt;
    return Math.max(silentMs, session.lagMs) > 3 * this.context.times.beatMs ? 'blocked' : 'alive';
  }

  private watch(session: WorkerSession): void {
    const { time, times, observe } = this.context;
    if (this.liveness(session) === 'alive') this.blocked.delete(session);
    else if (!this.blocked.has(session)) {
      this.blocked.add(session);
      observe?.({ kind: 'worker', worker: session.name, liveness: 'blocked' });
    }
    const silentMs = time - session.heardAt;
    // Ends change the list of leases only when their record is applied, never during this loop.
    for (const lease of session.leases) {
      if (lease.job.pending) continue;
      const { spec } = lease.job.policy;
      if (silentMs > spec.leaseMs) this.fence(lease, 'LeaseExpired', `silent for ${Math.round(silentMs)} ms`);
      else if (time - lease.startedAt > spec.limits.runMs + times.runGraceMs) {
        this.fence(lease, 'RunTimeExceeded', `still running after ${spec.limits.runMs} ms`);
      }
    }
  }

  private fence(lease: Lease, name: string, what: string): void {
    lease.session.abort(lease.job.no, lease.attempt, 'fenced');
    this.context.list(lease.session);
    this.attempts.end(lease, 'timed-out', { name, message: `worker ${lease.session.worker}: ${what}` });
  }

  /** The grace of a lost worker is over: its attempts go back, as crashes unless it was the leader who went away. */
  private mourn(session: WorkerSession): void {
    const { time, times, fleet, observe } = this.context;
    const graceMs = session.inDoubt ? times.reclaimMs : times.resumeGraceMs;
    if (!session.forsaken && time - (session.closedAt ?? time) <= graceMs) return;
    this.abandon(session);
    if (session.leases.length > 0) return;
    fleet.leave(session);
    observe?.({ kind: 'worker', worker: session.name, liveness: 'gone' });
  }

  abandon(session: WorkerSession): void {
    for (const lease of session.leases) {
      if (lease.job.pending) continue;
      const failure = { name: 'WorkerLost', message: `worker ${session.worker} went away while the job ran` };
      this.attempts.end(
        lease,
        session.inDoubt ? 'released' : 'crashed',
        session.inDoubt ? undefined : failure,
      );
    }
  }
}
