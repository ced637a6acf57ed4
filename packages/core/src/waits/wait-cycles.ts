import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import { AskCycleError, SendCycleError } from '../errors/error-classes.js';
import { Cancellation, cancelAll } from '../message/cancellation.js';
import { Envelope } from '../message/envelope.js';
import { BlockedActors } from './blocked-actors.js';
import type { OpenWait } from './open-waits.js';
import type { WaitingSend } from './waiting-send.js';

/**
 * Refuses asks and sends that would wait for themselves: A asks B, which asks A or waits for room in A, and
 * neither can go on. Mutes are no part of such a cycle: `WaitGraph` has ended them.
 */
export class WaitCycles {
  private readonly runtime: Parts<'asks' | 'executor' | 'host'>;
  /** The latest wait of a handler that does not await yet: if it awaits, it waits for this. */
  private latest: OpenWait | undefined = undefined;
  private latestOf: ActorCell | undefined = undefined;
  private latestAt = Number.NaN;

  constructor(runtime: WaitCycles['runtime']) {
    this.runtime = runtime;
  }

  /** Notes the wait of the sender. True when no answer could ever come: the ask is refused. */
  askBegins(envelope: Envelope, sender: ActorCell, target: ActorCell, cause: Envelope | undefined): boolean {
    if (isCycle(sender, target, cause)) {
      this.runtime.asks.refuse(envelope, new AskCycleError(pathOfCycle(sender, target, cause)));
      return true;
    }
    this.note(sender, envelope);
    if (mayWait(target) && target !== sender) this.watch(envelope, sender);
    if (sender === target) target.putSignal({ kind: 'self-asked', envelope });
    return false;
  }

  /** A `send` begins to wait for room. */
  sendBegins(send: WaitingSend, sender: ActorCell): void {
    this.note(sender, send);
    const target = send.awaited;
    if (mayWait(target) || target === sender) this.watch(send, sender);
  }

  private note(sender: ActorCell, wait: OpenWait): void {
    const awaiting = sender.cold?.awaiting;
    if (awaiting !== undefined) {
      awaiting.latestWait = wait;
      return;
    }
    this.latest = wait;
    this.latestOf = sender;
    this.latestAt = this.runtime.executor.coarseNow;
  }

  /** The latest wait of this handler, which begins to await: it waits for that. */
  takeLatest(cell: ActorCell): OpenWait | undefined {
    const { latest, latestOf } = this;
    this.latest = undefined;
    this.latestOf = undefined;
    // The coarse clock stands still while a handler runs: a wait at another time is a wait of another
    // handler.
    return latestOf === cell && this.latestAt === this.runtime.executor.coarseNow ? latest : undefined;
  }

  /**
   * Actors that these workers of a pull pool wait for may now wait for them: another worker that would have
   * been free is gone, or one of them was given work.
   */
  checkWorkers(workers: readonly ActorCell[]): void {
    for (const worker of workers) {
      const wait = worker.cold?.awaiting?.latestWait;
      if (wait?.isOpen === true) this.watch(wait, worker);
    }
  }

  /** A refused ask that has not begun is not begun. */
  private refuse(wait: OpenWait, path: readonly string[]): void {
    const error = wait.isForRoom ? new SendCycleError(path) : new AskCycleError(path);
    const cancellable = wait instanceof Envelope ? Cancellation.of(wait) : wait.cancellable;
    if (cancellable !== undefined) cancelAll([cancellable], error);
  }

  /**
   * The target waits, directly or through others, for the sender, which handles something else. If the sender
   * goes on to await, none of them can ever go on: refused when the event loop has turned once and all of
   * them still wait.
   */
  private watch(wait: OpenWait, sender: ActorCell): void {
    if (BlockedActors.by(wait, sender) === undefined) return;
    this.runtime.host.later(() => {
      if (!wait.isOpen || sender.cold?.awaiting?.latestWait !== wait) return;
      const blocked = BlockedActors.by(wait, sender);
      if (blocked?.areHeldUp === true) this.refuse(wait, blocked.path);
    });
  }

  /**
   * An actor has asked itself. If its handler goes on to await, the answer could never come: refused as soon
   * as the event loop has turned once without that handler having settled.
   */
  selfAsked(cell: ActorCell, envelope: Envelope): void {
    const awaiting = cell.cold?.awaiting;
    if (awaiting === undefined) return;
    awaiting.isPinned = true;
    this.runtime.host.later(() => {
      if (cell.cold?.awaiting === awaiting && envelope.isOpen) this.refuse(envelope, [cell.path, cell.path]);
    });
  }
}

/** Whether the target itself waits, directly or through others, for the sender's present message. */
function isCycle(sender: ActorCell, target: ActorCell, cause: Envelope | undefined): boolean {
  // The proxy of an actor on another thread awaits where the chain names it.
  if (!target.isAwaiting && target.cold?.route === undefined) return false;
  if (target === sender) return true;
  for (let call = cause; call?.isOpen === true; call = call.cause) if (call.sender === target) return true;
  return false;
}

function pathOfCycle(sender: ActorCell, target: ActorCell, cause: Envelope | undefined): string[] {
  if (target === sender) return [sender.path, sender.path];
  const path = [target.path, sender.path];
  for (let call = cause; call !== undefined && call.sender !== target; call = call.cause) {
    path.push((call.sender as ActorCell).path);
  }
  path.push(target.path);
  return path.reverse();
}

/** An actor that awaits, or a pull pool, whose workers may all wait. */
function mayWait({ isAwaiting, cold }: ActorCell): boolean {
  return isAwaiting || cold?.workQueue !== undefined;
}
