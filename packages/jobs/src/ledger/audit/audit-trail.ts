import { Ring } from '../../collections/ring.js';

/** One act of a client or an operator. */
export interface AuditEntry {
  /** Counts from 1. */
  readonly no: number;
  /** In record time. */
  readonly at: number;
  /** The client: identity and name, and behind them the principal that it acted for. */
  readonly by: string;
  readonly action: string;
  /** A job, a schedule, a queue or a worker. */
  readonly target: string;
  readonly detail: string;
}

/** The latest entries that are kept. Part of the format: a replay keeps the same. */
const ENTRIES_MAX = 10_000;

/** The latest acts of clients and operators, made of the records of the acts themselves. */
export class AuditTrail {
  nextNo = 1;
  private readonly kept = new Ring<AuditEntry>();

  get size(): number {
    return this.kept.size;
  }

  add(entry: Omit<AuditEntry, 'no'>): void {
    this.restore({ no: this.nextNo, ...entry });
  }

  /** Also for entries from a snapshot, in their order. */
  restore(entry: AuditEntry): void {
    this.nextNo = entry.no + 1;
    this.kept.push(entry);
    if (this.kept.size > ENTRIES_MAX) this.kept.shift();
  }

  /** Oldest first. */
  *entries(): Generator<AuditEntry> {
    for (let at = 0; at < this.kept.size; at += 1) yield this.kept.at(at) as AuditEntry;
  }

  clear(): void {
    while (this.kept.size > 0) this.kept.shift();
    this.nextNo = 1;
  }
}
