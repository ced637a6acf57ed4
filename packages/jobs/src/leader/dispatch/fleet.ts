import type { WorkerSession } from '../sessions/worker-session.js';
import type { ExecQueue, QueueName } from './exec-queue.js';

/**
 * Workers with credit that are compared for one job. Enough to avoid the loaded ones, whatever the size of
 * the fleet.
 */
const COMPARED_MAX = 8;

/** The workers, and among them those with credit. */
export class Fleet {
  /** By worker and incarnation; lost workers in their grace period included. */
  readonly sessions = new Map<string, WorkerSession>();
  private readonly withCredit: WorkerSession[] = [];
  private cursor = 0;
  /** The worker that got the latest job of this round. */
  private batchWorker: WorkerSession | undefined = undefined;
  /** How many more jobs of its batch the worker of the batch may get. */
  private batchLeft = 0;

  get hasCredit(): boolean {
    return this.withCredit.length > 0;
  }

  add(session: WorkerSession): void {
    this.sessions.set(session.name, session);
    this.refresh(session);
  }

  remove(session: WorkerSession): void {
    if (this.sessions.get(session.name) === session) this.sessions.delete(session.name);
    this.refresh(session);
  }

  /** To be called after every change of a session's credit. */
  refresh(session: WorkerSession): void {
    const hasCredit = session.credit > 0 && this.sessions.get(session.name) === session;
    if (hasCredit === session.creditIndex >= 0) return;
    if (hasCredit) {
      session.creditIndex = this.withCredit.length;
      this.withCredit.push(session);
      return;
    }
    const last = this.withCredit.pop() as WorkerSession;
    if (last !== session) {
      this.withCredit[session.creditIndex] = last;
      last.creditIndex = session.creditIndex;
    }
    session.creditIndex = -1;
  }

  /** The worker that got the latest job may get the next one too. */
  get batchContinues(): boolean {
    return this.batchWorker !== undefined && this.batchLeft > 0 && this.batchWorker.creditIndex >= 0;
  }

  /** A worker has named a warm runner. */
  get hasRunners(): boolean {
    for (const { runnerUses } of this.sessions.values()) if (runnerUses.length > 0) return true;
    return false;
  }

  /** The warm runner of these jobs, where only its credit is missing. */
  busyRunnerOf(job: QueueName): string | undefined {
    let busy: string | undefined;
    for (const session of this.withCredit) {
      if (!session.servesJob(job)) continue;
      const runner = session.runnerOf(job);
      if (runner === undefined || runner.isFree) return undefined;
      busy = runner.use.runner;
    }
    return busy;
  }

  startRound(): void {
    this.batchWorker = undefined;
  }

  /**
   * The worker of the job before, as long as its jobs are so short that batching them beats spreading them.
   */
  pick(queue: ExecQueue, bytes: number): WorkerSession | undefined {
    const { batchWorker } = this;
    if (batchWorker !== undefined && this.batchContinues && batchWorker.takes(queue, bytes)) {
      this.batchLeft -= 1;
      return batchWorker;
    }
    this.batchWorker = this.leastLoaded(queue, bytes);
    if (this.batchWorker !== undefined) this.batchLeft = this.batchWorker.batchSize - 1;
    return this.batchWorker;
  }

  /** The worker of this name, if it can take the job now. */
  preferred(name: string, queue: ExecQueue, bytes: number): WorkerSession | undefined {
    const session = this.sessions.get(name);
    if (session === undefined || session.creditIndex < 0 || !session.takes(queue, bytes)) return undefined;
    return queue.feature !== undefined && !session.hasFreeSlot ? undefined : session;
  }

  /** Workers with code for these jobs; and those among them that may take one, by labels and features. */
  eligible(job: QueueName): { readonly serveExec: number; readonly sessions: readonly WorkerSession[] } {
    let serveExec = 0;
    const sessions: WorkerSession[] = [];
    for (const session of this.sessions.values()) {
      if (!session.open || session.draining || !session.servesExec(job)) continue;
      serveExec += 1;
      if (session.servesJob(job)) sessions.push(session);
    }
    return { serveExec, sessions };
  }

  /** Whether some worker could run the jobs of this queue, with credit or without. */
  canServe(queue: ExecQueue): boolean {
    for (const session of this.sessions.values()) if (session.couldTake(queue)) return true;
    return false;
  }

  /** How many workers were compared until one may take these jobs; beyond `max` they count as served. */
  workersUntilServed(job: QueueName, max: number): { readonly workers: number; readonly isServed: boolean } {
    let workers = 0;
    for (const session of this.sessions.values()) {
      if (workers === max) return { workers, isServed: true };
      workers += 1;
      const mayTake = session.open && !session.draining && !session.isQuiet;
      if (mayTake && session.servesJob(job)) return { workers, isServed: true };
    }
    return { workers, isServed: false };
  }

  /** The best of the next few workers that can take this job; one with a feature is begun at once. */
  leastLoaded(queue: ExecQueue, bytes: number): WorkerSession | undefined {
    const count = this.withCredit.length;
    let best: WorkerSession | undefined;
    let bestScore = Number.POSITIVE_INFINITY;
    let compared = 0;
    for (let i = 0; i < count && compared < COMPARED_MAX; i += 1) {
      this.cursor = this.cursor + 1 < count ? this.cursor + 1 : 0;
      const session = this.withCredit[this.cursor] as WorkerSession;
      if (!session.takes(queue, bytes) || (queue.feature !== undefined && !session.hasFreeSlot)) continue;
      compared += 1;
      const score = session.loadScore;
      if (score >= bestScore) continue;
      best = session;
      bestScore = score;
    }
    return best;
  }
}
