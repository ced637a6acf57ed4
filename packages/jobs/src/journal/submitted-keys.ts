import { decodeRecords } from '../ledger/codec/ledger-record-codec.js';
import type { LedgerRecord } from '../ledger/ledger-record.js';

/**
 * Finds the submits of one client in entries, by their keys: for a journal that removes the source of a
 * submit in the transaction that appends it.
 */
export class SubmittedKeys {
  private readonly token: string;
  /** The numbers under which the client has submitted. */
  private readonly producers = new Set<number>();

  /** `token`: that of the client. */
  constructor(token: string) {
    this.token = token;
  }

  /** The keys of the client's jobs in this entry. Entries before its first submit need not be looked at. */
  in(entry: Uint8Array): string[] {
    const keys: string[] = [];
    decodeRecords(entry, (record) => this.visit(record, keys));
    return keys;
  }

  private visit(record: LedgerRecord, keys: string[]): void {
    if (record.type === 'producer' && record.token === this.token) this.producers.add(record.producer);
    else if (record.type === 'enqueue' && this.producers.has(record.producer)) keys.push(record.key);
  }
}
