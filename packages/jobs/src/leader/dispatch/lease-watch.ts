import type { Liveness } from '../../protocol/client-messages.js';
import type { HeartbeatHello, LoopBlocked, ToWorker } from '../../protocol/worker-messages.js';
import type { LeaderContext } from '../leader-context.js';
import { HeartbeatSession } from '../sessions/heartbeat-session.js';
import type { WorkerSession } from '../sessions/worker-session.js';
import type { Attempts } from './attempts.js';
import type { Lease } from './lease.js';

const SILENT_BEATS = 3;

/** Looks at every worker once a tick: who is silent, blocked or gone, which attempt has run too long (ADR 0053, 0057). */
export class LeaseWatch {
  private readonly context: LeaderContext;
  private readonly attempts: Attempts;

  constructor(context: LeaderContext, attempts: Attempts) {
    this.context = context;
    this.attempts = attempts;
  }

  sweep(): void {
    for (const session of this.context.fleet.sessions.values()) {
      if (session.open || session.heartbeat !== undefined) this.watch(session);
      else this.mourn(session);
    }
  }

  /** Its event loop turns. */
  heard(session: WorkerSession): void {
    session.heardAt = this.context.time;
    if (session.liveness !== 'alive') this.note(session);
  }

  /** A heartbeat speaks for a worker that named its token, or for one whose hello was before the leader's restart. */
  openHeartbeat(hello: HeartbeatHello, port: { write(message: ToWorker): void }): HeartbeatSession {
    const heartbeat = new HeartbeatSession(hello, port, this.context.time);
    const session = this.context.fleet.sessions.get(heartbeat.name);
    const isKnown =
      session?.inDoubt === true || (hello.token !== '' && session?.heartbeatToken === hello.token);
    if (session !== undefined && isKnown) session.heartbeat = heartbeat;
    else heartbeat.refuse('no such worker is known here');
    return heartbeat;
  }

  fromHeartbeat(heartbeat: HeartbeatSession, report: LoopBlocked): void {
    const session = this.spokenFor(heartbeat);
    if (session === undefined) return;
    heartbeat.heardAt = this.context.time;
    if (report.blockedMs === 0) return this.closeHeartbeat(heartbeat);
    this.note(session);
  }

  /** From now on the loop must be heard itself: where its connection is lost, it has the grace to come back. */
  closeHeartbeat(heartbeat: HeartbeatSession): void {
    const session = this.spokenFor(heartbeat);
    if (session === undefined) return;
    session.heartbeat = undefined;
    if (!session.open) session.closedAt = this.context.time;
  }

  liveness(session: WorkerSession): Liveness {
    const { time } = this.context;
    const isSilent = time - session.heardAt > this.quietMs;
    if (session.heartbeat !== undefined) {
      if (session.open && session.heardAt >= session.heartbeat.heardAt) return 'alive';
      return time - session.aliveAt > this.quietMs ? 'gone' : 'blocked';
    }
    if (!session.open) return 'gone';
    if (!isSilent) return 'alive';
    // Who could say that it is blocked, and does not, is not there.
    return session.heartbeatToken === '' ? 'blocked' : 'gone';
  }

  blockedMs(session: WorkerSession): number {
    return this.liveness(session) === 'blocked' ? this.context.time - session.heardAt : 0;
  }

  /** No silence shorter than this means anything: an idle worker beats no faster. */
  private get quietMs(): number {
    return SILENT_BEATS * this.context.times.heartbeatMs;
  }

  private spokenFor(heartbeat: HeartbeatSession): WorkerSession | undefined {
    const session = this.context.fleet.sessions.get(heartbeat.name);
    return session?.heartbeat === heartbeat ? session : undefined;
  }

  private note(session: WorkerSession): void {
    const liveness = this.liveness(session);
    if (liveness === session.liveness) return;
    session.liveness = liveness;
    this.context.fleet.refresh(session);
    const shown = liveness === 'gone' ? 'silent' : liveness;
    this.context.observe?.({ kind: 'worker', worker: session.name, liveness: shown });
  }

  private watch(session: WorkerSession): void {
    const { time, times } = this.context;
    this.note(session);
    const silentMs = time - session.aliveAt;
    // A loop that stands cannot end its attempts itself, so there is nothing to wait for.
    const runGraceMs = session.heartbeat === undefined ? times.runGraceMs : 0;
    // Ends change the list of leases only when their record is applied, never during this loop.
    for (const lease of session.leases) {
      if (lease.job.pending) continue;
      const { leaseMs, limits } = lease.job.policy;
      if (silentMs > Math.max(leaseMs, this.quietMs)) {
        this.fence(lease, 'LeaseExpired', `silent for ${Math.round(silentMs)} ms`);
      } else if (time - lease.startedAt > limits.runMs + runGraceMs) {
        this.fence(lease, 'RunTimeExceeded', `still running after ${limits.runMs} ms`);
      }
    }
  }

  private fence(lease: Lease, name: string, what: string): void {
    lease.session.abort(lease.job.no, lease.attempt, 'fenced');
    this.context.markDirty(lease.session);
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
