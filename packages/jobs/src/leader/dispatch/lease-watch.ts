import type { WorkerLiveness } from '../../protocol/client/admin-messages.js';
import type { HeartbeatHello, LoopBlocked } from '../../protocol/worker/worker-messages.js';
import type { LeaderParts } from '../leader-context.js';
import { type HeartbeatPort, HeartbeatSession } from '../sessions/heartbeat-session.js';
import type { WorkerSession } from '../sessions/worker-session.js';
import type { AttemptLifecycle } from './attempt-lifecycle.js';
import type { Lease } from './lease.js';

/** Heartbeats that may be missed before silence means anything. */
const SILENT_HEARTBEATS = 3;

/** Leases of a lost worker that one check ends. */
const ENDED_PER_CHECK = 2_048;

/** Checks every worker once a tick: is it silent, blocked or gone, has an attempt run too long (ADR 0404). */
export class LeaseWatch {
  private readonly context: LeaderParts<'fleet' | 'leaseTime' | 'markDirty' | 'observe' | 'times'>;
  private readonly attempts: AttemptLifecycle;

  constructor(context: LeaseWatch['context'], attempts: AttemptLifecycle) {
    this.context = context;
    this.attempts = attempts;
  }

  check(): void {
    for (const session of this.context.fleet.sessions.values()) {
      if (session.open || session.heartbeat !== undefined) this.checkLeases(session);
      else this.reclaimLeases(session);
    }
  }

  /** A message came from the worker's event loop, so that runs. */
  receivedFrom(session: WorkerSession): void {
    session.lastReceivedAt = this.context.leaseTime;
    if (session.liveness !== 'alive') this.updateLiveness(session);
  }

  /**
   * A heartbeat connection belongs to the worker that named its token, or to one whose hello was before the
   * leader's restart.
   */
  openHeartbeat(hello: HeartbeatHello, port: HeartbeatPort): HeartbeatSession {
    const heartbeat = new HeartbeatSession(hello, port, this.context.leaseTime);
    const session = this.context.fleet.sessions.get(heartbeat.name);
    const isKnown =
      session?.fromBeforeRestart === true || (hello.token !== '' && session?.heartbeatToken === hello.token);
    if (session !== undefined && isKnown) session.heartbeat = heartbeat;
    else heartbeat.refuse('no such worker is known here');
    return heartbeat;
  }

  fromHeartbeat(heartbeat: HeartbeatSession, report: LoopBlocked): void {
    const session = this.workerOf(heartbeat);
    if (session === undefined) return;
    heartbeat.lastReceivedAt = this.context.leaseTime;
    if (report.blockedMs === 0) return this.closeHeartbeat(heartbeat);
    this.updateLiveness(session);
  }

  /**
   * From now on the event loop must send itself: where its connection is lost, the grace period begins now.
   */
  closeHeartbeat(heartbeat: HeartbeatSession): void {
    const session = this.workerOf(heartbeat);
    if (session === undefined) return;
    session.heartbeat = undefined;
    if (!session.open) session.closedAt = this.context.leaseTime;
  }

  liveness(session: WorkerSession): WorkerLiveness {
    const { leaseTime } = this.context;
    const isSilent = leaseTime - session.lastReceivedAt > this.silenceMs;
    if (session.heartbeat !== undefined) {
      if (session.open && session.lastReceivedAt >= session.heartbeat.lastReceivedAt) return 'alive';
      return leaseTime - session.aliveAt > this.silenceMs ? 'gone' : 'blocked';
    }
    if (!session.open) return 'gone';
    if (!isSilent) return 'alive';
    // A worker with a heartbeat thread would report that it is blocked.
    return session.heartbeatToken === '' ? 'blocked' : 'gone';
  }

  blockedMs(session: WorkerSession): number {
    return this.liveness(session) === 'blocked' ? this.context.leaseTime - session.lastReceivedAt : 0;
  }

  /** A shorter silence is normal: an idle worker sends no more often than once a heartbeat. */
  private get silenceMs(): number {
    return SILENT_HEARTBEATS * this.context.times.heartbeatMs;
  }

  private workerOf(heartbeat: HeartbeatSession): WorkerSession | undefined {
    const session = this.context.fleet.sessions.get(heartbeat.name);
    return session?.heartbeat === heartbeat ? session : undefined;
  }

  private updateLiveness(session: WorkerSession): void {
    const liveness = this.liveness(session);
    if (liveness === session.liveness) return;
    session.liveness = liveness;
    this.context.fleet.refresh(session);
    const shown = liveness === 'gone' ? 'silent' : liveness;
    this.context.observe?.({ kind: 'worker', worker: session.name, liveness: shown });
  }

  private checkLeases(session: WorkerSession): void {
    const { leaseTime, times } = this.context;
    this.updateLiveness(session);
    const silentMs = leaseTime - session.aliveAt;
    // A blocked event loop cannot end its attempts itself, so there is nothing to wait for.
    const runGraceMs = session.heartbeat === undefined ? times.runGraceMs : 0;
    // The list of leases changes only when a record is applied, never during this loop.
    for (const lease of session.leases) {
      if (lease.job.pending) continue;
      const { leaseMs, limits } = lease.job.policy;
      if (silentMs > Math.max(leaseMs, this.silenceMs)) {
        this.fence(lease, 'LeaseExpired', `silent for ${Math.round(silentMs)} ms`);
      } else if (leaseTime - lease.startedAt > limits.runMs + runGraceMs) {
        this.fence(lease, 'RunTimeExceeded', `still running after ${limits.runMs} ms`);
      }
    }
  }

  /** A stream of a job that is to fail when no reader takes its chunks. */
  failUnread(lease: Lease): void {
    const { bufferBytes = 0 } = lease.job.policy.stream ?? {};
    const message = `no reader has taken its chunks, and the leader holds ${bufferBytes} bytes of them`;
    lease.session.abort(lease.job.no, lease.attempt, 'fenced', message);
    this.context.markDirty(lease.session);
    this.attempts.stageEnd(lease, 'final', { name: 'StreamUnread', code: 'ERR_STREAM_UNREAD', message });
  }

  private fence(lease: Lease, name: string, problem: string): void {
    lease.session.abort(lease.job.no, lease.attempt, 'fenced', problem);
    this.context.markDirty(lease.session);
    const message = `worker ${lease.session.worker}: ${problem}`;
    this.attempts.stageEnd(lease, 'timed-out', { name, message });
  }

  /** Ends the leases of a lost worker once its grace period is over, and removes the worker. */
  private reclaimLeases(session: WorkerSession): void {
    const { leaseTime, times, fleet, observe } = this.context;
    const graceMs = session.fromBeforeRestart ? times.reclaimMs : times.resumeGraceMs;
    if (!session.isGone && leaseTime - (session.closedAt ?? leaseTime) <= graceMs) return;
    this.endLeases(session);
    if (session.leases.length > 0) return;
    fleet.remove(session);
    observe?.({ kind: 'worker', worker: session.name, liveness: 'gone' });
  }

  /**
   * The attempts of a lost worker count as crashes, unless it was the leader that went away. The rest of a
   * long list ends with the next checks.
   */
  endLeases(session: WorkerSession): void {
    let left = ENDED_PER_CHECK;
    for (const lease of session.leases) {
      if (lease.job.pending) continue;
      if (left === 0) return;
      left -= 1;
      const message = `worker ${session.worker} went away while the job ran`;
      if (session.fromBeforeRestart) this.attempts.stageEnd(lease, 'released', undefined);
      else this.attempts.stageEnd(lease, 'crashed', { name: 'WorkerLost', message });
    }
  }
}
