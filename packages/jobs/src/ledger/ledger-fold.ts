import type { Fold } from '@troupe/wal';
import { Ledger } from './ledger.js';
import { decodeRecords } from './record-codec.js';
import { encodeSnapshot, loadChunk } from './snapshot-codec.js';

/** The ledger as the log's snapshot thread builds it: the same `apply`, from the same bytes. */
export const ledgerFold: Fold<Ledger> = {
  empty: () => new Ledger(),
  apply: (ledger, _lsn, payload) => decodeRecords(payload, (record) => ledger.apply(record)),
  save: (ledger) => encodeSnapshot(ledger),
  restore: (ledger, chunk) => loadChunk(ledger, chunk),
};
