import type { WorkerSession } from '../sessions/worker-session.js';
import type { ExecQueue } from './client-lane.js';

/** How many workers with credit are compared for one job. Enough to avoid the loaded ones, whatever the size of the fleet. */
const COMPARED_MAX = 8;

/** The workers, and among them those with credit. */
export class Fleet {
  /** By worker and incarnation, the lost ones in their grace included. */
  readonly sessions = new Map<string, WorkerSession>();
  private readonly open: WorkerSession[] = [];
  private cursor = 0;
  /** Who got the latest job of this round, and how many more it may get in a row. */
  private stickyWorker: WorkerSession | undefined = undefined;
  private batchLeft = 0;

  get hasCredit(): boolean {
    return this.open.length > 0;
  }

  join(session: WorkerSession): void {
    this.sessions.set(session.name, session);
    this.refresh(session);
  }

  leave(session: WorkerSession): void {
    if (this.sessions.get(session.name) === session) this.sessions.delete(session.name);
    this.refresh(session);
  }

  /** To be called after anything that changes a session's credit. */
  refresh(session: WorkerSession): void {
    const shouldBeOpen = session.credit > 0 && this.sessions.get(session.name) === session;
    if (shouldBeOpen === session.openIndex >= 0) return;
    if (shouldBeOpen) {
      session.openIndex = this.open.length;
      this.open.push(session);
      return;
    }
    const last = this.open.pop() as WorkerSession;
    if (last !== session) {
      this.open[session.openIndex] = last;
      last.openIndex = session.openIndex;
    }
    session.openIndex = -1;
  }

  /** The worker that got the latest job may get the next one too. */
  get batchContinues(): boolean {
    return this.stickyWorker !== undefined && this.batchLeft > 0 && this.stickyWorker.openIndex >= 0;
  }

  startRound(): void {
    this.stickyWorker = undefined;
  }

  /** The one that got the job before, as long as its jobs are so short that one message with many of them is worth more than company. */
  pick(exec: ExecQueue, bytes: number): WorkerSession | undefined {
    const { stickyWorker } = this;
    if (
      stickyWorker !== undefined &&
      this.batchContinues &&
      stickyWorker.serves(exec) &&
      stickyWorker.fits(bytes)
    ) {
      this.batchLeft -= 1;
      return stickyWorker;
    }
    this.stickyWorker = this.best(exec, bytes);
    if (this.stickyWorker !== undefined) this.batchLeft = this.stickyWorker.batchSize - 1;
    return this.stickyWorker;
  }

  /** The best of the next few that can take this job; of all, if none of those can. */
  best(exec: ExecQueue, bytes: number): WorkerSession | undefined {
    const count = this.open.length;
    let best: WorkerSession | undefined;
    let bestScore = Number.POSITIVE_INFINITY;
    let compared = 0;
    for (let i = 0; i < count && compared < COMPARED_MAX; i += 1) {
      this.cursor = this.cursor + 1 < count ? this.cursor + 1 : 0;
      const session = this.open[this.cursor] as WorkerSession;
      if (!session.serves(exec) || !session.fits(bytes)) continue;
      compared += 1;
      const score = session.score;
      if (score >= bestScore) continue;
      best = session;
      bestScore = score;
    }
    return best;
  }
}
