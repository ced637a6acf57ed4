// Hot path: `add` and `receipts` run once per job or batch.
import type { ClientMessage, Receipt, SubmitItem } from '../protocol/client-messages.js';
import { Ring } from '../queue/ring.js';

type Settle = (receipt: Receipt) => void;

/** One submit, until its receipt has come. `items` has more than one entry for an all-or-none batch. */
class Outstanding {
  readonly seq: number;
  readonly items: readonly SubmitItem[];
  readonly atomic: boolean;
  readonly settle: Settle;
  sent = false;
  answered = false;

  constructor(seq: number, items: readonly SubmitItem[], atomic: boolean, settle: Settle) {
    this.seq = seq;
    this.items = items;
    this.atomic = atomic;
    this.settle = settle;
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

  add(item: Omit<SubmitItem, 'seq'>, settle: Settle): void {
    this.push([{ ...item, seq: this.nextSeq }], false, settle);
  }

  addAll(items: readonly Omit<SubmitItem, 'seq'>[], settle: Settle): void {
    const seq = this.nextSeq;
    this.push(
      items.map((item) => ({ ...item, seq })),
      true,
      settle,
    );
  }

  private push(items: readonly SubmitItem[], atomic: boolean, settle: Settle): void {
    this.window.push(new Outstanding(this.nextSeq, items, atomic, settle));
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
      one.sent = true;
      if (!one.atomic) {
        items.push(one.items[0] as SubmitItem);
        continue;
      }
      if (items.length > 0) messages.push({ kind: 'submit', low, items });
      items = [];
      messages.push({ kind: 'submit_all', low, seq: one.seq, items: one.items });
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
      one.settle(receipt);
    }
    // The mark rises over everything answered without a gap.
    while (this.window.peek()?.answered === true && this.window.size > this.unsent) {
      this.window.shift();
      this.low += 1;
    }
  }

  /** Nobody will answer any more. */
  abandon(): Settle[] {
    const left: Settle[] = [];
    for (let one = this.window.shift(); one !== undefined; one = this.window.shift()) {
      if (!one.answered) left.push(one.settle);
    }
    this.unsent = 0;
    this.outstanding = 0;
    return left;
  }
}
