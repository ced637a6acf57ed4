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

const streaming = suite('blob streaming');
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

/** Content without equal neighbours or equal blocks. */
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

streaming('a blob written in chunks of any size equals one stored with `putBlob`', () => {
  const { harness, log } = opened();
  const bytes = content(3 * MIB + 17);
  const whole = harness.wait<BlobRef>((done) => log.putBlob(bytes, done));
  for (const chunk of [64 * 1024, MIB, 4 * MIB, 777_777]) {
    assert.equal(store(harness, log, bytes, chunk), whole, `chunks of ${chunk} bytes`);
  }
  assert.equal(harness.storage.disk.list('blobs').length, 1);
  assert.ok(readAll(harness, log.openBlobReader(whole)).equals(bytes));
});

streaming('an aborted writer leaves no file', () => {
  const { harness, log } = opened();
  const writer = writerOf(log);
  writer.write(content(2 * MIB), () => undefined);
  writer.abort();
  harness.settle();
  assert.equal(harness.storage.disk.list('blobs'), []);
});

streaming('a chunk waits only while two blocks are full', () => {
  const { harness, log } = opened();
  const writer = writerOf(log);
  const taken: number[] = [];
  for (let i = 0; i < 4; i += 1) writer.write(content(MIB), () => taken.push(i));
  assert.ok(taken.length < 2, `${taken.length} were taken before anything was written`);
  harness.settle();
  assert.equal(taken, [0, 1, 2, 3]);
});

/** Takes a blob out of the cache, so that it is read from its file. */
function evictFromCache(log: Log, ref: BlobRef): void {
  log.openBlobReader(ref).close();
}

streaming('the last chunk of a damaged blob is not returned', () => {
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

streaming('a blob just written is read from the cache, once', () => {
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

streaming('a blob read from the disk equals the one in the cache', () => {
  const { harness, log } = opened();
  const bytes = content(2 * MIB + 100);
  const ref = store(harness, log, bytes, 65_536);
  evictFromCache(log, ref);
  assert.ok(readAll(harness, log.openBlobReader(ref)).equals(bytes));
});

streaming('the latest 64 MiB of unread blobs stay in the cache', () => {
  const { harness, log } = opened();
  const stored = Array.from({ length: 9 }, (_, i) =>
    store(harness, log, Buffer.alloc(8 * MIB, i + 1), 4 * MIB),
  );
  const isCached = (ref: BlobRef): boolean => {
    let isThere = false;
    const reader = log.openBlobReader(ref);
    // A read from the disk completes later.
    reader.read(1, () => {
      isThere = true;
    });
    const answer = isThere;
    harness.settle();
    reader.close();
    return answer;
  };
  assert.equal(stored.map(isCached), [false, ...Array.from({ length: 8 }, () => true)]);
});

streaming('a blob larger than the cache is written and not cached', () => {
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

streaming('memory is reused only after its chunks were released', () => {
  const { harness, log } = opened();
  const first = content(MIB);
  const ref = store(harness, log, first, MIB);
  const reader = log.openBlobReader(ref);
  const part = harness.wait<Uint8Array | null>((done) => reader.read(MIB, (error, one) => done(error, one)));
  if (part === null) throw new Error('no first chunk');
  store(harness, log, Buffer.alloc(3 * MIB, 9), MIB);
  assert.ok(first.equals(part), 'a chunk in use was overwritten');
  reader.release(part);
  reader.close();
  store(harness, log, Buffer.alloc(3 * MIB, 9), MIB);
  assert.is(part[0], 9, 'released memory was not reused');
});

streaming('a reader that is closed early frees its room in the cache', () => {
  const { harness, log } = opened();
  for (let i = 0; i < 20; i += 1) {
    const ref = store(harness, log, Buffer.alloc(8 * MIB, i + 1), 4 * MIB);
    const reader = log.openBlobReader(ref);
    let chunk: Uint8Array | null = null;
    reader.read(100_000, (_error, one) => {
      chunk = one;
    });
    assert.ok(chunk !== null, `blob ${i} was not in the cache`);
    reader.close();
    // A release after the close, as from a connection that writes its last bytes.
    if (i % 2 === 0) reader.release(chunk);
  }
});

streaming(
  'a released blob is removed after the second snapshot, one that waits for its record is kept',
  () => {
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
  },
);

streaming.run();
