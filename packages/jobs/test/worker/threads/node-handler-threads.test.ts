// timeout: 120s

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { type EmbeddedJobs, handle, JobFailedError, type JobFailure } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectClient, embedded, startLeader, startWorker } from '../../checked-processes.js';
import { tempFolder } from '../../temp-folder.js';
import {
  badModel,
  bulk,
  burn,
  count,
  crashing,
  double,
  echo,
  exhaust,
  exit,
  fail,
  lastAbortOf,
  limited,
  model,
  sentByBulk,
  shared,
  sharedExit,
  sharedSpin,
  spin,
  spinLimited,
  wait,
  whereAmI,
} from './thread-handlers.js';

const threads = suite('handlers on threads');

const handlers = new URL('./thread-handlers.js', import.meta.url);

interface Rig extends AsyncDisposable {
  readonly app: EmbeddedJobs;
  readonly client: ReturnType<EmbeddedJobs['client']>;
}

async function rig(count: number, more: { slots?: number; graceMs?: number } = {}): Promise<Rig> {
  const folder = await tempFolder();
  const app = await embedded({ dir: folder.path });
  const { graceMs = 50, ...settings } = more;
  const resourceLimits = { maxOldGenerationSizeMb: 64 };
  const worker = app.worker({ handlers, threads: { count, graceMs, resourceLimits }, ...settings });
  await worker.ready();
  return {
    app,
    client: app.client(),
    async [Symbol.asyncDispose]() {
      await app.close({ withinMs: 0 });
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function failureOf(run: Promise<unknown>): Promise<JobFailure> {
  try {
    await run;
  } catch (error) {
    if (error instanceof JobFailedError && error.failure !== undefined) return error.failure;
    throw error;
  }
  throw new Error('the job did not fail');
}

function until(holds: () => Promise<boolean>): Promise<void> {
  return new Promise((resolve, reject) => {
    const check = (): void => {
      holds().then((does) => (does ? resolve() : setTimeout(check, 10)), reject);
    };
    check();
  });
}

threads('a handler runs on a thread of its own, with input, output and result as inline', async () => {
  await using one = await rig(1);
  assert.is(await one.client.run(double, 21), 42);
  assert.is.not(await one.client.run(whereAmI, null), threadId);
});

threads('two handlers that compute run at once', async () => {
  await using two = await rig(2);
  await Promise.all([two.client.run(whereAmI, null), two.client.run(whereAmI, null)]);
  const jobs = [await two.client.submit(burn, 600), await two.client.submit(burn, 600)];
  const overview = async (): Promise<number> => (await two.app.overview()).workers[0]?.running ?? 0;
  await until(async () => (await overview()) === 2);
  for (const job of jobs) await job.result();
});

threads('the event loop of the worker goes on while a handler computes', async () => {
  await using one = await rig(1);
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 10);
  await one.client.run(burn, 300);
  clearInterval(timer);
  assert.ok(ticks > 5, `${ticks} ticks`);
});

threads('the thread of a cancelled endless loop is ended, and its slot is free again', async () => {
  await using one = await rig(1);
  const job = await one.client.submit(spin, null);
  await until(async () => (await job.inspect()).state === 'running');
  await job.cancel();
  assert.is(await one.client.run(double, 1), 2);
  const [worker] = (await one.app.overview()).workers;
  assert.equal([worker?.running, worker?.overrun], [0, 0]);
});

threads('a handler past its run time fails, and its thread is replaced', async () => {
  await using one = await rig(1);
  const before = await one.client.run(whereAmI, null);
  const failure = await failureOf(one.client.run(spinLimited, null));
  assert.is(failure.name, 'RunTimeExceeded');
  assert.is.not(await one.client.run(whereAmI, null), before);
});

threads('a handler that reacts to its signal within the grace keeps its thread', async () => {
  await using one = await rig(1, { graceMs: 5_000 });
  const before = await one.client.run(whereAmI, null);
  const job = await one.client.submit(wait, null);
  await until(async () => (await job.inspect()).state === 'running');
  await job.cancel();
  assert.is(await one.client.run(lastAbortOf, null), 'cancelled');
  assert.is(await one.client.run(whereAmI, null), before);
});

threads('process.exit in a handler is a failed attempt with its exit code', async () => {
  await using one = await rig(1);
  const failure = await failureOf(one.client.run(exit, 3));
  assert.is(failure.code, 'ERR_THREAD_ENDED');
  assert.match(failure.message, /exit code 3/);
  assert.is(await one.client.run(double, 2), 4);
});

threads('a handler that runs out of memory is a failed attempt, and the process goes on', async () => {
  await using one = await rig(1);
  const failure = await failureOf(one.client.run(exhaust, null));
  assert.is(failure.code, 'ERR_THREAD_MEMORY');
  assert.is(await one.client.run(double, 3), 6);
});

threads('an error crosses with its name, stack and cause', async () => {
  await using one = await rig(1);
  const failure = await failureOf(one.client.run(fail, 'not today'));
  assert.is(failure.name, 'NonRetryableError');
  assert.is(failure.message, 'not today');
  assert.match(failure.stack ?? '', /thread-handlers/);
  assert.is(failure.cause?.name, 'RangeError');
});

threads('handlers that share run beside each other on one thread', async () => {
  await using one = await rig(1, { slots: 8 });
  const before = performance.now();
  const on = await Promise.all(Array.from({ length: 8 }, () => one.client.run(shared, 200)));
  assert.is(new Set(on).size, 1);
  assert.ok(performance.now() - before < 1_200, 'one after the other');
});

threads('an attempt on the ended thread of another is handed back uncounted', async () => {
  await using one = await rig(1, { slots: 4 });
  // One attempt only: a counted one would be the end of the job.
  const innocent = await one.client.submit(shared, 500);
  const failure = await failureOf(one.client.run(sharedSpin, null));
  assert.is(failure.name, 'RunTimeExceeded');
  assert.type(await innocent.result(), 'number');
});

threads('of a shared thread that ended by itself only the culprit fails: it runs alone next', async () => {
  await using one = await rig(1, { slots: 4 });
  const innocent = await one.client.submit(shared, 400);
  const failure = await failureOf(one.client.run(sharedExit, 30));
  assert.match(failure.message, /exit code 7/);
  assert.type(await innocent.result(), 'number');
});

threads(
  'a handler on a thread streams: chunks in order, collected output, trailer and progress',
  async () => {
    await using one = await rig(1);
    const job = await one.client.stream(count, 2_000);
    const items: string[] = [];
    let next = 0;
    for await (const item of job.items()) {
      if (item.kind === 'data' && item.offset === next && item.chunk === next) next += 1;
      else if (item.kind === 'end') items.push(JSON.stringify(item.metadata));
      else items.push(item.kind);
    }
    assert.equal([next, items], [2_000, ['{"counted":2000}']]);
    assert.is((await job.result()).length, 2_000);
    const progress = await job.progress();
    assert.equal([progress?.share, progress?.note, progress?.lines[0]?.text], [1, 'counted', 'done']);
    assert.equal(await one.client.run(count, 3), [0, 1, 2]);
  },
);

threads(
  'a reader that does not read stops the handler on its thread; it goes on with the reader',
  async () => {
    await using one = await rig(1, { slots: 4 });
    const chunks = 2_000;
    const job = await one.client.submit(bulk, chunks, { streaming: true, stream: { whenUnread: 'wait' } });
    const reader = job.stream();
    await reader.next();
    let before = -1;
    await until(async () => {
      const now = await one.client.run(sentByBulk, null);
      const isStill = now > 10 && now === before;
      before = now;
      return isStill;
    });
    // Less than a quarter of the 20 MB: windows of thread, worker, leader and reader.
    assert.ok(before < chunks / 4, `${before} of ${chunks} chunks were given`);
    let read = 1;
    for await (const _ of reader) read += 1;
    assert.is(read, chunks);
    assert.is(await job.result(), chunks);
  },
);

threads('a cancelled stream on a thread ends its generator, and the thread goes on', async () => {
  await using one = await rig(1, { graceMs: 5_000 });
  const before = await one.client.run(whereAmI, null);
  const job = await one.client.stream(bulk, 1_000_000);
  await job.cancel();
  assert.is(await one.client.run(whereAmI, null), before);
});

threads('a handler on a thread is fed', async () => {
  await using one = await rig(1);
  const job = await one.client.submit(echo, null, { streaming: true });
  const words = ['to', 'be', 'or', 'not'];
  const read: string[] = [];
  const reading = (async () => {
    for await (const word of job) read.push(word);
  })();
  for (const word of words) await job.feed(word);
  await job.endFeed();
  await reading;
  assert.equal(read, ['TO', 'BE', 'OR', 'NOT']);
  assert.is(await job.result(), 'TOBEORNOT');
});

threads('silence between chunks ends an attempt on a thread, with readers and without', async () => {
  await using one = await rig(1);
  for (const mode of ['wait', 'compute'])
    for (const streaming of [undefined, true] as const) {
      const job = await one.client.submit(limited, mode, { streaming });
      assert.is((await failureOf(job.result())).name, 'SilenceExceeded');
    }
});

threads('a handler on a thread is not silent while it waits for its feed or for a reader', async () => {
  await using one = await rig(2);
  const beyondSilence = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 500));
  const fed = await one.client.submit(limited, 'feed', { streaming: true });
  const stream = { whenUnread: 'wait', bufferBytes: 128 * 1024 } as const;
  const unread = await one.client.submit(limited, 'bulk', { streaming: true, stream });
  await fed.ready;
  await beyondSilence();
  let read = 0;
  for await (const chunk of unread) {
    read += chunk === 'bulk' ? 0 : 1;
    if (read === 100) await unread.endFeed();
  }
  assert.is(await unread.result(), 'done');
  await fed.feed('late');
  await beyondSilence();
  await fed.endFeed();
  assert.is(await fed.result(), 'done');
});

threads(
  'a thread that ends in mid-stream is a reset, and the next attempt streams from its start',
  async () => {
    await using one = await rig(1);
    const job = await one.client.submit(crashing, 6, { streaming: true });
    const items: string[] = [];
    for await (const item of job.items())
      if (item.kind === 'data') items.push(`${item.attempt}.${item.chunk}`);
      else if (item.kind !== 'end') items.push(item.kind);
    const second = items.slice(items.indexOf('reset') + 1);
    assert.equal(
      second,
      [0, 1, 2, 3, 4, 5].map((n) => `2.${n}`),
    );
    assert.is(await job.result(), 'attempt 2');
  },
);

threads(
  'a warm runner on threads is loaded once per instance, on threads of its own, and recycled',
  async () => {
    await using three = await rig(3);
    const use = async () =>
      (await three.app.overview()).workers[0]?.runners?.find(({ runner }) => runner === model.exec);
    await using folder = await tempFolder();
    const released = join(folder.path, 'released');
    const ended = Promise.all(Array.from({ length: 8 }, () => three.client.run(model, `until ${released}`)));
    // Both instances hold a run, however long their threads take to start.
    await until(async () => (await use())?.held === 2);
    await writeFile(released, '');
    const names = await ended;
    assert.is(new Set(names).size, 2);
    assert.is(new Set(names.map((name) => name.split('/')[0])).size, 2);
    // The third thread is free for other jobs meanwhile.
    assert.is(await three.client.run(double, 2), 4);
    await until(async () => (await use())?.idle === 2);
    assert.equal([(await use())?.loads, (await use())?.runs], [2, 8]);
    await failureOf(three.client.run(model, 'fail'));
    await until(async () => (await use())?.recycled === 1);
    for (let i = 0; i < 20; i += 1) await three.client.run(model, 'quick');
    await until(async () => (await use())?.held === 0);
    const { loads = 0, recycled = 0, idle = 0, runs } = (await use()) ?? {};
    assert.equal([runs, loads], [29, recycled + idle]);
    assert.ok(recycled >= 2, `${recycled} recycled`);
  },
);

threads('an instance is gone with its thread, and its load is a failure of the attempt', async () => {
  await using one = await rig(1);
  const before = await one.client.run(model, 'quick');
  assert.is(await one.client.run(model, 'quick'), before);
  assert.match((await failureOf(one.client.run(model, 'exit'))).message, /exit code 5/);
  assert.is.not(await one.client.run(model, 'quick'), before);
  const failure = await failureOf(one.client.run(badModel, 'x'));
  assert.equal([failure.code, failure.cause?.message], ['ERR_RUNNER_LOAD', 'no memory']);
  assert.is(await one.client.run(double, 2), 4);
});

threads(
  'a drain signals the handlers, ends their threads after the grace, and releases the job',
  async () => {
    await using folder = await tempFolder();
    await using app = await embedded({ dir: folder.path });
    const worker = app.worker({ handlers, threads: { count: 1, graceMs: 20 } });
    const job = await app.client().submit(spin, null);
    await until(async () => (await job.inspect()).state === 'running');
    await worker.drain({ withinMs: 0 });
    assert.is((await job.inspect()).state, 'queued');
  },
);

threads('a worker over the network runs handlers on threads and starts no heartbeat thread', async () => {
  await using folder = await tempFolder();
  await using leader = await startLeader({
    dir: folder.path,
    auth: { kind: 'none' },
    onFatal: (error) => assert.unreachable(error.message),
  });
  const started: unknown[] = [];
  process.on('worker', (thread) => started.push(thread));
  const { address } = leader;
  const dial = { address, auth: { kind: 'none' } } as const;
  await using worker = await startWorker({ ...dial, name: 'w', handlers, threads: 2 });
  await using client = await connectClient(dial);
  assert.is(await client.run(double, 4), 8);
  assert.ok(worker.execs.includes('threads.double'));
  const { workers } = await client.overview();
  assert.is(workers[0]?.slots, 2);
  assert.is(started.length, 2);
  process.removeAllListeners('worker');
});

async function refusal(start: () => unknown): Promise<string> {
  try {
    await start();
    return 'none';
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${code}: ${message}`;
  }
}

threads('values with threads, a module without, and the entry of the program are refused', async () => {
  const dial = { address: { host: '127.0.0.1', port: 1 }, auth: { kind: 'none' }, name: 'w' } as const;
  const values = [handle(double, (n) => n)];
  assert.match(
    await refusal(() => startWorker({ ...dial, handlers: values, threads: 1 })),
    /^ERR_OPTION: startWorker\.handlers: .*new URL/,
  );
  assert.match(await refusal(() => startWorker({ ...dial, handlers })), /^ERR_OPTION: .*give threads too/);
  const entry = new URL(import.meta.url);
  assert.match(
    await refusal(() => startWorker({ ...dial, handlers: entry, threads: 1 })),
    /^ERR_OPTION: .*entry of this program/,
  );
  assert.match(
    await refusal(() => startWorker({ ...dial, handlers, threads: 0 })),
    /^ERR_JOB_DEFINITION: .*threads/,
  );
});

threads(
  'a module that cannot be imported, or exports no handler, rejects the start with the reason',
  async () => {
    await using folder = await tempFolder();
    await using app = await embedded({ dir: folder.path });
    const missing = app.worker({ handlers: new URL('./missing.js', import.meta.url), threads: 1 });
    assert.match(await refusal(() => missing.ready()), /^ERR_THREAD_START: .*missing\.js/);
    await missing.drain({ withinMs: 0 });
    const empty = app.worker({ handlers: new URL('../../temp-folder.js', import.meta.url), threads: 1 });
    assert.match(await refusal(() => empty.ready()), /^ERR_THREAD_START: .*exports no handler/);
    await empty.drain({ withinMs: 0 });
  },
);

threads.run();
