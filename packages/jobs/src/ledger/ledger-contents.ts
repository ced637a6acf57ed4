import { StoredPayload } from '../job/payload/stored-payload.js';
import { decodeRecords } from './codec/ledger-record-codec.js';
import { encodeSnapshot, loadChunk } from './codec/ledger-snapshot-codec.js';
import { Ledger } from './ledger.js';

/** The state that the entries of a journal make: what a snapshot of them has to hold. */
export interface LedgerContents {
  /** One chunk of an earlier snapshot, in order, before any entry. */
  restore(chunk: Uint8Array): void;
  apply(entry: Uint8Array): void;
  /** The state in chunks. Each is valid until the next is taken. */
  save(): Iterable<Uint8Array>;
  /** Stored payloads that a queued, running or dead job still needs. */
  payloads(): Iterable<StoredPayload>;
}

/** For a journal that makes its snapshots by itself. */
export function ledgerContents(): LedgerContents {
  const ledger = new Ledger();
  return {
    restore: (chunk) => loadChunk(ledger, chunk),
    apply: (entry) => decodeRecords(entry, (record) => ledger.apply(record)),
    save: () => encodeSnapshot(ledger),
    payloads: () => storedPayloads(ledger),
  };
}

export function* storedPayloads(ledger: Ledger): Generator<StoredPayload> {
  for (const { payload } of ledger.jobs.unended()) if (payload instanceof StoredPayload) yield payload;
}
