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
import { tempFolder } from '../temp-directory.js';
import { type ObedientState, obedientFold } from './failing-fold.js';

const warm = suite('warm thread');
const FOLD = { module: new URL('./failing-fold.js', import.meta.url).href, export: 'obedientFold' };
const LASTING = { idleMs: 3_600_000 };

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
async function logOf(...records: string[]): ReturnType<typeof tempFolder> {
  const folder = await tempFolder();
  const idler: SnapshotBuilder = { build: (_request, done) => done(new Error('idle'), undefined as never) };
  const wal = await openWal({ dir: folder.path, freeBytesSoft: 0, snapshotBuilder: idler });
  for (const record of records) await wal.append(Buffer.from(record));
  await wal.snapshot().catch(() => undefined); // What is to be folded is sealed first.
  await wal.close();
  return folder;
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

function stateIn(dir: string, draft: string): Promise<ObedientState> {
  const state = obedientFold.empty();
  const read = readSnapshot(nodeStorage(dir), draft, (_kind, chunk) => obedientFold.restore(state, chunk));
  return new Promise((resolve, reject) => {
    runCoroutine(read, (error) => (error === null ? resolve(state) : reject(error)));
  });
}

warm('the next snapshot is made on the thread of the one before', async () => {
  await using folder = await logOf('a', 'b');
  using threads = watchThreads();
  const builder = new ThreadSnapshotBuilder(folder.path, FOLD);
  await build(builder, { lsn: 1, draft: 'first' });
  await build(builder, { lsn: 2, draft: 'second' });
  assert.equal(await stateIn(folder.path, 'first'), { lastLsn: 1, savedHere: 1 });
  assert.equal(await stateIn(folder.path, 'second'), { lastLsn: 2, savedHere: 2 });
  assert.is(threads.started.length, 1);
  builder.close();
});

warm('a thread without work ends after a while, and another takes its place', async () => {
  await using folder = await logOf('a');
  using threads = watchThreads();
  const builder = new ThreadSnapshotBuilder(folder.path, FOLD, { idleMs: 1 });
  await build(builder, { lsn: 1, draft: 'first' });
  await threads.ended(0);
  await build(builder, { lsn: 1, draft: 'second' });
  await threads.ended(1);
  assert.equal(await stateIn(folder.path, 'second'), { lastLsn: 1, savedHere: 1 });
});

warm('a thread ends with a large snapshot', async () => {
  await using folder = await logOf('a');
  using threads = watchThreads();
  const builder = new ThreadSnapshotBuilder(folder.path, FOLD, { ...LASTING, stayBytesMax: 1 });
  await build(builder, { lsn: 1, draft: 'first' });
  await threads.ended(0);
});

warm('a request while another is under way has a thread of its own, and one of the two stays', async () => {
  await using folder = await logOf('a', 'b', 'c');
  using threads = watchThreads();
  const builder = new ThreadSnapshotBuilder(folder.path, FOLD, LASTING);
  await build(builder, { lsn: 1, draft: 'first' });
  await Promise.all([
    build(builder, { lsn: 2, draft: 'second' }),
    build(builder, { lsn: 3, draft: 'third' }),
  ]);
  assert.equal(await stateIn(folder.path, 'second'), { lastLsn: 2, savedHere: 2 });
  assert.equal(await stateIn(folder.path, 'third'), { lastLsn: 3, savedHere: 1 });
  await Promise.race([threads.ended(0), threads.ended(1)]);
  await build(builder, { lsn: 3, draft: 'fourth' });
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
    await using folder = await logOf('a', deed);
    using threads = watchThreads();
    const builder = new ThreadSnapshotBuilder(folder.path, FOLD, LASTING);
    await build(builder, { lsn: 1, draft: 'first' });
    const failure = await build(builder, { lsn: 2, draft: 'second' }).catch((error: WalError) => error);
    assert.is((failure as WalError).code, 'ERR_WAL_SNAPSHOT');
    assert.match((failure as WalError).message, reason);
    await threads.ended(0);
    await build(builder, { lsn: 1, draft: 'third' });
    assert.equal(await stateIn(folder.path, 'third'), { lastLsn: 1, savedHere: 1 });
    assert.is(threads.started.length, 2);
    builder.close();
  });
}

warm('a thread that ended without work is not used again', async () => {
  await using folder = await logOf('a');
  using threads = watchThreads();
  const builder = new ThreadSnapshotBuilder(folder.path, FOLD, LASTING);
  await build(builder, { lsn: 1, draft: 'first' });
  await threads.started[0]?.terminate();
  await build(builder, { lsn: 1, draft: 'second' });
  assert.is(threads.started.length, 2);
  builder.close();
});

warm('a module that never finishes loading fails the snapshot', async () => {
  await using folder = await logOf('a');
  const module = new URL('./never-loading-module.js', import.meta.url).href;
  const builder = new ThreadSnapshotBuilder(folder.path, { ...FOLD, module }, LASTING);
  const failure = await build(builder, { lsn: 1, draft: 'first' }).catch((error: WalError) => error);
  assert.match((failure as WalError).message, /the thread ended with 13/);
});

warm('closing ends a thread without work now, and one at work with its answer', async () => {
  await using folder = await logOf('a');
  using threads = watchThreads();
  const builder = new ThreadSnapshotBuilder(folder.path, FOLD, LASTING);
  await build(builder, { lsn: 1, draft: 'first' });
  const second = build(builder, { lsn: 1, draft: 'second' });
  builder.close();
  await second;
  assert.is((await stateIn(folder.path, 'second')).savedHere, 2);
  await threads.ended(0);
});

warm('a log that is closed ends the thread that made its snapshots', async () => {
  await using folder = await tempFolder();
  using threads = watchThreads();
  const wal = await openWal({ dir: folder.path, freeBytesSoft: 0, fold: FOLD });
  for (const record of ['a', 'b']) {
    await wal.append(Buffer.from(record));
    await wal.snapshot();
  }
  assert.is((await wal.restore(obedientFold)).savedHere, 2);
  const startedAt = performance.now();
  await wal.close();
  await threads.ended(0);
  assert.ok(performance.now() - startedAt < 5_000, 'long before it would have ended by itself');
});

warm('a thread keeps its process alive while it works, and no longer', async () => {
  await using folder = await logOf('a');
  const program = fileURLToPath(new URL('./build-two-snapshots.js', import.meta.url));
  const child = spawn(process.execPath, [program, folder.path, FOLD.module], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 30_000,
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  assert.is(output, 'first\nsecond\n');
  assert.is(code, 0);
});

warm.run();
