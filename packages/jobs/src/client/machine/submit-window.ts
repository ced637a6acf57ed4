// Hot path: `enter` and `receipts` run once per job or batch.

import { Ring } from '../../collections/ring.js';
import { RECORD_BYTES_MAX } from '../../job/definition/job-policy.js';
import type { Payload } from '../../job/payload/payload.js';
import type { ClientMessage, Receipt, Refusal, SubmitItem } from '../../protocol/client/client-messages.js';
import type { SubmitDraft } from './submit-draft.js';

const DEFAULT_OUTSTANDING_MAX = 1_024;

/**
 * The submits that have no receipt yet, bounded; others wait for room, in order. Numbers them and keeps each
 * until it is answered. After a reconnect every unanswered one is written again under its old number, so
 * nothing is lost and nothing doubled.
 */
export class SubmitWindow {
  outstandingMax = DEFAULT_OUTSTANDING_MAX;
  /** The leader refuses a number further ahead of the first unanswered one. */
  aheadMax = DEFAULT_OUTSTANDING_MAX;
  /** Unanswered submits. */
  outstanding = 0;
  private readonly entered = new Ring<SubmitDraft>();
  /** Without a number yet. */
  private readonly waiting = new Ring<SubmitDraft>();
  private readonly onReceipt: (draft: SubmitDraft, receipt: Receipt) => void;
  private nextSeq = 1;
  /** Of the submits, the last so many have not been written on this connection. */
  private unwritten = 0;
  /** Every submit up to this number is answered. */
  private low = 0;

  constructor(onReceipt: (draft: SubmitDraft, receipt: Receipt) => void) {
    this.onReceipt = onReceipt;
  }

  /** Answered submits behind an unanswered one count as well: their numbers are still in the window. */
  private get room(): number {
    return Math.min(this.outstandingMax - this.outstanding, this.aheadMax - this.entered.size);
  }

  enter(draft: SubmitDraft): void {
    if (this.waiting.size === 0 && this.room > 0) this.add(draft);
    else this.waiting.push(draft);
  }

  private add(draft: SubmitDraft): void {
    draft.seq = this.nextSeq;
    if (draft.batch !== undefined) for (const item of draft.batch) item.seq = this.nextSeq;
    this.entered.push(draft);
    this.nextSeq += 1;
    this.unwritten += 1;
    this.outstanding += 1;
  }

  /** As many as there is room for. */
  private admitWaiting(): void {
    while (this.waiting.size > 0 && this.room > 0) {
      const draft = this.waiting.shift() as SubmitDraft; // size > 0
      if (!draft.isAnswered) this.add(draft);
    }
  }

  /** The submits that have not been written on this connection, in order, as few messages as possible. */
  take(): ClientMessage[] {
    this.admitWaiting();
    if (this.unwritten === 0) return [];
    const messages: ClientMessage[] = [];
    let items: SubmitItem[] = [];
    const { low } = this;
    for (let i = this.entered.size - this.unwritten; i < this.entered.size; i += 1) {
      const draft = this.entered.at(i) as SubmitDraft; // i < size
      if (draft.isAnswered) continue;
      if (draft.batch === undefined) {
        items.push(draft);
        continue;
      }
      if (items.length > 0) messages.push({ kind: 'submit', low, items });
      items = [];
      messages.push({ kind: 'submit_all', low, seq: draft.seq, items: draft.batch });
    }
    if (items.length > 0) messages.push({ kind: 'submit', low, items });
    this.unwritten = 0;
    return messages;
  }

  /** The connection is new: every unanswered submit is written again. */
  rewind(): void {
    this.unwritten = this.entered.size;
  }

  receipts(items: readonly Receipt[]): void {
    for (const receipt of items) {
      const draft = this.answer(receipt.seq);
      if (draft !== undefined) this.onReceipt(draft, receipt);
    }
    this.raiseLow();
  }

  /** The caller waits no longer: an unwritten submit is not written, a written one may still be taken. */
  withdraw(draft: SubmitDraft): void {
    if (draft.isAnswered) return;
    draft.isAnswered = true;
    // Without a number it is not in the window yet.
    if (draft.seq === 0) return;
    this.outstanding -= 1;
    this.raiseLow();
  }

  /**
   * Refuses submits that the leader of this session takes in no message. The one before, which took larger
   * ones, may have accepted them.
   */
  refuseLarger(payloadBytesMax: number): void {
    const bytesMax = Math.max(payloadBytesMax, RECORD_BYTES_MAX);
    for (const drafts of [this.entered, this.waiting]) {
      for (let i = 0; i < drafts.size; i += 1) {
        const draft = drafts.at(i) as SubmitDraft; // i < size
        const { length } = draft.payload;
        const problem = `payload of ${length} bytes, at most ${bytesMax} since the leader has restarted`;
        if (length > bytesMax)
          this.refuse(draft, { code: 'ERR_PAYLOAD_TOO_LARGE', problem, retryAfterMs: 0 });
      }
    }
    this.raiseLow();
  }

  /** Refuses the submit with this payload, which can no longer be read. */
  payloadLost(payload: Payload, problem: string): void {
    for (let i = 0; i < this.entered.size; i += 1) {
      const draft = this.entered.at(i);
      if (draft?.payload !== payload) continue;
      this.refuse(draft, { code: 'ERR_PAYLOAD_LOST', problem, retryAfterMs: 0 });
      return this.raiseLow();
    }
  }

  private refuse(draft: SubmitDraft, refusal: Refusal): void {
    if (draft.isAnswered) return;
    draft.isAnswered = true;
    // Without a number it is not in the window yet.
    if (draft.seq !== 0) this.outstanding -= 1;
    this.onReceipt(draft, { seq: draft.seq, jobs: [], lsn: 0, duplicate: false, refusal });
  }

  private answer(seq: number): SubmitDraft | undefined {
    const draft = seq <= this.low ? undefined : this.entered.at(seq - this.low - 1);
    if (draft === undefined || draft.isAnswered) return undefined;
    draft.isAnswered = true;
    this.outstanding -= 1;
    return draft;
  }

  /** The low mark rises over all answered submits without a gap. */
  private raiseLow(): void {
    while (this.entered.peek()?.isAnswered === true && this.entered.size > this.unwritten) {
      this.entered.shift();
      this.low += 1;
    }
  }
}
