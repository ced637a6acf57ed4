import type { ActorCell } from '../actor/actor-cell.js';
import { Envelope } from '../message/envelope.js';
import type { OpenWait } from './open-waits.js';

/**
 * Actors of which none can go on before one of them, the last, goes on: each waits for others of them by its
 * latest ask or `send`. Work of a pull pool waits for the worker that has it; a message in the mailbox of the
 * pool waits for all workers, because any of them may take it.
 */
export class BlockedActors {
  /** Each with the actor that waits for it. */
  private readonly waiters = new Map<ActorCell, ActorCell | undefined>();
  private readonly waits: OpenWait[] = [];
  private readonly last: ActorCell;

  private constructor(last: ActorCell) {
    this.last = last;
  }

  /** Undefined if the wait of this actor may end before the actor itself goes on. */
  static by(wait: OpenWait, last: ActorCell): BlockedActors | undefined {
    const blocked = new BlockedActors(last);
    return blocked.follow(wait) && blocked.waiters.has(last) ? blocked : undefined;
  }

  /** From the actor that the last one waits for to the last one, and back. */
  get path(): string[] {
    const path: string[] = [];
    for (let cell: ActorCell | undefined = this.last; cell !== undefined; cell = this.waiters.get(cell))
      path.unshift(cell.path);
    return [...path, path[0] as string];
  }

  /** Whether only these actors can end these waits: a later reply may come from anywhere. */
  get areHeldUp(): boolean {
    return this.waits.every(isHeldUp);
  }

  /** False if one of the actors does not wait. */
  private follow(first: OpenWait): boolean {
    this.add(first, undefined);
    // The loop visits the actors that it adds.
    for (const cell of this.waiters.keys()) {
      if (cell === this.last || isPullPool(cell)) continue;
      const wait = cell.cold?.awaiting?.latestWait;
      if (wait?.isOpen !== true) return false;
      this.add(wait, cell);
    }
    return true;
  }

  private add(wait: OpenWait, waiter: ActorCell | undefined): void {
    const { awaited } = wait;
    this.waits.push(wait);
    this.addActor(awaited, waiter);
    if (isPullPool(awaited)) for (const worker of workersFor(wait)) this.addActor(worker, awaited);
  }

  private addActor(cell: ActorCell, waiter: ActorCell | undefined): void {
    if (!this.waiters.has(cell)) this.waiters.set(cell, waiter);
  }
}

function isPullPool({ cold }: ActorCell): boolean {
  return cold?.workQueue !== undefined;
}

/** The worker that has this ask, or all. */
function workersFor(wait: OpenWait): readonly ActorCell[] {
  const worker = workerWith(wait);
  return worker === undefined ? (wait.awaited.cold?.workQueue?.livingWorkers ?? []) : [worker];
}

function workerWith(wait: OpenWait): ActorCell | undefined {
  if (wait.isForRoom) return undefined;
  const isWork = (payload: unknown): boolean => payload instanceof Envelope && payload.cause === wait;
  return wait.awaited.cold?.workQueue?.busyWorkers.find((worker) => hasMessage(worker, isWork));
}

/** A `send` waits for the mailbox; an ask waits with its target, or with a worker of its target. */
function isHeldUp(wait: OpenWait): boolean {
  const { awaited } = wait;
  if (wait.isForRoom || hasMessage(awaited, (payload) => payload === wait)) return true;
  return awaited.cold?.workQueue?.hasWaiting(wait) === true || workerWith(wait) !== undefined;
}

/** In its mailbox, in its stash, or being handled. */
function hasMessage(cell: ActorCell, isMeant: (payload: unknown) => boolean): boolean {
  if (isMeant(cell.type.runtime.asks.messageOf(cell)) || cell.queue.findIndex(isMeant) >= 0) return true;
  return cell.cold?.stash?.some(({ payload }) => isMeant(payload)) === true;
}
