import { WalCorruptError } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { binaryCodec } from '#src/codec/binary-codec.js';
import { visitBatch } from '#src/recovery/replay-segments.js';
import { LogHarness } from '../log-harness.js';

const slices = suite('replay slices');

const MIB = 1024 * 1024;
const SLICE_BYTES = 256 * 1024;

/** Bytes of the records that were visited between two turns of the event loop, the largest first. */
function bytesPerTurn(records: number, recordBytes: number, recordsPerBatch: number): number[] {
  const harness = new LogHarness();
  const log = harness.open({
    segmentBytes: 16 * MIB,
    firstSegmentBytes: 16 * MIB,
    batchBytesMax: 8 * MIB,
    inlineBytesMax: 2 * MIB,
  });
  for (let i = 0; i < records; i += 1) {
    log.append(Buffer.alloc(recordBytes, i));
    if (i % recordsPerBatch === recordsPerBatch - 1) harness.settle();
  }
  harness.settle();
  const turns: number[] = [0];
  const later = harness.host.later.bind(harness.host);
  harness.host.later = (run) => {
    turns.push(0);
    later(run);
  };
  let next = 1;
  harness.wait<void>((done) =>
    log.replay(
      {},
      (lsn, payload) => {
        assert.is(lsn, next);
        next += 1;
        turns[turns.length - 1] = (turns.at(-1) ?? 0) + payload.length;
      },
      done,
    ),
  );
  assert.is(next, records + 1);
  return turns.sort((a, b) => b - a);
}

slices('a batch of many records is visited in slices, with turns of the event loop between them', () => {
  const turns = bytesPerTurn(64, 32 * 1024, 64);
  assert.ok((turns[0] ?? 0) <= SLICE_BYTES && turns.length >= 8, `${turns}`);
});

slices('small batches of one read of the disk share slices', () => {
  const turns = bytesPerTurn(400, 4 * 1024, 4);
  assert.ok((turns[0] ?? 0) <= SLICE_BYTES && turns.length >= 6, `${turns}`);
});

slices('a record that is larger than a slice is visited alone', () => {
  assert.equal(bytesPerTurn(3, MIB, 3), [MIB, MIB, MIB]);
});

slices('bytes after the last record of a batch are damage', () => {
  const body = Buffer.alloc(64);
  const end = binaryCodec.encode(body, 0, 7, Buffer.from('one'), 0, undefined);
  const before = { batch: 0, lsn: 6, crc: 0 };
  const header = {
    batchSeq: 1,
    firstLsn: 7,
    count: 1,
    flags: 0,
    bodyLen: 64,
    headerCrc: 0,
    prevCrc: 0,
    epoch: 1,
  };
  const batch = { header, bytes: body, from: 0, to: end + 1, offset: 0, before };
  const visit = (): void =>
    visitBatch({ seq: 1, bytes: 64, salt: 0 }, batch, { from: 1, to: 9 }, () => undefined);
  assert.throws(visit, (error: unknown) => error instanceof WalCorruptError);
});

slices.run();
