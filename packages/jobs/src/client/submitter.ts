// Hot path: `add` and `receipts` run once per job or batch.
import type { ClientMessage, Receipt, SubmitItem } from '../protocol/client-messages.js';
import { Ring } from '../queue/ring.js';

/** Who is told when a submit is answered. */
export interface Settler {
  settled(receipt: Receipt): void;
}

/** A submit before it has its number. */
export type Draft = { -readonly [Field in keyof SubmitItem]: SubmitItem[Field] };

/** One submit, until its receipt has come: one job, or all of a batch that is taken whole. */
class Outstanding {
  readonly seq: number;
  readonly item: SubmitItem | undefined;
  readonly batch: readonly SubmitItem[] | undefined;
  readonly settler: Settler;
  answered = false;

  constructor(
    seq: number,
    item: SubmitItem | undefined,
    batch: readonly SubmitItem[] | undefined,
    settler: Settler,
  ) {
    this.seq = seq;
    this.item = item;
    this.batch = batch;
    this.settler = settler;
  }
}

/**
 * Numbers submits and keeps each until it is answered. After a reconnect everything unanswered goes out again under its old
 * number, so nothing is lost and nothing doubled.
 */
export class Submitter {
  private readonly window = new Ring<Outstanding>();
  private nextSeq = 1;
  private unsent = 0;
  private low = 0;
  outstanding = 0;

  /** The draft becomes the submit: it is numbered in place. */
  add(draft: Draft, settler: Settler): void {
    draft.seq = this.nextSeq;
    this.push(draft, undefined, settler);
  }

  addAll(drafts: readonly Draft[], settler: Settler): void {
    for (const draft of drafts) draft.seq = this.nextSeq;
    this.push(undefined, drafts, settler);
  }

  private push(
    item: SubmitItem | undefined,
    batch: readonly SubmitItem[] | undefined,
    settler: Settler,
  ): void {
    this.window.push(new Outstanding(this.nextSeq, item, batch, settler));
    this.nextSeq += 1;
    this.unsent += 1;
    this.outstanding += 1;
  }

  /** What has not been sent on this connection, as few messages as possible, in order. */
  take(): ClientMessage[] {
    if (this.unsent === 0) return [];
    const messages: ClientMessage[] = [];
    let items: SubmitItem[] = [];
    const { low } = this;
    for (let i = this.window.size - this.unsent; i < this.window.size; i += 1) {
      const one = this.window.at(i) as Outstanding;
      if (one.answered) continue;
      if (one.item !== undefined) {
        items.push(one.item);
        continue;
      }
      if (items.length > 0) messages.push({ kind: 'submit', low, items });
      items = [];
      messages.push({ kind: 'submit_all', low, seq: one.seq, items: one.batch ?? [] });
    }
    if (items.length > 0) messages.push({ kind: 'submit', low, items });
    this.unsent = 0;
    return messages;
  }

  /** The connection is new: whatever is unanswered must go out again. */
  rewind(): void {
    this.unsent = this.window.size;
  }

  receipts(items: readonly Receipt[]): void {
    for (const receipt of items) {
      const one = this.window.at(receipt.seq - this.low - 1);
      if (receipt.seq <= this.low || one === undefined || one.answered) continue;
      one.answered = true;
      this.outstanding -= 1;
      one.settler.settled(receipt);
    }
    // The mark rises over everything answered without a gap.
    while (this.window.peek()?.answered === true && this.window.size > this.unsent) {
      this.window.shift();
      this.low += 1;
    }
  }

  /** Nobody will answer any more. */
  abandon(): Settler[] {
    const left: Settler[] = [];
    for (let one = this.window.shift(); one !== undefined; one = this.window.shift()) {
      if (!one.answered) left.push(one.settler);
    }
    this.unsent = 0;
    this.outstanding = 0;
    return left;
  }
}
