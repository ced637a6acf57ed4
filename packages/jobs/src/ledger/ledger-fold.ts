import type { BlobRef, Fold } from '@troupe/wal';
import { StoredPayload } from '../job/stored-payload.js';
import { Ledger } from './ledger.js';
import { decodeRecords } from './record-codec.js';
import { encodeSnapshot, loadChunk } from './snapshot-codec.js';

/** The ledger as the log's snapshot thread builds it: the same `apply`, from the same bytes. */
export const ledgerFold: Fold<Ledger> = {
  empty: () => new Ledger(),
  apply: (ledger, _lsn, payload) => decodeRecords(payload, (record) => ledger.apply(record)),
  save: (ledger) => encodeSnapshot(ledger),
  restore: (ledger, chunk) => loadChunk(ledger, chunk),
  blobs: (ledger) => storedPayloads(ledger),
};

/** What any job of the ledger, waiting, running or dead, still needs. */
function* storedPayloads(ledger: Ledger): Generator<BlobRef> {
  for (const { payload } of ledger.jobs.unended()) {
    if (payload instanceof StoredPayload) yield { sha256: payload.sha256, bytes: payload.length };
  }
}
