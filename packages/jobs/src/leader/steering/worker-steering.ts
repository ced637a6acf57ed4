import type { AttemptLifecycle } from '../dispatch/attempt-lifecycle.js';
import type { LeaderParts } from '../leader-context.js';
import type { WorkerSession } from '../sessions/worker-session.js';

/** A process that has not learned of its stop may come back for so long. */
const KEPT_MS = 600_000;

/** Ends the session of a worker for good. */
export type EndSession = (session: WorkerSession) => void;

/**
 * Workers that an operator has made quiet, which is in the ledger, or stops, which is not: a stop is about a
 * process, and ends with it.
 */
export class WorkerSteering {
  private readonly context: LeaderParts<'clock' | 'fleet' | 'ledger' | 'markDirty'>;
  private readonly attempts: AttemptLifecycle;
  private readonly endSession: EndSession;
  /** By worker and incarnation: when its attempts are taken from it, by the monotonic clock. */
  private readonly stops = new Map<string, number>();

  constructor(context: WorkerSteering['context'], attempts: AttemptLifecycle, endSession: EndSession) {
    this.context = context;
    this.attempts = attempts;
    this.endSession = endSession;
  }

  /** Sessions of this worker: by its name, or by name and incarnation. */
  sessionsOf(worker: string): WorkerSession[] {
    const all = [...this.context.fleet.sessions.values()];
    return all.filter((session) => session.open && (session.worker === worker || session.name === worker));
  }

  /** A worker has connected, or a record about it is applied. */
  refresh(session: WorkerSession): void {
    const { quietWorkers } = this.context.ledger;
    session.isQuiet =
      this.stops.has(session.name) || quietWorkers.has(session.worker) || quietWorkers.has(session.name);
    this.context.fleet.refresh(session);
  }

  /** By worker and incarnation: its connection may be lost just now. */
  stop(name: string, withinMs: number): void {
    this.stops.set(name, this.context.clock.now() + withinMs);
    const session = this.context.fleet.sessions.get(name);
    if (session !== undefined) this.refresh(session);
  }

  /**
   * Once a tick: a worker without attempts ends, also one that comes back because the end was lost with its
   * connection; attempts that take too long go to others, uncounted.
   */
  tick(): void {
    if (this.stops.size === 0) return;
    const now = this.context.clock.now();
    for (const [name, deadline] of [...this.stops]) {
      const session = this.context.fleet.sessions.get(name);
      if (session?.isGone === true || now >= deadline + KEPT_MS) this.stops.delete(name);
      else if (session?.open === true && session.isIdle) this.endSession(session);
      else if (session !== undefined && now >= deadline) this.takeAttempts(session);
    }
  }

  private takeAttempts(session: WorkerSession): void {
    for (const lease of [...session.leases]) {
      if (lease.job.pending) continue;
      session.abort(lease.job.no, lease.attempt, 'fenced', 'its worker is stopped');
      this.attempts.stageEnd(lease, 'released', undefined);
    }
    this.context.markDirty(session);
  }
}
