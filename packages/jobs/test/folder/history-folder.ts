import { SeededRandom } from '@troupe/core/testing';
import { type CodecName, inlineSnapshotBuilder, openWal, type Storage } from '@troupe/wal';
import { FaultyStorage } from '@troupe/wal/testing';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import { encodeEntry } from '#src/ledger/codec/record-entry.js';
import { Ledger } from '#src/ledger/ledger.js';
import { ledgerFold } from '#src/ledger/ledger-fold.js';
import { LEDGER_FORMAT } from '#src/ledger/ledger-format.js';
import type { LedgerRecord } from '#src/ledger/ledger-record.js';
import { firstRecords, nextRecord } from '../ledger/random-records.js';

/** A valid history: every record is allowed by those before it. */
export function randomHistory(seed: number, count: number): LedgerRecord[] {
  const random = new SeededRandom(seed);
  const ledger = new Ledger();
  const records = firstRecords();
  for (const record of records) ledger.apply(record);
  for (let i = 0; i < count; i += 1) {
    const record = nextRecord(ledger, 2 + i, i + 1, [random.next(), random.next(), random.next()]);
    ledger.apply(record);
    records.push(record);
  }
  return records;
}

/** Files in memory, so that a test may make many folders. */
export function memoryFolder(): FaultyStorage {
  return new FaultyStorage({ schedule: (complete) => setImmediate(complete) });
}

/** Of a log of a few records. */
export const SMALL = {
  segmentBytes: 524_288,
  firstSegmentBytes: 16_384,
  inlineBytesMax: 300_000,
  freeBytesSoft: 0,
};

/** A leader's folder with these entries; `snapshots`: after how many entries one is made. */
export async function writeFolder(
  storage: Storage,
  entries: readonly Uint8Array[],
  { codec, snapshots = [] }: { codec?: CodecName; snapshots?: readonly number[] } = {},
): Promise<void> {
  await using wal = await openWal({
    ...SMALL,
    storage,
    codec,
    content: LEDGER_FORMAT,
    fold: { module: '', export: 'ledgerFold' },
    snapshotBuilder: inlineSnapshotBuilder(storage, ledgerFold),
    snapshotEveryBytes: 0,
  });
  let from = 0;
  for (const to of [...snapshots, entries.length]) {
    await Promise.all(entries.slice(from, to).map((entry) => wal.append(entry)));
    if (to < entries.length) await wal.snapshot();
    from = to;
  }
}

/** The ledger of a folder, as a leader reads it. */
export async function ledgerIn(storage: Storage): Promise<Ledger> {
  await using wal = await openWal({ ...SMALL, storage });
  return await wal.restore(ledgerFold);
}

export function entriesOf(records: readonly LedgerRecord[], codec: CodecName = 'binary'): Uint8Array[] {
  const out = new ByteWriter();
  return records.map((record) => {
    encodeEntry(record, codec, out);
    return out.take();
  });
}
