import { Ring } from '../../../collections/ring.js';
import type { QueueLimits } from '../../../job/queue-control.js';
import type { QueueName } from '../exec-queue.js';
import { placeInLine } from '../place-in-line.js';
import { TokenBucket } from './token-bucket.js';

/** The limits of every order key of one `group/exec`. */
export interface KeyRule {
  readonly queue: string;
  /** Jobs of one key that may be in the queue or running. */
  runningMax: number;
  rate: QueueLimits['keyRate'];
  /** The bucket of a key that is new was empty then. */
  emptyAt: number;
}

/** One order key with live jobs: those that hold it, and those that wait for it, in their order. */
export class OrderGate {
  readonly scope: string;
  readonly tenant: string;
  readonly rule: KeyRule;
  /** Jobs in a lane, running, or between two attempts. */
  readonly holders: number[] = [];
  /** Holders whose start has still to take a token of the rate. */
  private readonly unstarted: number[] = [];
  /** Numbers and queues of the jobs that wait; most keys have none. */
  private waiting: Ring<number> | undefined = undefined;
  private names: Ring<QueueName> | undefined = undefined;
  private bucket: TokenBucket | undefined = undefined;
  /** Entries here whose jobs have ended; below 0 while the end of a job without an entry is being written. */
  gone = 0;
  /** The time of its entry in the heap of wake-ups. */
  wakesAt = Number.POSITIVE_INFINITY;

  constructor(scope: string, tenant: string, rule: KeyRule) {
    this.scope = scope;
    this.tenant = tenant;
    this.rule = rule;
    this.ruleChanged();
  }

  ruleChanged(): void {
    const { rate, emptyAt } = this.rule;
    this.bucket = rate === undefined ? undefined : new TokenBucket(rate, emptyAt);
  }

  get size(): number {
    return this.waiting?.size ?? 0;
  }

  hasRoom(now: number): boolean {
    if (this.holders.length >= this.rule.runningMax) return false;
    return this.bucket === undefined || this.bucket.has(this.unstarted.length + 1, now);
  }

  /** When its rate allows one more job behind so many others; `now`: it does not stand in the way. */
  rateAt(now: number, ahead = 0): number {
    return this.bucket?.timeOf(this.unstarted.length + ahead + 1, now) ?? now;
  }

  /** When it may be forgotten, where no job has it: a new one has a full bucket. */
  idleAt(now: number): number {
    return this.bucket?.fullAt(now) ?? now;
  }

  /** `isNew`: its first attempt has not begun. */
  hold(no: number, { isNew }: { readonly isNew: boolean }): void {
    this.holders.push(no);
    if (isNew && this.bucket !== undefined) this.unstarted.push(no);
  }

  started(no: number, now: number): void {
    if (remove(this.unstarted, no)) this.bucket?.take(now);
  }

  release(no: number): void {
    remove(this.holders, no);
    remove(this.unstarted, no);
  }

  park(no: number, name: QueueName, { atHead }: { readonly atHead: boolean }): void {
    this.waiting ??= new Ring<number>();
    this.names ??= new Ring<QueueName>();
    if (atHead) {
      this.waiting.unshift(no);
      this.names.unshift(name);
    } else {
      this.waiting.push(no);
      this.names.push(name);
    }
  }

  next(): { readonly no: number; readonly name: QueueName } | undefined {
    const no = this.waiting?.shift();
    const name = this.names?.shift();
    return no === undefined || name === undefined ? undefined : { no, name };
  }

  /** Jobs that wait before this one; -1: it does not wait here. */
  placeOf(no: number, isWaiting: (no: number) => boolean): number {
    return this.waiting === undefined ? -1 : placeInLine(this.waiting, no, this.gone, isWaiting);
  }
}

function remove(numbers: number[], no: number): boolean {
  const at = numbers.indexOf(no);
  if (at < 0) return false;
  numbers.splice(at, 1);
  return true;
}
