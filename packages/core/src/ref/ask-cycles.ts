import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import { AskCycleError } from '../errors/error-classes.js';
import type { Envelope } from '../message/envelope.js';

/** Refuses asks that would wait for themselves: A asks B, which asks A, and neither can answer. */
export class AskCycles {
  private readonly runtime: Parts<'asks' | 'executor' | 'host'>;
  /** The latest ask of a handler that does not await yet: if it awaits, it waits for this ask. */
  private latest: Envelope | undefined = undefined;
  private latestAt = Number.NaN;

  constructor(runtime: AskCycles['runtime']) {
    this.runtime = runtime;
  }

  /** Notes the wait of the sender. True when no answer could ever come: the ask is refused. */
  closesCycle(
    envelope: Envelope,
    sender: ActorCell,
    target: ActorCell,
    cause: Envelope | undefined,
  ): boolean {
    if (this.isCycle(sender, target, cause)) {
      this.runtime.asks.refuse(envelope, new AskCycleError(this.pathOfCycle(sender, target, cause)));
      return true;
    }
    const awaiting = sender.cold?.awaiting;
    if (awaiting === undefined) {
      this.latest = envelope;
      this.latestAt = this.runtime.executor.coarseNow;
    } else {
      awaiting.asked = envelope;
    }
    if (target.isAwaiting) this.watchForCycle(envelope, sender, target);
    if (sender === target) target.putSignal({ kind: 'self-asked', envelope });
    return false;
  }

  /** Whether the target itself waits, directly or through others, for the sender's present message. */
  private isCycle(sender: ActorCell, target: ActorCell, cause: Envelope | undefined): boolean {
    if (!target.isAwaiting) return false;
    if (target === sender) return true;
    for (let call = cause; call !== undefined; call = call.cause) if (call.sender === target) return true;
    return false;
  }

  /** The latest ask of this handler, which begins to await: it waits for that ask. */
  takeLatest(cell: ActorCell): Envelope | undefined {
    const { latest } = this;
    this.latest = undefined;
    // The coarse clock stands still while a handler runs: an ask at another time is an ask of another
    // handler.
    return latest?.sender === cell && this.latestAt === this.runtime.executor.coarseNow ? latest : undefined;
  }

  /**
   * The target waits, directly or through others, for the sender, which handles something else. If the sender
   * goes on to await, neither can ever go on: refused when the event loop has turned once and all of them
   * still wait.
   */
  private watchForCycle(envelope: Envelope, sender: ActorCell, target: ActorCell): void {
    if (target === sender || this.waitsFrom(target, sender) === undefined) return;
    this.runtime.host.later(() => {
      if (!isOpen(envelope) || sender.cold?.awaiting?.asked !== envelope) return;
      const waits = this.waitsFrom(target, sender);
      if (waits === undefined || !waits.every(isHeldUp)) return;
      const path = waits.map((asked) => (asked.target as ActorCell).path);
      this.runtime.asks.refuse(envelope, new AskCycleError([target.path, ...path, target.path]));
    });
  }

  /** The asks that lead from one waiting actor to another: its own, that of its target, and so on. */
  private waitsFrom(waiting: ActorCell, until: ActorCell): Envelope[] | undefined {
    const waits: Envelope[] = [];
    let cell = waiting;
    while (cell !== until) {
      const asked = cell.cold?.awaiting?.asked;
      // A cycle that was closed elsewhere leads nowhere.
      if (asked === undefined || !isOpen(asked) || waits.includes(asked)) return undefined;
      waits.push(asked);
      cell = (asked.target as ActorCell).ref.cell;
    }
    return waits;
  }

  private pathOfCycle(sender: ActorCell, target: ActorCell, cause: Envelope | undefined): string[] {
    const path = [target.path, sender.path];
    for (let call = cause; call !== undefined && call.sender !== target; call = call.cause) {
      path.push((call.sender as ActorCell).path);
    }
    if (target !== sender) path.push(target.path);
    return path.reverse();
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
      if (cell.cold?.awaiting === awaiting)
        this.runtime.asks.refuse(envelope, new AskCycleError([cell.path, cell.path]));
    });
  }
}

function isOpen(envelope: Envelope): boolean {
  return envelope.resolve !== undefined;
}

/**
 * Only its target can answer: it is in the mailbox or being handled. A later reply may come from anywhere.
 */
function isHeldUp(envelope: Envelope): boolean {
  const { cell } = (envelope.target as ActorCell).ref;
  return cell.cold?.awaiting?.envelope === envelope || cell.queue.indexOf(envelope) >= 0;
}
