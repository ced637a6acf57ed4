import type { ActorCell } from '../actor/cell.js';
import type { SuspensionToken } from '../define/context.js';
import { ActorFailedError, NoRouteeError, UndeliveredError } from '../errors.js';
import { CLOSED, DRAINING, FAULT, FENCED, STOPPING, TERMINATED } from '../mailbox/status.js';
import type { DeadLetterReason } from '../message/dead-letter.js';
import { Envelope, enveloped } from '../message/envelope.js';
import type { LaterReply } from '../message/later-reply.js';
import type { RefBase } from '../ref/ref-class.js';
import type { Member } from './picker.js';
import type { PullOptions } from './routing.js';

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

/** Only its condition to end it: the pool itself resumes when somebody is free. */
const UNTIL_FREE = {
  on: 'event',
  key: 'troupe: a worker of this pool is free, which no event says',
} as const;

/**
 * Work on its way through a pull pool. A worker has at most `window` messages; while nobody has room the pool's own
 * mailbox is suspended, so that work waits there, where it is bounded and where no dying worker can take it along.
 * What a worker had when it ended comes back and is given out before anything newer. When the last worker has ended for
 * good, what is left is given up.
 */
export class WorkQueue {
  private readonly window: number;
  private readonly attemptsMax: number;
  private readonly out = new Map<RefBase, number>();
  private readonly attended = new WeakSet<object>();
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

  /** The keeper has been started, or its workers have changed. */
  use(keeper: ActorCell, members: readonly Member[]): void {
    this.members = members;
    this.attend(keeper.ref, keeper.ref);
    for (const { ref } of members) this.attend(keeper.ref, ref);
    this.giveOut(keeper.ref);
  }

  /** Somebody works, or will: the workers of a keeper that is restarted come back with it. */
  hasWorkers(keeper: ActorCell): boolean {
    if ((keeper.status & TERMINATED) !== 0) return false;
    if ((keeper.status & FAULT) !== 0 || keeper.extras?.stopping?.restart !== undefined) return true;
    return this.members.some(({ ref }) => (ref.cell.status & TERMINATED) === 0);
  }

  /**
   * Looks again when a worker or the keeper has ended. A worker that was stopping is open again when it begins anew:
   * then somebody has to give out what waited for it.
   */
  private attend(keeper: RefBase, ending: RefBase): void {
    const extras = ending.cell.needExtras();
    if (this.attended.has(extras)) return;
    this.attended.add(extras);
    extras.onStopped.push(() => {
      this.attended.delete(extras);
      if ((ending.cell.status & TERMINATED) === 0) this.attend(keeper, ending);
      this.giveOut(keeper);
    });
  }

  /** A message of the pool. Its reply comes from whoever does the work. */
  take(keeper: ActorCell, handler: number, payload: unknown): LaterReply<unknown> | undefined {
    const source = keeper.kind.runtime.invoker.envelope;
    const work: Work = { handler, payload, source, later: keeper.later<unknown>(), attempts: 0 };
    this.returned.push(work);
    this.giveOut(keeper.ref);
    return source === undefined ? undefined : work.later;
  }

  /** A drain waits until everything given out is done. A stop gives up what nobody has begun. */
  finish(keeper: ActorCell): Promise<void> | undefined {
    if ((keeper.status & DRAINING) === 0) {
      this.giveUp(keeper, (message) => new UndeliveredError(keeper.path, message, 'the pool has stopped'));
      return undefined;
    }
    if (this.outstanding + this.returned.length === 0) return undefined;
    return new Promise((resolve) => {
      this.onFinished = resolve;
    });
  }

  private giveUp(keeper: ActorCell, errorFor: (message: string) => Error): void {
    for (const { handler, payload, later } of this.returned.splice(0)) {
      const message = keeper.kind.definition['~handlerNames'][handler] as string;
      keeper.kind.runtime.deadLetters.unrouted(keeper.path, message, payload);
      later.refuse(errorFor(message));
    }
  }

  private giveOut(keeper: RefBase): void {
    // What cannot be given comes back at once: the same loop goes on with it.
    if (this.isGivingOut) return;
    this.isGivingOut = true;
    while (this.returned.length > 0) {
      const worker = this.freest();
      if (worker === undefined) break;
      this.give(keeper, worker, this.returned.shift() as Work);
    }
    this.isGivingOut = false;
    const { cell } = keeper;
    if (!this.hasWorkers(cell))
      this.giveUp(cell, (message) => new NoRouteeError(cell.path, message, 'all workers have ended'));
    this.openOrClose(cell);
    if (this.outstanding + this.returned.length === 0) this.onFinished?.();
  }

  /**
   * Opens again only when half of the places are free: opening for each single message would cost more than the work. Open
   * too when there is nobody left, so that what waits is given up.
   */
  private openOrClose(keeper: ActorCell): void {
    const free = this.hasWorkers(keeper) ? this.freePlaces() : this.window;
    if (free === 0 && this.closed?.active !== true && (keeper.status & ENDING) === 0) {
      this.closed = keeper.kind.runtime.suspensions.suspend(keeper, 'backpressure', UNTIL_FREE);
    } else if (free > 0 && 2 * free >= this.window && this.closed?.active === true) {
      this.closed.resume();
    }
  }

  private give(keeper: RefBase, worker: RefBase, work: Work): void {
    const { runtime } = keeper.cell.kind;
    const { source } = work;
    if (hasExpired(source)) {
      runtime.deadLetters.undelivered(keeper.cell, enveloped(work.handler), source, 'expired');
      return;
    }
    const { cell } = worker;
    const deadline = source?.deadline ?? Number.POSITIVE_INFINITY;
    const now = runtime.executor.now();
    const envelope = new Envelope(cell, work.handler, work.payload, keeper.cell, source, deadline, now);
    envelope.resolve = (reply) => this.done(keeper, worker, () => work.later.reply(reply));
    envelope.reject = (error) => this.failed(keeper, worker, work, error);
    if (deadline !== Number.POSITIVE_INFINITY) {
      envelope.onExpire = letExpire;
      runtime.wheel.arm(envelope, envelope.deadline);
    }
    work.attempts += 1;
    this.outstanding += 1;
    this.out.set(worker, (this.out.get(worker) ?? 0) + 1);
    runtime.delivery.tell(cell, enveloped(work.handler), envelope);
  }

  private failed(keeper: RefBase, worker: RefBase, work: Work, error: Error): void {
    const again = error instanceof ActorFailedError ? work.attempts < this.attemptsMax : isLost(error);
    if (again && !hasExpired(work.source) && !isStopping(keeper.cell)) {
      // It had its turn and was taken from it: not an attempt of its own.
      if (isLost(error)) work.attempts -= 1;
      this.returned.unshift(work);
      this.done(keeper, worker, () => undefined);
    } else {
      this.done(keeper, worker, () => work.later.refuse(error));
    }
  }

  private done(keeper: RefBase, worker: RefBase, answer: () => void): void {
    this.outstanding -= 1;
    const left = (this.out.get(worker) ?? 1) - 1;
    if (left === 0) this.out.delete(worker);
    else this.out.set(worker, left);
    answer();
    this.giveOut(keeper);
  }

  private freest(): RefBase | undefined {
    let best: RefBase | undefined;
    let least = this.window;
    for (const { ref } of this.members) {
      const out = this.out.get(ref) ?? 0;
      if (out < least && (ref.cell.status & CLOSED) === 0) {
        least = out;
        best = ref;
      }
    }
    return best;
  }

  private freePlaces(): number {
    let free = 0;
    for (const { ref } of this.members) {
      if ((ref.cell.status & CLOSED) === 0) free += this.window - (this.out.get(ref) ?? 0);
    }
    return Math.max(0, free);
  }
}

/** The worker ended with the work, in its hands or at its door. One that lives and refuses it would do so again and again. */
function isLost(error: Error): boolean {
  return error instanceof UndeliveredError && ENDED.includes(error.reason);
}

/** Nobody waits for the reply any more. */
function hasExpired(source: Envelope | undefined): boolean {
  return source !== undefined && source.deadline < 0;
}

/** At the worker's door it is not begun any more; one that is being worked on goes on. The asker hears from its own deadline. */
function letExpire(envelope: Envelope): void {
  envelope.due = -1;
}

/** One that drains finishes what it has, whoever has to do it. */
function isStopping({ status }: ActorCell): boolean {
  return (status & STOPPING) !== 0 && (status & DRAINING) === 0;
}
