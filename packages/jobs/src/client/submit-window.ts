// Hot path: `enter` and `receipts` run once per job or batch.

import { Ring } from '../collections/ring.js';
import type { Payload } from '../job/payload.js';
import type { ClientMessage, Receipt, Refusal, SubmitItem } from '../protocol/client-messages.js';
import { PendingBatch, type PendingCall } from './pending-submits.js';

const DEFAULT_OUTSTANDING_MAX = 1_024;

export interface SubmitWindowEvents {
  /** There is a submit to be sent. */
  onEntered(): void;
  onRefused(ref: number, refusal: Refusal): void;
}

/**
 * The submits that have no receipt yet, bounded. Numbers them and keeps each until it is answered. After a
 * reconnect every unanswered one is sent again under its old number, so nothing is lost and nothing doubled.
 */
export class SubmitWindow {
  outstandingMax = DEFAULT_OUTSTANDING_MAX;
  /** The leader refuses a number further ahead of the first unanswered one. */
  aheadMax = DEFAULT_OUTSTANDING_MAX;
  /** Unanswered submits. */
  outstanding = 0;
  private readonly calls = new Ring<PendingCall>();
  private readonly events: SubmitWindowEvents;
  private nextSeq = 1;
  /** Of the calls, the last so many have not been sent on this connection. */
  private unsent = 0;
  /** Every submit up to this number is answered. */
  private low = 0;
  private readonly blocked: (() => void)[] = [];
  private closedBy: Error | undefined = undefined;

  constructor(events: SubmitWindowEvents) {
    this.events = events;
  }

  get isFull(): boolean {
    return this.room <= 0;
  }

  /** Answered calls behind an unanswered one count as well: their numbers are still in the window. */
  private get room(): number {
    return Math.min(this.outstandingMax - this.outstanding, this.aheadMax - this.calls.size);
  }

  /** Adds a call once it is encoded and there is room: at once, where nothing has to be waited for. */
  enter(call: PendingCall, encoding?: Promise<void>): void {
    if (encoding === undefined && !this.isFull && !call.isAnswered) this.add(call);
    else this.enterLater(call, encoding).catch((error: unknown) => call.reject(error as Error));
  }

  private async enterLater(call: PendingCall, encoding: Promise<void> | undefined): Promise<void> {
    await encoding;
    while (this.isFull && this.closedBy === undefined)
      await new Promise<void>((resolve) => this.blocked.push(resolve));
    // The caller waits no longer: the place is free for the next.
    if (call.isAnswered) this.admitBlocked();
    else this.add(call);
  }

  private add(call: PendingCall): void {
    if (this.closedBy !== undefined) return call.reject(this.closedBy);
    call.item.seq = this.nextSeq;
    if (call instanceof PendingBatch) for (const item of call.items) item.seq = this.nextSeq;
    this.calls.push(call);
    this.nextSeq += 1;
    this.unsent += 1;
    this.outstanding += 1;
    this.events.onEntered();
  }

  /** As many as there is room for, in their order. Each checks again. */
  private admitBlocked(): void {
    if (this.blocked.length === 0) return;
    for (const wake of this.blocked.splice(0, Math.max(0, this.room))) wake();
  }

  /** The submits that have not been sent on this connection, in order, as few messages as possible. */
  take(): ClientMessage[] {
    if (this.unsent === 0) return [];
    const messages: ClientMessage[] = [];
    let items: SubmitItem[] = [];
    const { low } = this;
    for (let i = this.calls.size - this.unsent; i < this.calls.size; i += 1) {
      const call = this.calls.at(i) as PendingCall; // i < size
      if (call.isAnswered) continue;
      if (!(call instanceof PendingBatch)) {
        items.push(call.item);
        continue;
      }
      if (items.length > 0) messages.push({ kind: 'submit', low, items });
      items = [];
      messages.push({ kind: 'submit_all', low, seq: call.item.seq, items: call.items });
    }
    if (items.length > 0) messages.push({ kind: 'submit', low, items });
    this.unsent = 0;
    return messages;
  }

  /** The connection is new: every unanswered submit is sent again. */
  rewind(): void {
    this.unsent = this.calls.size;
  }

  receipts(items: readonly Receipt[]): void {
    for (const receipt of items) {
      const call = this.answer(receipt.seq);
      if (call === undefined) continue;
      if (receipt.refusal !== undefined) this.events.onRefused(call.item.ref, receipt.refusal);
      call.onReceipt(receipt);
    }
    this.raiseLow();
    this.admitBlocked();
  }

  /** The caller waits no longer: an unsent submit is not sent, a sent one may still be taken. */
  withdraw(call: PendingCall): void {
    if (call.isAnswered) return;
    call.isAnswered = true;
    // Without a number it is not in the window yet.
    if (call.item.seq === 0) return;
    this.outstanding -= 1;
    this.raiseLow();
    this.admitBlocked();
  }

  /** Refuses the submit with this payload, which can no longer be read. */
  payloadLost(payload: Payload, problem: string): void {
    for (let i = 0; i < this.calls.size; i += 1) {
      const item = this.calls.at(i)?.item;
      if (item?.payload !== payload) continue;
      const refusal = { code: 'ERR_PAYLOAD_LOST', problem, retryAfterMs: 0 } as const;
      return this.receipts([{ seq: item.seq, jobs: [], lsn: 0, duplicate: false, refusal }]);
    }
  }

  /** Rejects every unanswered call, and all later ones. */
  close(error: Error): void {
    this.closedBy = error;
    for (let call = this.calls.shift(); call !== undefined; call = this.calls.shift()) {
      if (!call.isAnswered) call.reject(error);
    }
    this.unsent = 0;
    this.outstanding = 0;
    for (const wake of this.blocked.splice(0)) wake();
  }

  private answer(seq: number): PendingCall | undefined {
    const call = seq <= this.low ? undefined : this.calls.at(seq - this.low - 1);
    if (call === undefined || call.isAnswered) return undefined;
    call.isAnswered = true;
    this.outstanding -= 1;
    return call;
  }

  /** The low mark rises over all answered submits without a gap. */
  private raiseLow(): void {
    while (this.calls.peek()?.isAnswered === true && this.calls.size > this.unsent) {
      this.calls.shift();
      this.low += 1;
    }
  }
}
