import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import type { CellRef } from '../ref/cell-ref.js';
import type { RemoteRef, RemoteTerms, Threads } from './threads.js';

/** A message that waits for room. */
interface KeptMessage {
  readonly from: number;
  readonly handler: number;
  readonly payload: unknown;
  readonly terms: RemoteTerms | undefined;
}

/** Messages in front of one full mailbox, and the threads that were paused for it. */
class Backlog {
  readonly messages: KeptMessage[] = [];
  readonly paused = new Set<number>();
}

/** Gives a message of another thread to its actor. */
export type HandMessage = (
  from: number,
  cell: ActorCell,
  handler: number,
  payload: unknown,
  terms: RemoteTerms | undefined,
) => void;

/**
 * Messages of other threads in front of full mailboxes. A full mailbox that mutes its senders takes no more:
 * the rest waits here, and when as many wait as the mailbox holds, the proxies of the sending threads are
 * paused.
 */
export class Backlogs {
  private readonly runtime: Parts<'backPressure'>;
  private readonly threads: Threads;
  private readonly refOf: (cell: ActorCell) => RemoteRef;
  private readonly hand: HandMessage;
  /** By the actor whose mailbox is full. */
  private readonly backlogs = new Map<CellRef, Backlog>();

  constructor(
    runtime: Backlogs['runtime'],
    threads: Threads,
    refOf: (cell: ActorCell) => RemoteRef,
    hand: HandMessage,
  ) {
    this.runtime = runtime;
    this.threads = threads;
    this.refOf = refOf;
    this.hand = hand;
  }

  deliver(
    from: number,
    cell: ActorCell,
    handler: number,
    payload: unknown,
    terms: RemoteTerms | undefined,
  ): void {
    const backlog = this.backlogs.size === 0 ? undefined : this.backlogs.get(cell.ref);
    if (backlog !== undefined) this.keep(backlog, cell, { from, handler, payload, terms });
    else if (cell.isFull && cell.type.overflow === 'mute-sender' && !cell.isClosed)
      this.keep(this.open(cell), cell, { from, handler, payload, terms });
    else this.hand(from, cell, handler, payload, terms);
  }

  private open(cell: ActorCell): Backlog {
    const backlog = new Backlog();
    this.backlogs.set(cell.ref, backlog);
    this.awaitRoom(cell.ref, backlog);
    return backlog;
  }

  private awaitRoom(ref: CellRef, backlog: Backlog): void {
    this.runtime.backPressure.waitForRoom(ref.cell, () => this.handOn(ref, backlog));
  }

  /** When as many wait as the mailbox holds, the proxies of the sending threads wait until half are left. */
  private keep(backlog: Backlog, cell: ActorCell, message: KeptMessage): void {
    backlog.messages.push(message);
    const { from } = message;
    if (backlog.messages.length < cell.type.capacity) return;
    if (backlog.paused.has(from) || from === this.threads.self) return;
    backlog.paused.add(from);
    this.threads.signal(from, { kind: 'pause', at: this.refOf(cell) });
  }

  private handOn(ref: CellRef, backlog: Backlog): void {
    const { messages } = backlog;
    let handed = 0;
    for (; handed < messages.length && (!ref.cell.isFull || ref.cell.isClosed); handed += 1) {
      const { from, handler, payload, terms } = messages[handed] as KeptMessage;
      this.hand(from, ref.cell, handler, payload, terms);
    }
    messages.splice(0, handed);
    if (messages.length <= ref.cell.type.lowWater) this.unpause(ref, backlog);
    if (messages.length > 0) this.awaitRoom(ref, backlog);
    else this.backlogs.delete(ref);
  }

  private unpause(ref: CellRef, { paused }: Backlog): void {
    if (paused.size === 0) return;
    const at = this.refOf(ref.cell);
    for (const thread of paused) this.threads.signal(thread, { kind: 'unpause', at });
    paused.clear();
  }

  /** Messages that wait here. */
  get size(): number {
    let size = 0;
    for (const { messages } of this.backlogs.values()) size += messages.length;
    return size;
  }

  threadEnded(thread: number): void {
    for (const { paused } of this.backlogs.values()) paused.delete(thread);
  }
}
