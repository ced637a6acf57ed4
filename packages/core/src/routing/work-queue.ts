import type { ActorCell } from '../actor/actor-cell.js';
import type { SuspensionToken } from '../define/actor-context.js';
import { ActorFailedError, NoRouteeError, UndeliveredError } from '../errors/error-classes.js';
import { toError } from '../errors/thrown-value.js';
import { DRAINING, FENCED, STOPPING, TERMINATED } from '../mailbox/status-word.js';
import { Cancellation } from '../message/cancellation.js';
import type { DeadLetterReason } from '../message/dead-letter.js';
import { Envelope, type EnvelopeOwner, enveloped } from '../message/envelope.js';
import type { LaterReply } from '../message/later-reply.js';
import type { CellRef } from '../ref/cell-ref.js';
import type { Member } from './routee-selector.js';
import type { PullOptions } from './routing-option.js';

interface Work {
  readonly handler: number;
  readonly payload: unknown;
  /** The message as it came, when it came as an envelope. */
  readonly source: Envelope | undefined;
  readonly later: LaterReply<unknown>;
  attempts: number;
}

/** Why a message did not reach a worker that has ended. */
const ENDED: readonly string[] = ['stopped', 'draining', 'left-over'] satisfies DeadLetterReason[];
const ENDING = STOPPING | TERMINATED | FENCED;

/** A condition that no event meets: the pool itself resumes when a worker is free. */
const UNTIL_FREE = {
  on: 'event',
  key: 'troupe: a worker of this pool is free, which is no event',
} as const;

/**
 * Work on its way through a pull pool. A worker has at most `window` messages; while no worker has room the
 * pool's own mailbox is suspended, so that work waits there, where it is bounded and where no ending worker
 * takes it along. The work of a worker that ended comes back and is given out before anything newer. When the
 * last worker has ended for good, the rest is given up.
 */
export class WorkQueue {
  private readonly window: number;
  private readonly attemptsMax: number;
  private readonly out = new Map<CellRef, number>();
  private readonly watched = new WeakSet<object>();
  private returned: Work[] = [];
  private members: readonly Member[] = [];
  private outstanding = 0;
  private isGivingOut = false;
  private closed: SuspensionToken | undefined = undefined;
  private onFinished: (() => void) | undefined = undefined;

  constructor(options: PullOptions) {
    this.window = options.window ?? 1;
    this.attemptsMax = options.attempts ?? 1;
  }

  /** The supervisor has been started, or its workers have changed. */
  setMembers(supervisor: ActorCell, members: readonly Member[]): void {
    this.members = members;
    supervisor.ensureCold().workQueue = this;
    this.watchEnd(supervisor.ref, supervisor.ref);
    for (const { ref } of members) this.watchEnd(supervisor.ref, ref);
    this.workersChanged(supervisor.ref);
  }

  /** The workers that have work. */
  get busyWorkers(): ActorCell[] {
    return Array.from(this.out.keys(), (worker) => worker.cell);
  }

  /** All workers that have not ended for good. */
  get livingWorkers(): ActorCell[] {
    return this.members.map(({ ref }) => ref.cell).filter((cell) => !cell.isTerminated);
  }

  /** Whether this ask waits here until a worker is free. */
  hasWaiting(ask: unknown): boolean {
    return this.returned.some(({ source }) => source === ask);
  }

  /** Whether a worker lives, or will: the workers of a supervisor that is restarted come back with it. */
  hasWorkers(supervisor: ActorCell): boolean {
    if (supervisor.isTerminated) return false;
    if (supervisor.isFailed || supervisor.cold?.ending?.kind === 'restart') return true;
    return this.members.some(({ ref }) => !ref.cell.isTerminated);
  }

  /**
   * Gives out work again when a worker or the supervisor has ended. A permanent worker is open again after
   * its end, and work may have waited for it.
   */
  private watchEnd(supervisor: CellRef, ending: CellRef): void {
    const cold = ending.cell.ensureCold();
    if (this.watched.has(cold)) return;
    this.watched.add(cold);
    cold.onStopped.push(() => {
      this.watched.delete(cold);
      if (!ending.cell.isTerminated) this.watchEnd(supervisor, ending);
      this.workersChanged(supervisor);
    });
  }

  private workersChanged(supervisor: CellRef): void {
    this.giveOut(supervisor);
    supervisor.cell.type.runtime.waitCycles.checkWorkers(this.livingWorkers);
  }

  /** A message of the pool. Its reply comes from the worker. */
  take(supervisor: ActorCell, handler: number, payload: unknown): LaterReply<unknown> | undefined {
    const source = supervisor.type.runtime.invoker.envelope;
    const work: Work = { handler, payload, source, later: supervisor.later<unknown>(), attempts: 0 };
    this.returned.push(work);
    this.giveOut(supervisor.ref);
    return source === undefined ? undefined : work.later;
  }

  /** A drain waits until everything given out is done. A stop gives up the work that has not begun. */
  finish(supervisor: ActorCell): Promise<void> | undefined {
    if (!supervisor.isDraining) {
      this.giveUp(
        supervisor,
        (message) => new UndeliveredError(supervisor.path, message, 'the pool has stopped'),
      );
      return undefined;
    }
    if (this.outstanding + this.returned.length === 0) return undefined;
    return new Promise((resolve) => {
      this.onFinished = resolve;
    });
  }

  private giveUp(supervisor: ActorCell, errorFor: (message: string) => Error): void {
    for (const { handler, payload, later } of this.returned.splice(0)) {
      const message = supervisor.type.definition['~handlerNames'][handler] as string;
      supervisor.type.runtime.deadLetters.unrouted(supervisor.path, message, payload);
      later.refuse(errorFor(message));
    }
  }

  private giveOut(supervisor: CellRef): void {
    // Work that cannot be delivered comes back at once: the same loop goes on with it.
    if (this.isGivingOut) return;
    this.isGivingOut = true;
    while (this.returned.length > 0) {
      const worker = this.freest();
      if (worker === undefined) break;
      this.give(supervisor, worker, this.returned.shift() as Work);
    }
    this.isGivingOut = false;
    const { cell } = supervisor;
    if (!this.hasWorkers(cell))
      this.giveUp(cell, (message) => new NoRouteeError(cell.path, message, 'all workers have ended'));
    this.openOrClose(cell);
    if (this.outstanding + this.returned.length === 0) this.onFinished?.();
  }

  /**
   * Opens again only when half of the places are free: opening for each single message would cost more than
   * the work. Open also without any worker, so that waiting work is given up.
   */
  private openOrClose(supervisor: ActorCell): void {
    const free = this.hasWorkers(supervisor) ? this.freePlaces() : this.window;
    if (free === 0 && this.closed?.active !== true && (supervisor.status & ENDING) === 0) {
      this.closed = supervisor.type.runtime.suspensions.suspend(supervisor, 'backpressure', UNTIL_FREE);
    } else if (free > 0 && 2 * free >= this.window && this.closed?.active === true) {
      this.closed.resume();
    }
  }

  private give(supervisor: CellRef, worker: CellRef, work: Work): void {
    const { runtime } = supervisor.cell.type;
    const { source } = work;
    if (hasExpired(source)) {
      runtime.deadLetters.notBegun(supervisor.cell, source as Envelope);
      return;
    }
    const { cell } = worker;
    const deadline = source?.deadline ?? Number.POSITIVE_INFINITY;
    const now = runtime.executor.now();
    const envelope = new Envelope(cell, work.handler, work.payload, supervisor.cell, source, deadline, now);
    envelope.resolve = (reply) => this.done(supervisor, worker, () => work.later.reply(reply));
    envelope.reject = (reason) => this.failed(supervisor, worker, work, toError(reason));
    if (source?.owner !== undefined) {
      envelope.owner = WORK_OWNER;
      if (source.owner instanceof Cancellation) Cancellation.of(envelope);
    }
    if (deadline !== Number.POSITIVE_INFINITY) runtime.wheel.arm(envelope, envelope.deadline);
    work.attempts += 1;
    this.outstanding += 1;
    this.out.set(worker, (this.out.get(worker) ?? 0) + 1);
    runtime.waitGraph.releaseBetween(cell, supervisor.cell);
    runtime.delivery.tell(cell, enveloped(work.handler), envelope);
    if (cell.isAwaiting && source?.sender !== undefined) runtime.waitCycles.checkWorkers([cell]);
  }

  private failed(supervisor: CellRef, worker: CellRef, work: Work, error: Error): void {
    const again = error instanceof ActorFailedError ? work.attempts < this.attemptsMax : isLost(error);
    if (again && !hasExpired(work.source) && !isStopping(supervisor.cell)) {
      // The worker ended with it: that is no attempt of the work.
      if (isLost(error)) work.attempts -= 1;
      this.returned.unshift(work);
      this.done(supervisor, worker, () => undefined);
    } else {
      this.done(supervisor, worker, () => work.later.refuse(error));
    }
  }

  private done(supervisor: CellRef, worker: CellRef, answer: () => void): void {
    this.outstanding -= 1;
    const left = (this.out.get(worker) ?? 1) - 1;
    if (left === 0) this.out.delete(worker);
    else this.out.set(worker, left);
    answer();
    this.giveOut(supervisor);
  }

  private freest(): CellRef | undefined {
    let best: CellRef | undefined;
    let least = this.window;
    for (const { ref } of this.members) {
      const out = this.out.get(ref) ?? 0;
      if (out < least && !ref.cell.isClosed) {
        least = out;
        best = ref;
      }
    }
    return best;
  }

  private freePlaces(): number {
    let free = 0;
    for (const { ref } of this.members) {
      if (!ref.cell.isClosed) free += this.window - (this.out.get(ref) ?? 0);
    }
    return Math.max(0, free);
  }
}

/** The worker ended with the work, begun or not. A living worker that refuses it would refuse it again. */
function isLost(error: Error): boolean {
  return error instanceof UndeliveredError && ENDED.includes(error.reason);
}

/** The asker has given up. */
function hasExpired(source: Envelope | undefined): boolean {
  return source !== undefined && source.deadline < 0;
}

/**
 * Without an asker, work in a worker's mailbox is no longer begun; the worker of begun work gets a signal and
 * keeps its place in the window until it is done. The asker itself has been answered already.
 */
const WORK_OWNER: EnvelopeOwner = {
  expired(envelope) {
    envelope.due = -1;
    return (envelope.target as ActorCell).type.runtime.asks.timeoutOf(envelope);
  },
  cancelled(envelope) {
    (envelope.target as ActorCell).type.runtime.wheel.cancel(envelope);
    envelope.due = -1;
  },
};

/** A draining pool finishes its work, with any worker. */
function isStopping({ status }: ActorCell): boolean {
  return (status & STOPPING) !== 0 && (status & DRAINING) === 0;
}
