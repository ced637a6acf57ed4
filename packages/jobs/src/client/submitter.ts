// Hot path: `add` and `receipts` run once per job or batch.

import { Ring } from '../collections/ring.js';
import type { Payload } from '../job/payload.js';
import type { ClientMessage, Receipt, Refusal, SubmitItem } from '../protocol/client-messages.js';
import { OutstandingBatch, OutstandingJob } from './outstanding.js';

const DEFAULT_OUTSTANDING_MAX = 1_024;

/**
 * Numbers submits and keeps each until it is answered. After a reconnect everything unanswered goes out again under its old
 * number, so nothing is lost and nothing doubled.
 */
export class Submitter {
  private readonly window = new Ring<OutstandingJob | OutstandingBatch>();
  private nextSeq = 1;
  private unsent = 0;
  private low = 0;
  outstanding = 0;
  outstandingMax = DEFAULT_OUTSTANDING_MAX;
  private readonly blocked: (() => void)[] = [];
  private readonly onRefused: (ref: number, refusal: Refusal) => void;

  constructor(onRefused: (ref: number, refusal: Refusal) => void) {
    this.onRefused = onRefused;
  }

  get isFull(): boolean {
    return this.outstanding >= this.outstandingMax;
  }

  /** Resolves when there may be room; look again. */
  room(): Promise<void> {
    return new Promise((resolve) => this.blocked.push(resolve));
  }

  /** As many as there is room for, in the order in which they came. Each looks again. */
  letIn(): void {
    if (this.blocked.length === 0) return;
    for (const wake of this.blocked.splice(0, Math.max(0, this.outstandingMax - this.outstanding))) wake();
  }

  add(one: OutstandingJob): void {
    one.item.seq = this.nextSeq;
    this.push(one);
  }

  addAll(batch: OutstandingBatch): void {
    batch.seq = this.nextSeq;
    for (const draft of batch.items) draft.seq = this.nextSeq;
    this.push(batch);
  }

  private push(one: OutstandingJob | OutstandingBatch): void {
    this.window.push(one);
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
      const one = this.window.at(i) as OutstandingJob | OutstandingBatch;
      if (one.answered) continue;
      if (!(one instanceof OutstandingBatch)) {
        items.push(one.item);
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
      const one = this.answer(receipt.seq);
      if (one === undefined) continue;
      if (receipt.refusal !== undefined) this.onRefused(one.ref, receipt.refusal);
      one.settled(receipt);
    }
    this.rise();
  }

  private answer(seq: number): OutstandingJob | OutstandingBatch | undefined {
    const one = seq <= this.low ? undefined : this.window.at(seq - this.low - 1);
    if (one === undefined || one.answered) return undefined;
    one.answered = true;
    this.outstanding -= 1;
    return one;
  }

  /** Nobody waits for the answer: what was not sent will not be, what was sent may be taken. */
  withdraw(one: OutstandingJob | OutstandingBatch): void {
    if (one.answered) return;
    one.answered = true;
    // Without a number it was never in the window.
    if (one.seq === 0) return;
    this.outstanding -= 1;
    this.rise();
    this.letIn();
  }

  /** The mark rises over everything answered without a gap. */
  private rise(): void {
    while (this.window.peek()?.answered === true && this.window.size > this.unsent) {
      this.window.shift();
      this.low += 1;
    }
  }

  /** The one with this payload is answered here, by nobody else. */
  giveUp(payload: Payload, problem: string): void {
    for (let i = 0; i < this.window.size; i += 1) {
      const one = this.window.at(i);
      if (!(one instanceof OutstandingJob) || one.item.payload !== payload) continue;
      const refusal = { code: 'ERR_PAYLOAD_LOST', problem, retryAfterMs: 0 } as const;
      return this.receipts([{ seq: one.item.seq, jobs: [], lsn: 0, duplicate: false, refusal }]);
    }
  }

  /** Nobody will answer any more. */
  abandon(): (OutstandingJob | OutstandingBatch)[] {
    const left: (OutstandingJob | OutstandingBatch)[] = [];
    for (let one = this.window.shift(); one !== undefined; one = this.window.shift()) {
      if (!one.answered) left.push(one);
    }
    this.unsent = 0;
    this.outstanding = 0;
    for (const wake of this.blocked.splice(0)) wake();
    return left;
  }
}
