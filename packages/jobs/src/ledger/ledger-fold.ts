import type { Fold } from '@troupe/wal';
import { decodeRecords } from './codec/ledger-record-codec.js';
import { encodeSnapshot, loadChunk } from './codec/ledger-snapshot-codec.js';
import { Ledger } from './ledger.js';
import { storedPayloads } from './ledger-contents.js';

/** Builds the ledger in the log's snapshot thread: the same `apply`, from the same bytes. */
export const ledgerFold: Fold<Ledger> = {
  empty: () => new Ledger(),
  apply: (ledger, _lsn, payload) => decodeRecords(payload, (record) => ledger.apply(record)),
  save: (ledger) => encodeSnapshot(ledger),
  restore: (ledger, chunk) => loadChunk(ledger, chunk),
  *blobs(ledger) {
    for (const { sha256, length } of storedPayloads(ledger)) yield { sha256, bytes: length };
  },
};
