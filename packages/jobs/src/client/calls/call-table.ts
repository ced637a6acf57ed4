// Hot path: `add` and the effects run once per call.
import type { DurabilityLevel, JobOutcome, Receipt } from '../../protocol/client/client-messages.js';
import type { FeedRefusal } from '../../protocol/feed-messages.js';
import type { ClientEffects, LeaderWelcome, RequestAnswer } from '../machine/client-effects.js';
import type { PendingCall } from './pending-calls.js';

/** The calls of a client that have no answer, by number. Effects of the client's actor settle them. */
export class CallTable
  implements Pick<ClientEffects, 'welcomed' | 'received' | 'jobEnded' | 'feedAnswered' | 'answered' | 'ended'>
{
  /** Of the leader's ids; empty before the first session. */
  tag: string;
  /** From the leader's last welcome. */
  payloadBytesMax = Number.POSITIVE_INFINITY;
  level: DurabilityLevel = 'fsync';
  endedBy: Error | undefined = undefined;
  private readonly calls = new Map<number, PendingCall>();
  private lastCall = 0;

  constructor(tag = '') {
    this.tag = tag;
  }

  /** The number of the call. A client that has ended rejects it. */
  add(call: PendingCall): number {
    this.lastCall += 1;
    if (this.endedBy === undefined) this.calls.set(this.lastCall, call);
    else call.reject(this.endedBy);
    return this.lastCall;
  }

  has(number: number): boolean {
    return this.calls.has(number);
  }

  /** False: it was settled before. */
  reject(number: number, error: Error): boolean {
    const call = this.take(number);
    call?.reject(error);
    return call !== undefined;
  }

  welcomed({ tag, payloadBytesMax, level = 'fsync' }: LeaderWelcome): void {
    this.tag = tag;
    this.payloadBytesMax = payloadBytesMax;
    this.level = level;
  }

  received(number: number, receipt: Receipt): void {
    if (this.calls.get(number)?.onReceipt(receipt) === true) this.calls.delete(number);
  }

  jobEnded(number: number, outcome: JobOutcome): void {
    this.take(number)?.onJobEnded(outcome);
  }

  feedAnswered(number: number, refusal: FeedRefusal | undefined): void {
    this.take(number)?.onFeedAnswer(refusal);
  }

  answered(number: number, answer: RequestAnswer): void {
    this.take(number)?.onAnswer(answer);
  }

  /** Every call fails, and so does every later one. */
  ended(error: Error): void {
    if (this.endedBy !== undefined) return;
    this.endedBy = error;
    for (const call of this.calls.values()) call.reject(error);
    this.calls.clear();
  }

  private take(number: number): PendingCall | undefined {
    const call = this.calls.get(number);
    this.calls.delete(number);
    return call;
  }
}
