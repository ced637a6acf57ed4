// timeout: 120s
// The snapshot thread is reused for the next snapshot and ends when it is idle for too long.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
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

const reuse = suite('snapshot thread reuse');
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
      // An idle thread does not keep the process alive, so this interval does.
      const waiting = setInterval(() => undefined, 1_000);
      await ends[index];
      clearInterval(waiting);
    },
    [Symbol.dispose]: () => void process.off('worker', watch),
  };
}

/** The directory of a closed log whose records are all sealed and in no snapshot. */
async function directoryWithLog(...records: string[]): ReturnType<typeof tempDirectory> {
  const directory = await tempDirectory();
  const refusing: SnapshotBuilder = {
    build: (_request, done) => done(new Error('refused'), undefined as never),
  };
  const wal = await openWal({ dir: directory.path, freeBytesSoft: 0, snapshotBuilder: refusing });
  for (const record of records) await wal.append(Buffer.from(record));
  await wal.snapshot().catch(() => undefined); // The failed snapshot seals the records.
  await wal.close();
  return directory;
}

function build(builder: ThreadSnapshotBuilder, request: BuildRequest): Promise<BuiltSnapshot> {
  return new Promise((resolve, reject) => {
    let replies = 0;
    builder.build(request, (error, snapshot) => {
      replies += 1;
      assert.is(replies, 1);
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

reuse('the next snapshot is built on the same thread', async () => {
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

reuse('an idle thread ends after `idleMs`, and the next snapshot gets a new one', async () => {
  await using directory = await directoryWithLog('a');
  using threads = watchThreads();
  const builder = new ThreadSnapshotBuilder(directory.path, FOLD, { idleMs: 1 });
  await build(builder, { lsn: 1, tempName: 'first' });
  await threads.ended(0);
  await build(builder, { lsn: 1, tempName: 'second' });
  await threads.ended(1);
  assert.equal(await stateIn(directory.path, 'second'), { lastLsn: 1, savedHere: 1 });
});

reuse('a thread ends after a snapshot above `reuseBytesMax`', async () => {
  await using directory = await directoryWithLog('a');
  using threads = watchThreads();
  const builder = new ThreadSnapshotBuilder(directory.path, FOLD, { ...NEVER_IDLE, reuseBytesMax: 1 });
  await build(builder, { lsn: 1, tempName: 'first' });
  await threads.ended(0);
});

reuse('concurrent requests get a thread each, of which one is kept', async () => {
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

for (const [fault, reason] of [
  ['throw', /thrown by the fold/],
  ['crash', /the thread failed/],
  ['exit', /the thread ended with 3/],
] as const) {
  reuse(`a thread whose fold failed (${fault}) is not reused`, async () => {
    await using directory = await directoryWithLog('a', fault);
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

reuse('a thread that ended while idle is not reused', async () => {
  await using directory = await directoryWithLog('a');
  using threads = watchThreads();
  const builder = new ThreadSnapshotBuilder(directory.path, FOLD, NEVER_IDLE);
  await build(builder, { lsn: 1, tempName: 'first' });
  await threads.started[0]?.terminate();
  await build(builder, { lsn: 1, tempName: 'second' });
  assert.is(threads.started.length, 2);
  builder.close();
});

reuse('a module that never finishes loading fails the snapshot', async () => {
  await using directory = await directoryWithLog('a');
  const module = new URL('./never-loading-module.js', import.meta.url).href;
  const builder = new ThreadSnapshotBuilder(directory.path, { ...FOLD, module }, NEVER_IDLE);
  const failure = await build(builder, { lsn: 1, tempName: 'first' }).catch((error: WalError) => error);
  assert.match((failure as WalError).message, /the thread ended with 0/);
});

reuse('`close` ends idle and busy threads, and a busy one writes nothing after that', async () => {
  await using directory = await directoryWithLog('a');
  using threads = watchThreads();
  const builder = new ThreadSnapshotBuilder(directory.path, FOLD, NEVER_IDLE);
  await build(builder, { lsn: 1, tempName: 'first' });
  const second = build(builder, { lsn: 1, tempName: 'second' }).then(String, String);
  builder.close();
  await new Promise<void>((resolve) => builder.whenEnded(resolve));
  const left = (await readdir(directory.path)).sort();
  assert.match(await second, /the thread ended with 1 before it was done/);
  await threads.ended(0);
  assert.equal((await readdir(directory.path)).sort(), left);
});

reuse('closing a log ends its snapshot thread', async () => {
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
  assert.ok(performance.now() - startedAt < 5_000, 'long before its idle time is over');
});

reuse('a busy thread keeps its process alive, an idle one does not', async () => {
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

reuse.run();
