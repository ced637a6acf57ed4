// Every row of the recovery table in docs/wal-format.md, on segments built byte by byte.
import { WalCorruptError } from '@troupe/wal';
import { SimulatedDisk } from '@troupe/wal/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { binaryCodec } from '#src/codec/binary-codec.js';
import {
  BATCH_HEADER_BYTES,
  batchExtent,
  closeBatch,
  crcSeed,
  FLAG_LINK,
  ORIGIN,
  type Position,
} from '#src/format/batch.js';
import { encodeEpochFile } from '#src/format/epoch-record.js';
import { encodeManifest, type Manifest, type SegmentEntry } from '#src/format/manifest.js';
import { NO_MARK } from '#src/format/mark-record.js';
import { encodeSegmentHeader, segmentName } from '#src/format/segment-header.js';
import { encodeStoreIdentity } from '#src/format/store-identity.js';
import { encodeMarkFile } from '#src/mark/mark-file.js';
import { LogHarness, textOf } from '../log-harness.js';

const decisions = suite('torn or corrupt');
const STORE_ID = '0123456789abcdef'.repeat(2);
const BYTES = 24_576;

class SegmentImage {
  readonly entry: SegmentEntry;
  readonly bytes: Buffer;
  end = 4_096;

  constructor(seq: number) {
    this.entry = { seq, bytes: BYTES, salt: seq * 7_919 };
    this.bytes = Buffer.alloc(BYTES);
    encodeSegmentHeader({ storeId: STORE_ID, ...this.entry }).copy(this.bytes);
  }

  /** Adds a batch with these texts after `position`, and returns the position after it. */
  add(
    position: Position,
    texts: readonly string[],
    change: { epoch?: number; firstLsn?: number } = {},
  ): Position {
    const batch = Buffer.alloc(BYTES);
    const firstLsn = change.firstLsn ?? position.lsn + 1;
    let end = BATCH_HEADER_BYTES;
    for (const [index, text] of texts.entries())
      end = binaryCodec.encode(batch, end, firstLsn + index, Buffer.from(text), 0, undefined);
    const flags = this.end === 4_096 ? FLAG_LINK : 0;
    const fields = { position, firstLsn, count: texts.length, epoch: change.epoch ?? 1, flags };
    const after = closeBatch(batch, end - BATCH_HEADER_BYTES, fields, crcSeed(this.entry));
    const extent = batchExtent(end - BATCH_HEADER_BYTES);
    batch.copy(this.bytes, this.end, 0, extent);
    this.end += extent;
    return after;
  }

  flip(offset: number): this {
    this.bytes[offset] = (this.bytes[offset] ?? 0) ^ 1;
    return this;
  }
}

function open(
  segments: readonly SegmentImage[],
  change: Partial<Manifest> = {},
  unlisted: readonly SegmentImage[] = [],
  mark = NO_MARK,
): LogHarness & { result: number | string } {
  const manifest: Manifest = {
    storeId: STORE_ID,
    epoch: 1,
    start: ORIGIN,
    segments: segments.map(({ entry }) => entry),
    snapshots: [],
    losses: [],
    ...change,
  };
  const files = new Map<string, Buffer>([
    ['STORE', encodeStoreIdentity({ storeId: STORE_ID, createdAt: 0 })],
    ['CURRENT', encodeManifest(manifest)],
    ['EPOCH', encodeEpochFile(manifest.epoch + 1)],
    ['MARK', encodeMarkFile(mark)],
  ]);
  for (const { entry, bytes } of [...segments, ...unlisted]) files.set(segmentName(entry.seq), bytes);
  const harness = new LogHarness({ disk: SimulatedDisk.withFiles(files) });
  const opened = harness.tryOpen({ segmentBytes: BYTES, firstSegmentBytes: BYTES });
  let result: number | string;
  if (opened instanceof WalCorruptError)
    result = `${opened.damage.file}@${opened.damage.offset} from ${opened.damage.firstLsn}: ${opened.damage.reason}`;
  else if (opened instanceof Error || opened === undefined) throw opened ?? new Error('the open did not end');
  else result = harness.replay(opened, { from: opened.firstLsn }).length;
  return Object.assign(harness, { result });
}

/** Two batches of two and three records. */
function twoBatches(): { segment: SegmentImage; first: Position; second: Position } {
  const segment = new SegmentImage(1);
  const first = segment.add(ORIGIN, ['a', 'b']);
  const second = segment.add(first, ['c', 'd', 'e']);
  return { segment, first, second };
}

decisions('corrupt: the log ends before the batch that MARK names', () => {
  const { segment, first, second } = twoBatches();
  const marked = { number: 4, batch: second.batch, lsn: second.lsn };
  assert.is(open([segment], {}, [], marked).result, 5);
  segment.bytes.fill(0, 8_192);
  assert.is(open([segment]).result, 2, 'without a mark zeros are the end of the log');
  assert.is(open([segment], {}, [], { ...marked, batch: first.batch, lsn: first.lsn }).result, 2);
  assert.match(
    String(open([segment], {}, [], marked).result),
    /^wal-0000000001\.seg@8192 from 3: the log ends here, but MARK shows that it was durable up to lsn 5/,
  );
});

decisions('corrupt: an invalid last batch that MARK names', () => {
  const { segment, second } = twoBatches();
  const marked = { number: 4, batch: second.batch, lsn: second.lsn };
  assert.match(String(open([segment.flip(8_200)], {}, [], marked).result), /@8192 from 3: .*MARK shows/);
});

decisions('valid batches followed by zeros: the log ends after the batches', () => {
  const { segment } = twoBatches();
  const harness = open([segment, new SegmentImage(2)]);
  assert.is(harness.result, 5);
  assert.equal(harness.events, []);
});

decisions('an invalid last batch without a later write is torn: cut, kept in quarantine, reported', () => {
  const { segment } = twoBatches();
  const harness = open([segment.flip(8_192 + 60), new SegmentImage(2)]);
  assert.is(harness.result, 2);
  assert.is(harness.events[0]?.kind, 'torn-tail');
  const kept = harness.storage.disk.file('quarantine/wal-0000000001.seg@8192.epoch-1');
  assert.ok(kept?.content.equals(segment.bytes.subarray(8_192, 8_192 + (kept?.content.length ?? 0))));
});

decisions('corrupt: a later segment was written to', () => {
  const { segment, second } = twoBatches();
  const later = new SegmentImage(2);
  later.add(second, ['f']);
  assert.match(
    String(open([segment.flip(8_192 + 60), later]).result),
    /^wal-0000000001\.seg@8192 from 3: .*wal-0000000002\.seg was written to/,
  );
});

decisions('corrupt: a later page has a later header', () => {
  const { segment } = twoBatches();
  assert.match(
    String(open([segment.flip(4_096 + 60)]).result),
    /^wal-0000000001\.seg@4096 from 1: .*(batch 2 was started|bytes were written) at 8192/,
  );
  assert.match(
    String(open([twoBatches().segment.flip(4_096 + 9)]).result),
    /@4096 from 1: no valid batch header.*batch 2/,
  );
});

decisions('corrupt: the header is valid and a byte beyond the extent is not zero', () => {
  const { segment } = twoBatches();
  segment.bytes[12_288 + 77] = 5;
  assert.match(
    String(open([segment.flip(8_192 + 60)]).result),
    /bytes were written at 12288, beyond batch 2/,
  );
});

decisions('corrupt: the shutdown was clean', () => {
  const { segment, second } = twoBatches();
  const clean = { batch: second.batch, lsn: second.lsn };
  assert.is(open([twoBatches().segment], { clean }).result, 5);
  assert.match(String(open([segment.flip(8_192 + 60)], { clean }).result), /the shutdown was clean/);
  const shorter = new SegmentImage(1);
  shorter.add(ORIGIN, ['a', 'b']);
  assert.match(
    String(open([shorter], { clean }).result),
    /^CURRENT@0 from 3: a clean shutdown was recorded after batch 2, the log ends at 1/,
  );
});

decisions('corrupt: a valid header does not continue the chain', () => {
  const segment = new SegmentImage(1);
  const first = segment.add(ORIGIN, ['a']);
  segment.add({ ...first, crc: (first.crc ^ 1) >>> 0 }, ['b']);
  assert.match(String(open([segment]).result), /@8192 from 2: the chain to the previous batch is broken/);
  const epochs = new SegmentImage(1);
  epochs.add(ORIGIN, ['a'], { epoch: 2 });
  assert.match(String(open([epochs]).result), /epoch 2 is later than the manifest's 1/);
  const gap = new SegmentImage(1);
  gap.add(gap.add(ORIGIN, ['a']), ['b'], { firstLsn: 5 });
  assert.match(String(open([gap]).result), /lsn 5 where 2 is expected/);
  assert.is(
    open([gap], { losses: [{ from: 2, to: 4, at: 0 }] }).result,
    2,
    'a loss in the manifest is no damage',
  );
});

decisions('zeros and a later segment that continues the chain: the log continues there', () => {
  const { segment, second } = twoBatches();
  const next = new SegmentImage(3);
  next.add(second, ['f', 'g']);
  assert.is(open([segment, new SegmentImage(2), next]).result, 7);
  const skipped = new SegmentImage(3);
  skipped.add({ ...second, batch: second.batch + 1 }, ['f']);
  assert.match(String(open([segment, skipped]).result), /batch 4 where 3 is expected/);
});

decisions('a sealed segment ends exactly where the manifest says', () => {
  const { segment, second } = twoBatches();
  const sealed = { ...second, end: 12_288 };
  const listed = (change: object): SegmentImage =>
    Object.assign(Object.create(segment), { entry: { ...segment.entry, sealed: { ...sealed, ...change } } });
  assert.is(open([listed({})]).result, 5);
  for (const change of [{ end: 8_192 }, { end: 16_384 }, { batch: 3 }, { lsn: 6 }, { crc: 1 }]) {
    assert.match(String(open([listed(change)]).result), /^wal-0000000001\.seg@/, JSON.stringify(change));
  }
  const short = listed({});
  Object.assign(short, { bytes: segment.bytes.subarray(0, 12_287) });
  assert.match(String(open([short]).result), /12287 bytes long, 12288 are needed/);
});

decisions('an unlisted segment with a higher number may contain a copy, but no newer batch', () => {
  const { segment, first, second } = twoBatches();
  const copy = new SegmentImage(2);
  copy.add(first, ['c', 'd', 'e']);
  assert.is(open([segment], {}, [copy]).result, 5);
  const newer = new SegmentImage(2);
  newer.add(second, ['f']);
  assert.match(String(open([segment], {}, [newer]).result), /CURRENT is older than the data/);
});

decisions('a copy of the last batch in an unlisted segment replaces a lost or torn one', () => {
  const openWithCopy = (
    segment: SegmentImage,
    position: Position,
  ): LogHarness & { result: number | string } => {
    const copy = new SegmentImage(2);
    copy.add(position, ['c', 'd', 'e'], { epoch: 2 });
    return open([segment], {}, [copy]);
  };
  // The batch was in the page cache only when power was cut: nothing or a part of it is left.
  const lost = new SegmentImage(1);
  const first = lost.add(ORIGIN, ['a', 'b']);
  assert.is(openWithCopy(lost, first).result, 5);
  const { segment } = twoBatches();
  const harness = openWithCopy(segment.flip(8_192 + 60), first);
  assert.is(harness.result, 5);
  assert.equal(harness.events, []);
  // The batch was the first of the log.
  assert.is(openWithCopy(new SegmentImage(1), ORIGIN).result, 3);
});

decisions('an unlisted segment with more than such a copy means that CURRENT is old', () => {
  const alone = (): { segment: SegmentImage; first: Position } => {
    const segment = new SegmentImage(1);
    return { segment, first: segment.add(ORIGIN, ['a', 'b']) };
  };
  const table: readonly ((segment: SegmentImage, first: Position) => void)[] = [
    (copy, first) => copy.add(copy.add(first, ['c'], { epoch: 2 }), ['d'], { epoch: 2 }),
    (copy, first) => copy.add(first, ['c'], { epoch: 1 }),
    (copy, first) => copy.add(first, ['c'], { epoch: 3 }),
    (copy, first) => copy.add({ ...first, batch: first.batch + 1 }, ['c'], { epoch: 2 }),
    (copy, first) => copy.add({ ...first, crc: first.crc ^ 1 }, ['c'], { epoch: 2 }),
  ];
  for (const [index, fill] of table.entries()) {
    const { segment, first } = alone();
    const copy = new SegmentImage(2);
    fill(copy, first);
    const { result } = open([segment], {}, [copy]);
    assert.match(String(result), /CURRENT is older than the data/, `row ${index}`);
  }
});

decisions('with CURRENT replaced by an older version the log opens with all records or is refused', () => {
  const harness = new LogHarness();
  const log = harness.open();
  const copies: Buffer[] = [];
  for (let index = 0; index < 60; index += 1) {
    log.append(Buffer.from(textOf(index)));
    harness.settle();
    const current = harness.storage.disk.files().get('CURRENT');
    if (current !== undefined && !copies.some((copy) => copy.equals(current))) copies.push(current);
  }
  assert.ok(copies.length > 4);
  let refused = 0;
  for (const copy of copies) {
    const files = harness.storage.disk.files().set('CURRENT', copy);
    const other = new LogHarness({ disk: SimulatedDisk.withFiles(files), seed: 5 });
    const opened = other.tryOpen();
    if (opened instanceof WalCorruptError) refused += 1;
    else if (opened instanceof Error || opened === undefined) throw opened;
    else assert.is(other.replay(opened).length, 60);
  }
  assert.ok(refused >= copies.length - 2, `${refused} of ${copies.length} refused`);
});

decisions.run();
