import type { BlobRef, Fold } from '@troupe/wal';
import { StoredPayload } from '../job/stored-payload.js';
import { decodeRecords } from './codec/ledger-record-codec.js';
import { encodeSnapshot, loadChunk } from './codec/ledger-snapshot-codec.js';
import { Ledger } from './ledger.js';

/** Builds the ledger in the log's snapshot thread: the same `apply`, from the same bytes. */
export const ledgerFold: Fold<Ledger> = {
  empty: () => new Ledger(),
  apply: (ledger, _lsn, payload) => decodeRecords(payload, (record) => ledger.apply(record)),
  save: (ledger) => encodeSnapshot(ledger),
  restore: (ledger, chunk) => loadChunk(ledger, chunk),
  blobs: (ledger) => storedPayloads(ledger),
};

/** Stored payloads that a queued, running or dead job still needs. */
function* storedPayloads(ledger: Ledger): Generator<BlobRef> {
  for (const { payload } of ledger.jobs.unended()) {
    if (payload instanceof StoredPayload) yield { sha256: payload.sha256, bytes: payload.length };
  }
}
