import { LedgerCorruptError } from '../jobs-error.js';
import type { IdentityUsages } from './identity-usage.js';
import type { Producer } from './producer.js';

/** The producers of a ledger by number; the one that has been silent for the longest time stands first. */
export class ProducerTable {
  private readonly usages: IdentityUsages;
  private readonly byNumber = new Map<number, Producer>();
  /** The last in that order. */
  private last: Producer | undefined = undefined;
  /** No producer is due before this time. Derived: 0 makes the next record look. */
  nextAt = 0;

  constructor(usages: IdentityUsages) {
    this.usages = usages;
  }

  get size(): number {
    return this.byNumber.size;
  }

  has(no: number): boolean {
    return this.byNumber.has(no);
  }

  get(no: number): Producer | undefined {
    return this.byNumber.get(no);
  }

  /** The producer that a record names. */
  known(no: number): Producer {
    const producer = this.byNumber.get(no);
    if (producer === undefined) throw new LedgerCorruptError(`producer ${no} is unknown`);
    return producer;
  }

  values(): IterableIterator<Producer> {
    return this.byNumber.values();
  }

  /** Also for producers from a snapshot, in their order there. */
  add(producer: Producer): void {
    this.byNumber.set(producer.no, producer);
    this.last = producer;
    this.usages.of(producer.client).producers += 1;
  }

  /** A producer that submits moves behind all others. */
  addSubmit(no: number, seq: number, job: number, low: number, at: number): void {
    const producer = this.known(no);
    producer.addSubmit(seq, job, low, at);
    if (this.last === producer) return;
    this.byNumber.delete(no);
    this.byNumber.set(no, producer);
    this.last = producer;
  }

  drop(no: number): void {
    const producer = this.byNumber.get(no);
    if (producer === undefined) return;
    this.byNumber.delete(no);
    if (this.last === producer) this.last = undefined;
    const usage = this.usages.of(producer.client);
    usage.producers -= 1;
    this.usages.sweep(producer.client, usage);
  }

  /** Drops producers that have been silent for the window, a bounded number. */
  expire(now: number, windowMs: number, dropsMax: number): void {
    let left = dropsMax;
    for (const { no, lastAt } of this.byNumber.values()) {
      this.nextAt = lastAt + windowMs;
      if (this.nextAt > now || left === 0) return;
      this.drop(no);
      left -= 1;
    }
    this.nextAt = now + windowMs;
  }

  /** The time after which a silent producer is dropped is another one. */
  windowChanged(): void {
    this.nextAt = 0;
  }
}
