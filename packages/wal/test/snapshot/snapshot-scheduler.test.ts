import { inlineSnapshotBuilder, type Log, type SnapshotEntry } from '@troupe/wal';
import { SimulatedDisk } from '@troupe/wal/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type DigestState, digestFold } from '../digest-fold.js';
import { LogHarness, textOf } from '../log-harness.js';

const snapshots = suite('snapshots');

function openIn(harness: LogHarness, every = 0): Log {
  return harness.open({
    snapshotBuilder: inlineSnapshotBuilder(harness.storage, digestFold),
    snapshotEveryBytes: every,
  });
}

function append(harness: LogHarness, log: Log, from: number, count: number): void {
  for (let index = from; index < from + count; index += 1) {
    assert.ok(log.append(Buffer.from(textOf(index))) > 0);
    if (index % 4 === 0) harness.settle();
  }
  harness.settle();
}

function make(harness: LogHarness, log: Log): SnapshotEntry {
  return harness.wait<SnapshotEntry>((done) => log.makeSnapshot(done));
}

function restore(harness: LogHarness, log: Log): DigestState {
  return harness.wait<DigestState>((done) => log.restore(digestFold, done));
}

snapshots('recovery replays exactly the records after the snapshot', () => {
  const harness = new LogHarness();
  const log = openIn(harness);
  append(harness, log, 0, 30);
  const entry = make(harness, log);
  assert.is(entry.lsn, 30);
  append(harness, log, 30, 12);
  const live = harness.replay(log, { from: 1 });
  harness.wait<void>((done) => log.close(done));

  const again = openIn(harness);
  assert.equal(again.snapshot, entry);
  assert.equal(
    harness.replay(again).map(({ lsn }) => lsn),
    [31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42],
  );
  const state = restore(harness, again);
  assert.is(state.count, 42);
  const folded = digestFold.empty();
  for (const { lsn, text, type } of live) digestFold.apply(folded, lsn, Buffer.from(text), type, undefined);
  assert.is(state.digest, folded.digest, 'the state after recovery is the live one');
});

snapshots(
  'two snapshots are kept, and recovery falls back to the older one when the newer is damaged',
  () => {
    const harness = new LogHarness();
    const log = openIn(harness);
    for (let round = 0; round < 4; round += 1) {
      append(harness, log, round * 20, 20);
      make(harness, log);
    }
    append(harness, log, 80, 5);
    const whole = restore(harness, log);
    const files = harness.storage.disk.files();
    const names = [...files.keys()].filter((name) => name.startsWith('snap-'));
    assert.equal(names.sort(), ['snap-60.snap', 'snap-80.snap']);
    assert.ok(log.firstLsn > 1 && log.firstLsn <= 61, `the log begins at ${log.firstLsn}`);

    const newest = files.get('snap-80.snap');
    assert.ok(newest !== undefined);
    newest[40] = (newest[40] ?? 0) ^ 1;
    const other = new LogHarness({ disk: SimulatedDisk.withFiles(files) });
    const fallen = openIn(other);
    assert.is(fallen.snapshot?.lsn, 60);
    assert.is(other.events[0]?.kind, 'snapshot-fallback');
    assert.is(restore(other, fallen).digest, whole.digest);
  },
);

snapshots('a snapshot is made automatically after `snapshotEveryBytes` of log', () => {
  const harness = new LogHarness();
  const log = openIn(harness, 20_000);
  append(harness, log, 0, 400);
  const made = harness.events.filter(({ kind }) => kind === 'snapshot-made').length;
  assert.ok(made >= 2, `${made} snapshots`);
  assert.ok(log.status().sealedBytes < 120_000, `${log.status().sealedBytes} bytes of log are kept`);
  assert.is(restore(harness, log).count >= 1, true);
});

/** The number of segments prepared after call `since`, and how many of them reused a spare one. */
function segmentsMade(harness: LogHarness, since: number): { readonly all: number; readonly reused: number } {
  const renames = harness.storage.calls.slice(since).filter(({ operation }) => operation === 'rename');
  const count = (pattern: RegExp): number => renames.filter(({ name }) => pattern.test(name)).length;
  return { all: count(/^wal-\d+\.seg\.\w+\.tmp /), reused: count(/^recycled-/) };
}

snapshots('segments freed by one snapshot are reused until the next', () => {
  const harness = new LogHarness();
  const log = openIn(harness, 60_000);
  append(harness, log, 0, 1_200);
  const before = harness.storage.calls.length;
  append(harness, log, 1_200, 1_200);
  const made = harness.events.filter(({ kind }) => kind === 'snapshot-made').length;
  assert.ok(made >= 4, `${made} snapshots`);
  const { all, reused } = segmentsMade(harness, before);
  assert.ok(all >= 12, `${all} segments`);
  assert.is(reused, all);
  const recycled = [...harness.storage.disk.files().keys()].filter((name) => name.startsWith('recycled-'));
  assert.ok(recycled.length <= 5, `${recycled.length} recycled`);
});

snapshots('no spare segment is kept while the disk is low', () => {
  const harness = new LogHarness();
  const log = harness.open({
    snapshotBuilder: inlineSnapshotBuilder(harness.storage, digestFold),
    snapshotEveryBytes: 60_000,
    freeBytesSoft: 200_000,
    freeBytesHard: 1_000,
  });
  append(harness, log, 0, 600);
  harness.storage.disk.capacityBytes = harness.storage.disk.usedBytes + 100_000;
  for (let index = 0; index < 400; index += 1) {
    log.append(Buffer.from(textOf(index)), undefined, { essential: true });
    harness.settle();
  }
  assert.is(log.refusal()?.code, 'ERR_WAL_DISK_LOW');
  const before = log.firstLsn;
  for (let round = 0; round < 3; round += 1) {
    log.makeSnapshot(() => undefined);
    harness.advance(20_000);
  }
  assert.ok(log.firstLsn > before, 'segments were dropped');
  assert.is(log.refusal()?.code, 'ERR_WAL_DISK_LOW');
  const recycled = [...harness.storage.disk.files().keys()].filter((name) => name.startsWith('recycled-'));
  assert.equal(recycled, []);
});

snapshots('a snapshot that fails is reported, and the next one is tried', () => {
  let fail = true;
  const harness = new LogHarness();
  const builder = inlineSnapshotBuilder(harness.storage, {
    ...digestFold,
    save: (state: DigestState) => {
      if (fail) throw new Error('save failed');
      return digestFold.save(state);
    },
  });
  const log = harness.open({ snapshotBuilder: builder, snapshotEveryBytes: 0 });
  append(harness, log, 0, 10);
  assert.throws(() => make(harness, log), /save failed/);
  assert.throws(() => make(harness, log), /save failed/);
  assert.equal(
    harness.events.map((event) => (event.kind === 'snapshot-failed' ? event.consecutiveFailures : 0)),
    [1, 2],
  );
  fail = false;
  assert.is(make(harness, log).lsn, 10);
  assert.equal(harness.host.exits, []);
});

snapshots('on a full disk a snapshot frees older segments, and appends are accepted again', () => {
  const harness = new LogHarness();
  const log = openIn(harness);
  append(harness, log, 0, 60);
  make(harness, log);
  append(harness, log, 60, 60);
  harness.storage.disk.capacityBytes = harness.storage.disk.usedBytes + 3_000;
  for (let index = 0; index < 60 && log.refusal() === undefined; index += 1) {
    log.append(Buffer.alloc(1_900));
    harness.settle();
  }
  assert.ok(harness.events.some(({ kind }) => kind === 'disk-low'));
  assert.is(harness.events.filter(({ kind }) => kind === 'snapshot-made').length, 2);
  harness.advance(6_000);
  assert.is(log.refusal(), undefined, 'the snapshot freed the space');
  assert.ok(log.append(Buffer.from('again')) > 0);
  harness.settle();
  assert.is(log.durableLsn, log.nextLsn - 1);
  assert.equal(harness.host.exits, []);
});

snapshots('without a fold a snapshot is refused', () => {
  const harness = new LogHarness();
  const log = harness.open();
  assert.throws(() => make(harness, log), /no fold was given/);
});

snapshots('a blob is removed once neither a snapshot nor a record refers to it', () => {
  const harness = new LogHarness();
  const log = openIn(harness);
  const put = (byte: number): { sha256: string; bytes: number } =>
    harness.wait<{ sha256: string; bytes: number }>((done) => log.putBlob(Buffer.alloc(500, byte), done));
  const stored = (): string[] => harness.storage.disk.list('blobs').sort();
  const first = put(1);
  log.append(Buffer.from('first'), undefined, { blob: first });
  harness.settle();
  make(harness, log);
  const second = put(2);
  log.append(Buffer.from('second'), undefined, { blob: second });
  harness.settle();
  make(harness, log);
  assert.equal(
    stored(),
    [first.sha256, second.sha256].sort(),
    'the older snapshot still refers to the first',
  );
  append(harness, log, 0, 3);
  make(harness, log);
  append(harness, log, 3, 3);
  const third = put(3);
  make(harness, log);
  assert.equal(
    stored(),
    [second.sha256, third.sha256].sort(),
    'the state refers to the second only; the third waits for its record',
  );
  assert.is(harness.wait<Buffer>((done) => log.readBlob(second, done)).length, 500);
});

snapshots.run();
