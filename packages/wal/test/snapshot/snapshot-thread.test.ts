// timeout: 120s
// Snapshots on a worker thread, on the real file system.
import { openWal } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { payloadFor, sequenceCheckFold } from '../kill/sequence-check-fold.js';
import { tempDirectory } from '../temp-directory.js';

const threads = suite('snapshot thread');
const FOLD = {
  module: new URL('../kill/sequence-check-fold.js', import.meta.url).href,
  export: 'sequenceCheckFold',
};

threads('a snapshot is made during appends, and recovery starts from it', async () => {
  await using directory = await tempDirectory();
  const options = {
    dir: directory.path,
    segmentBytes: 65_536,
    firstSegmentBytes: 65_536,
    freeBytesSoft: 0,
    fold: FOLD,
  };
  const wal = await openWal(options);
  let next = 1;
  const append = async (count: number): Promise<void> => {
    const waiting: Promise<number>[] = [];
    for (let index = 0; index < count; index += 1) {
      waiting.push(wal.append(payloadFor(next)));
      next += 1;
    }
    await Promise.all(waiting);
  };
  await append(500);
  const [entry] = await Promise.all([wal.snapshot(), append(500)]);
  assert.ok(entry.lsn >= 500);
  const live = await wal.restore(sequenceCheckFold);
  await wal.close();

  await using again = await openWal(options);
  assert.is(again.log.snapshot?.lsn, entry.lsn);
  const state = await again.restore(sequenceCheckFold);
  assert.is(state.lastLsn, 1_000);
  assert.is(state.digest, live.digest);
});

threads('a fold that is missing or throws fails the snapshot, not the log', async () => {
  await using directory = await tempDirectory();
  for (const fold of [
    { ...FOLD, export: 'payloadFor' },
    { ...FOLD, module: 'file:///nowhere.js' },
  ]) {
    await using wal = await openWal({ dir: directory.path, freeBytesSoft: 0, fold });
    await wal.append(Buffer.from('unexpected by the fold'));
    const failure = await wal.snapshot().then(
      () => undefined,
      (error: Error) => error,
    );
    assert.is((failure as { code?: string } | undefined)?.code, 'ERR_WAL_SNAPSHOT');
    await wal.append(Buffer.from('still here'));
  }
  await using wal = await openWal({ dir: directory.path, freeBytesSoft: 0, fold: FOLD });
  const failure = await wal.snapshot().then(
    () => undefined,
    (error: Error) => error,
  );
  assert.match(failure?.message ?? '', /lsn 1 holds/);
});

threads.run();
