// The mark follows the acknowledgements and delays none.
import { WalCorruptError } from '@troupe/wal';
import { SimulatedDisk } from '@troupe/wal/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeMark } from '#src/format/mark-record.js';
import { PAIR_BYTES, PAIR_OFFSET } from '#src/format/paired-record.js';
import { LogHarness } from '../log-harness.js';

const mark = suite('mark');

function markedLsn(harness: LogHarness): number | undefined {
  const bytes = harness.storage.disk.files().get('MARK') ?? Buffer.alloc(0);
  return decodeMark(bytes.subarray(PAIR_OFFSET, PAIR_OFFSET + PAIR_BYTES))?.lsn;
}

function appended(count: number): LogHarness {
  const harness = new LogHarness();
  const log = harness.open({ segmentBytes: 65_536, firstSegmentBytes: 65_536 });
  for (let index = 0; index < count; index += 1) {
    log.append(Buffer.from(`record ${index}`));
    harness.settle();
  }
  return harness;
}

/** The bytes of every segment from `offset` on are zeros. */
function zeroed(harness: LogHarness, offset: number): LogHarness {
  const files = harness.storage.disk.files();
  for (const [name, bytes] of files) if (name.endsWith('.seg')) bytes.fill(0, offset);
  return new LogHarness({ disk: SimulatedDisk.withFiles(files), seed: 2 });
}

mark('a record is acknowledged before the mark is written, and the mark follows within 50 ms', () => {
  const harness = new LogHarness();
  const log = harness.open();
  let acknowledged = 0;
  log.append(Buffer.from('x'), (_error, lsn) => {
    acknowledged = lsn;
  });
  harness.settle();
  assert.is(acknowledged, 1);
  assert.is(markedLsn(harness), 0);
  harness.advance(50);
  assert.is(markedLsn(harness), 1);
});

mark('a log with zeros in place of acknowledged records is refused, once 50 ms have passed', () => {
  const harness = appended(2);
  assert.ok(!(zeroed(harness, 4_096).tryOpen() instanceof Error), 'the excepted case: the last 50 ms');
  harness.advance(60);
  const refused = zeroed(harness, 4_096).tryOpen();
  assert.instance(refused, WalCorruptError);
  const { damage, exitCode } = refused as WalCorruptError;
  assert.is(exitCode, 65);
  assert.is(damage.firstLsn, 1);
  assert.is(damage.lastLsn, 2);
  assert.match((refused as Error).message, /MARK.*restore a backup, or run repair/);
});

mark('a closed log has its last record in the mark', () => {
  const harness = new LogHarness();
  const log = harness.open();
  log.append(Buffer.from('x'));
  harness.wait<void>((done) => log.close(done));
  assert.is(markedLsn(harness), 1);
});

mark('under constant load the mark is written once per 50 ms', () => {
  const harness = new LogHarness();
  const log = harness.open();
  const before = harness.storage.calls.length;
  for (let index = 0; index < 200; index += 1) {
    log.append(Buffer.from('x'));
    harness.advance(2);
  }
  const writes = harness.storage.calls
    .slice(before)
    .filter(({ operation, name }) => operation === 'write' && name === 'MARK').length;
  assert.ok(writes >= 6 && writes <= 9, `${writes} writes in 400 ms`);
});

mark('a torn write of the mark leaves the former one', () => {
  const harness = appended(1);
  harness.advance(60);
  const files = harness.storage.disk.files();
  for (const offset of [PAIR_OFFSET, PAIR_OFFSET + 64]) {
    const torn = new Map(files);
    torn.set('MARK', Buffer.from(files.get('MARK') ?? Buffer.alloc(0)).fill(7, offset, offset + 64));
    const opened = new LogHarness({ disk: SimulatedDisk.withFiles(torn), seed: 2 }).tryOpen();
    assert.not.ok(opened instanceof Error, String(opened));
  }
});

mark('a process whose directory another has opened writes no mark, and ends', () => {
  const harness = appended(1);
  const second = new LogHarness({ disk: harness.storage.disk, seed: 2, ignoresLock: true });
  const log = second.open();
  for (let index = 0; index < 5; index += 1) log.append(Buffer.from('y'));
  second.advance(60);
  harness.advance(60);
  assert.is(markedLsn(second), 6);
  assert.equal(harness.host.exits, [73]);
});

mark.run();
