// timeout: 120s
// A thread that has built a snapshot stays for the next one, and for no longer than that.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import {
  type BuildRequest,
  type BuiltSnapshot,
  openWal,
  type SnapshotBuilder,
  type WalError,
} from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ThreadSnapshotBuilder } from '#src/snapshot/node-thread-snapshot-builder.js';
import { readSnapshot } from '#src/snapshot/snapshot-reader.js';
import { runCoroutine } from '#src/storage/coroutine.js';
import { nodeStorage } from '#src/storage/node-storage.js';
import { tempDirectory } from '../temp-directory.js';
import { type FailingFoldState, failingFold } from './failing-fold.js';

const warm = suite('warm thread');
const FOLD = { module: new URL('./failing-fold.js', import.meta.url).href, export: 'failingFold' };
const NEVER_IDLE = { idleMs: 3_600_000 };

/** Threads of this process, in the order of their start. */
function watchThreads(): Disposable & { readonly started: Worker[]; ended(index: number): Promise<void> } {
  const started: Worker[] = [];
  const ends: Promise<unknown>[] = [];
  const watch = (worker: Worker): void => {
    started.push(worker);
    ends.push(new Promise((resolve) => worker.once('exit', resolve)));
  };
  process.on('worker', watch);
  return {
    started,
    async ended(index) {
      // A thread without work keeps no process alive, so the wait for its end has to.
      const waiting = setInterval(() => undefined, 1_000);
      await ends[index];
      clearInterval(waiting);
    },
    [Symbol.dispose]: () => void process.off('worker', watch),
  };
}

/** A log whose records are all sealed, and in no snapshot. */
async function directoryWithLog(...records: string[]): ReturnType<typeof tempDirectory> {
  const directory = await tempDirectory();
  const idler: SnapshotBuilder = { build: (_request, done) => done(new Error('idle'), undefined as never) };
  const wal = await openWal({ dir: directory.path, freeBytesSoft: 0, snapshotBuilder: idler });
  for (const record of records) await wal.append(Buffer.from(record));
  await wal.snapshot().catch(() => undefined); // What is to be folded is sealed first.
  await wal.close();
  return directory;
}

function build(builder: ThreadSnapshotBuilder, request: BuildRequest): Promise<BuiltSnapshot> {
  return new Promise((resolve, reject) => {
    let answers = 0;
    builder.build(request, (error, snapshot) => {
      answers += 1;
      assert.is(answers, 1);
      if (error === null) resolve(snapshot);
      else reject(error);
    });
  });
}

function stateIn(dir: string, tempName: string): Promise<FailingFoldState> {
  const state = failingFold.empty();
  const read = readSnapshot(nodeStorage(dir), tempName, (_kind, chunk) => failingFold.restore(state, chunk));
  return new Promise((resolve, reject) => {
    runCoroutine(read, (error) => (error === null ? resolve(state) : reject(error)));
  });
}

warm('the next snapshot is made on the thread of the one before', async () => {
  await using directory = await directoryWithLog('a', 'b');
  using threads = watchThreads();
  const builder = new ThreadSnapshotBuilder(directory.path, FOLD);
  await build(builder, { lsn: 1, tempName: 'first' });
  await build(builder, { lsn: 2, tempName: 'second' });
  assert.equal(await stateIn(directory.path, 'first'), { lastLsn: 1, savedHere: 1 });
  assert.equal(await stateIn(directory.path, 'second'), { lastLsn: 2, savedHere: 2 });
  assert.is(threads.started.length, 1);
  builder.close();
});

warm('a thread without work ends after a while, and another takes its place', async () => {
  await using directory = await directoryWithLog('a');
  using threads = watchThreads();
  const builder = new ThreadSnapshotBuilder(directory.path, FOLD, { idleMs: 1 });
  await build(builder, { lsn: 1, tempName: 'first' });
  await threads.ended(0);
  await build(builder, { lsn: 1, tempName: 'second' });
  await threads.ended(1);
  assert.equal(await stateIn(directory.path, 'second'), { lastLsn: 1, savedHere: 1 });
});

warm('a thread ends with a large snapshot', async () => {
  await using directory = await directoryWithLog('a');
  using threads = watchThreads();
  const builder = new ThreadSnapshotBuilder(directory.path, FOLD, { ...NEVER_IDLE, reuseBytesMax: 1 });
  await build(builder, { lsn: 1, tempName: 'first' });
  await threads.ended(0);
});

warm('a request while another is under way has a thread of its own, and one of the two stays', async () => {
  await using directory = await directoryWithLog('a', 'b', 'c');
  using threads = watchThreads();
  const builder = new ThreadSnapshotBuilder(directory.path, FOLD, NEVER_IDLE);
  await build(builder, { lsn: 1, tempName: 'first' });
  await Promise.all([
    build(builder, { lsn: 2, tempName: 'second' }),
    build(builder, { lsn: 3, tempName: 'third' }),
  ]);
  assert.equal(await stateIn(directory.path, 'second'), { lastLsn: 2, savedHere: 2 });
  assert.equal(await stateIn(directory.path, 'third'), { lastLsn: 3, savedHere: 1 });
  await Promise.race([threads.ended(0), threads.ended(1)]);
  await build(builder, { lsn: 3, tempName: 'fourth' });
  assert.is(threads.started.length, 2);
  builder.close();
  await Promise.all([threads.ended(0), threads.ended(1)]);
});

for (const [deed, reason] of [
  ['throw', /as it was told/],
  ['crash', /the thread failed/],
  ['exit', /the thread ended with 3/],
] as const) {
  warm(`a thread whose fold failed (${deed}) is not used again`, async () => {
    await using directory = await directoryWithLog('a', deed);
    using threads = watchThreads();
    const builder = new ThreadSnapshotBuilder(directory.path, FOLD, NEVER_IDLE);
    await build(builder, { lsn: 1, tempName: 'first' });
    const failure = await build(builder, { lsn: 2, tempName: 'second' }).catch((error: WalError) => error);
    assert.is((failure as WalError).code, 'ERR_WAL_SNAPSHOT');
    assert.match((failure as WalError).message, reason);
    await threads.ended(0);
    await build(builder, { lsn: 1, tempName: 'third' });
    assert.equal(await stateIn(directory.path, 'third'), { lastLsn: 1, savedHere: 1 });
    assert.is(threads.started.length, 2);
    builder.close();
  });
}

warm('a thread that ended without work is not used again', async () => {
  await using directory = await directoryWithLog('a');
  using threads = watchThreads();
  const builder = new ThreadSnapshotBuilder(directory.path, FOLD, NEVER_IDLE);
  await build(builder, { lsn: 1, tempName: 'first' });
  await threads.started[0]?.terminate();
  await build(builder, { lsn: 1, tempName: 'second' });
  assert.is(threads.started.length, 2);
  builder.close();
});

warm('a module that never finishes loading fails the snapshot', async () => {
  await using directory = await directoryWithLog('a');
  const module = new URL('./never-loading-module.js', import.meta.url).href;
  const builder = new ThreadSnapshotBuilder(directory.path, { ...FOLD, module }, NEVER_IDLE);
  const failure = await build(builder, { lsn: 1, tempName: 'first' }).catch((error: WalError) => error);
  assert.match((failure as WalError).message, /the thread ended with 13/);
});

warm('closing ends a thread without work now, and one at work with its answer', async () => {
  await using directory = await directoryWithLog('a');
  using threads = watchThreads();
  const builder = new ThreadSnapshotBuilder(directory.path, FOLD, NEVER_IDLE);
  await build(builder, { lsn: 1, tempName: 'first' });
  const second = build(builder, { lsn: 1, tempName: 'second' });
  builder.close();
  await second;
  assert.is((await stateIn(directory.path, 'second')).savedHere, 2);
  await threads.ended(0);
});

warm('a log that is closed ends the thread that made its snapshots', async () => {
  await using directory = await tempDirectory();
  using threads = watchThreads();
  const wal = await openWal({ dir: directory.path, freeBytesSoft: 0, fold: FOLD });
  for (const record of ['a', 'b']) {
    await wal.append(Buffer.from(record));
    await wal.snapshot();
  }
  assert.is((await wal.restore(failingFold)).savedHere, 2);
  const startedAt = performance.now();
  await wal.close();
  await threads.ended(0);
  assert.ok(performance.now() - startedAt < 5_000, 'long before it would have ended by itself');
});

warm('a thread keeps its process alive while it works, and no longer', async () => {
  await using directory = await directoryWithLog('a');
  const program = fileURLToPath(new URL('./build-two-snapshots.js', import.meta.url));
  const child = spawn(process.execPath, [program, directory.path, FOLD.module], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 30_000,
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  assert.is(output, 'first\nsecond\n');
  assert.is(code, 0);
});

warm.run();
