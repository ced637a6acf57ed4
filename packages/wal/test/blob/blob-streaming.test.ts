import {
  type BlobReader,
  type BlobRef,
  type BlobWriter,
  inlineSnapshotBuilder,
  type Log,
  WalBlobError,
} from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { digestFold } from '../digest-fold.js';
import { LogHarness } from '../log-harness.js';

const pieces = suite('blobs in pieces');
const MIB = 1024 * 1024;

function opened(): { harness: LogHarness; log: Log } {
  const harness = new LogHarness();
  const snapshotBuilder = inlineSnapshotBuilder(harness.storage, digestFold);
  return { harness, log: harness.open({ snapshotBuilder, snapshotEveryBytes: 0 }) };
}

function writerOf(log: Log): BlobWriter {
  const writer = log.openBlobWriter();
  if (writer === undefined) throw new Error('the log takes no blob');
  return writer;
}

/** Not one byte like the next, and no block like another. */
function content(bytes: number): Buffer {
  return Buffer.from(Uint8Array.from({ length: bytes }, (_, i) => (i * 31 + (i >>> 12)) & 0xff));
}

function store(harness: LogHarness, log: Log, bytes: Buffer, chunk: number): BlobRef {
  const writer = writerOf(log);
  for (let at = 0; at < bytes.length; at += chunk)
    writer.write(bytes.subarray(at, at + chunk), (error) => assert.is(error, null));
  return harness.wait<BlobRef>((done) => writer.finish(done));
}

function readAll(harness: LogHarness, reader: BlobReader): Buffer {
  const parts: Uint8Array[] = [];
  for (;;) {
    const part = harness.wait<Uint8Array | null>((done) =>
      reader.read(100_000, (error, one) => done(error, one)),
    );
    if (part === null) return Buffer.concat(parts);
    parts.push(new Uint8Array(part));
  }
}

pieces('what is written in pieces of any size is the same blob as what is put whole', () => {
  const { harness, log } = opened();
  const bytes = content(3 * MIB + 17);
  const whole = harness.wait<BlobRef>((done) => log.putBlob(bytes, done));
  for (const chunk of [64 * 1024, MIB, 4 * MIB, 777_777]) {
    assert.equal(store(harness, log, bytes, chunk), whole, `pieces of ${chunk} bytes`);
  }
  assert.equal(harness.storage.disk.list('blobs').length, 1);
  assert.ok(readAll(harness, log.openBlobReader(whole)).equals(bytes));
});

pieces('a writer that is given up leaves nothing', () => {
  const { harness, log } = opened();
  const writer = writerOf(log);
  writer.write(content(2 * MIB), () => undefined);
  writer.abort();
  harness.settle();
  assert.equal(harness.storage.disk.list('blobs'), []);
});

pieces('a chunk waits while two blocks are full, and no longer', () => {
  const { harness, log } = opened();
  const writer = writerOf(log);
  const taken: number[] = [];
  for (let i = 0; i < 4; i += 1) writer.write(content(MIB), () => taken.push(i));
  assert.ok(taken.length < 2, `${taken.length} were taken before anything was written`);
  harness.settle();
  assert.equal(taken, [0, 1, 2, 3]);
});

/** Takes a blob out of memory: from now on it is read from its file. */
function evictFromCache(log: Log, ref: BlobRef): void {
  log.openBlobReader(ref).close();
}

pieces('the last piece of a damaged blob is not given', () => {
  const { harness, log } = opened();
  const ref = store(harness, log, content(2 * MIB), MIB);
  evictFromCache(log, ref);
  const { disk } = harness.storage;
  disk.flipBits(`blobs/${ref.sha256}`, 2 * MIB - 5, 1);
  const reader = log.openBlobReader(ref);
  let given = 0;
  const next = (): Uint8Array | null =>
    harness.wait<Uint8Array | null>((done) => reader.read(MIB, (error, one) => done(error, one)));
  assert.throws(
    () => {
      for (let part = next(); part !== null; part = next()) given += part.length;
    },
    (error: unknown) => error instanceof WalBlobError,
  );
  assert.is(given, MIB);
});

pieces('a blob just written is read from memory, once', () => {
  const { harness, log } = opened();
  const bytes = content(3 * MIB + 17);
  const ref = store(harness, log, bytes, MIB);
  harness.storage.disk.flipBits(`blobs/${ref.sha256}`, 5, 1);
  assert.ok(readAll(harness, log.openBlobReader(ref)).equals(bytes));
  assert.throws(
    () => readAll(harness, log.openBlobReader(ref)),
    (error: unknown) => error instanceof WalBlobError,
  );
});

pieces('a blob that came back from the disk is the same as the one in memory', () => {
  const { harness, log } = opened();
  const bytes = content(2 * MIB + 100);
  const ref = store(harness, log, bytes, 65_536);
  evictFromCache(log, ref);
  assert.ok(readAll(harness, log.openBlobReader(ref)).equals(bytes));
});

pieces('of blobs that nobody reads the latest 64 MiB stay in memory', () => {
  const { harness, log } = opened();
  const stored = Array.from({ length: 9 }, (_, i) =>
    store(harness, log, Buffer.alloc(8 * MIB, i + 1), 4 * MIB),
  );
  const isWarm = (ref: BlobRef): boolean => {
    let isThere = false;
    const reader = log.openBlobReader(ref);
    // What comes from the disk comes later.
    reader.read(1, () => {
      isThere = true;
    });
    const answer = isThere;
    harness.settle();
    reader.close();
    return answer;
  };
  assert.equal(stored.map(isWarm), [false, ...Array.from({ length: 8 }, () => true)]);
});

pieces('a blob larger than the room for it is written all the same, and takes no room', () => {
  const { harness, log } = opened();
  const large = store(harness, log, Buffer.alloc(65 * MIB, 7), 4 * MIB);
  const small = store(harness, log, content(MIB), MIB);
  let fromMemory = 0;
  log.openBlobReader(large).read(1, () => {
    fromMemory += 1;
  });
  log.openBlobReader(small).read(1, () => {
    fromMemory += 10;
  });
  assert.is(fromMemory, 10);
  harness.settle();
});

pieces('memory is used again once its pieces came back, and not before', () => {
  const { harness, log } = opened();
  const first = content(MIB);
  const ref = store(harness, log, first, MIB);
  const reader = log.openBlobReader(ref);
  const part = harness.wait<Uint8Array | null>((done) => reader.read(MIB, (error, one) => done(error, one)));
  if (part === null) throw new Error('there is a first piece');
  store(harness, log, Buffer.alloc(3 * MIB, 9), MIB);
  assert.ok(first.equals(part), 'a piece on its way was overwritten');
  reader.release(part);
  reader.close();
  store(harness, log, Buffer.alloc(3 * MIB, 9), MIB);
  assert.is(part[0], 9, 'released memory was not used again');
});

pieces('readers that end early give back the room they took', () => {
  const { harness, log } = opened();
  for (let i = 0; i < 20; i += 1) {
    const ref = store(harness, log, Buffer.alloc(8 * MIB, i + 1), 4 * MIB);
    const reader = log.openBlobReader(ref);
    let chunk: Uint8Array | null = null;
    reader.read(100_000, (_error, one) => {
      chunk = one;
    });
    assert.ok(chunk !== null, `blob ${i} was not in memory`);
    reader.close();
    // Comes late, as from a connection that writes its last bytes.
    if (i % 2 === 0) reader.release(chunk);
  }
});

pieces('a blob that was released goes with the second snapshot, one that is still to be named stays', () => {
  const { harness, log } = opened();
  const released = store(harness, log, content(10_000), 4_096);
  const awaited = store(harness, log, content(20_000), 4_096);
  log.releaseBlob(released);
  for (const text of ['one', 'two', 'three']) {
    log.append(Buffer.from(text));
    harness.wait((done) => log.makeSnapshot(done));
    harness.settle();
  }
  assert.equal(harness.storage.disk.list('blobs'), [awaited.sha256]);
});

pieces.run();
