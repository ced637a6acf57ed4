import type { ActorCell } from '../actor/actor-cell.js';
import type { UnsettledHandler } from '../invoker/unsettled-handler.js';
import type { Cancellable } from '../message/cancellation.js';
import type { Envelope } from '../message/envelope.js';

/** An ask or a `send` of an actor that has begun and may not have ended yet. */
export interface OpenWait {
  /** The wait that the same actor began before this one. */
  earlierWait: OpenWait | undefined;
  readonly isOpen: boolean;
  /** A `send` that waits for room; else an ask. */
  readonly isForRoom: boolean;
  readonly since: number;
  /** The actor that can end it. */
  readonly awaited: ActorCell;
  /** The ask in whose handler it began. */
  readonly cause: Envelope | undefined;
  readonly cancellable: Cancellable | undefined;
}

const KEPT_MIN = 16;

/**
 * The waits of one actor, newest first. An ended wait stays in the list until the list has doubled: then all
 * ended ones are removed at once, so that a wait costs two writes when it begins and nothing when it ends.
 */
export class OpenWaits {
  private newest: OpenWait | undefined = undefined;
  private count = 0;
  private countMax = KEPT_MIN;

  add(wait: OpenWait): void {
    this.removeNewestEnded();
    if (this.count >= this.countMax) this.removeEnded();
    wait.earlierWait = this.newest;
    this.newest = wait;
    this.count += 1;
  }

  /** So that an ended ask, with its payload, is not kept alive by an actor that asks one at a time. */
  removeNewestEnded(): void {
    while (this.newest?.isOpen === false) {
      this.newest = this.newest.earlierWait;
      this.count -= 1;
    }
  }

  /** The actors that can end an open wait; one that ends several stands there several times. */
  get awaited(): ActorCell[] {
    const cells: ActorCell[] = [];
    this.removeEnded();
    for (let wait = this.newest; wait !== undefined; wait = wait.earlierWait) cells.push(wait.awaited);
    return cells;
  }

  /** The open waits, or those of one handler. */
  cancellable(handler?: UnsettledHandler): Cancellable[] {
    const found: Cancellable[] = [];
    for (let wait = this.newest; wait !== undefined; wait = wait.earlierWait) {
      const isMeant = wait.isOpen && (handler === undefined || isOf(handler, wait));
      const cancellable = isMeant ? wait.cancellable : undefined;
      if (cancellable !== undefined) found.push(cancellable);
    }
    return found;
  }

  private removeEnded(): void {
    let kept: OpenWait | undefined;
    this.count = 0;
    for (let wait = this.newest; wait !== undefined; wait = wait.earlierWait) {
      if (!wait.isOpen) continue;
      if (kept === undefined) this.newest = wait;
      else kept.earlierWait = wait;
      kept = wait;
      this.count += 1;
    }
    if (kept === undefined) this.newest = undefined;
    else kept.earlierWait = undefined;
    this.countMax = Math.max(KEPT_MIN, 2 * this.count);
  }
}

/** By the ask that it serves; without one by the time, which is known to the length of a time slice only. */
function isOf({ envelope, latestWait, startedAt }: UnsettledHandler, wait: OpenWait): boolean {
  if (envelope !== undefined) return wait.cause === envelope;
  return wait === latestWait || wait.since >= Math.floor(startedAt);
}
