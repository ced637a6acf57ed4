import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Client,
  defineJob,
  handle,
  type JobsEvent,
  LogDiskTooSmallError,
  NonRetryableError,
} from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { embedded } from '../checked-processes.js';
import { aNumber, anything, aString } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';

const jobs = suite('embedded');

const retry = { attempts: 3, baseMs: 1, capMs: 5, jitter: 0 };
const double = defineJob('math.double', { input: aNumber, output: aNumber, retry });
const echo = defineJob('text.echo', { input: aString, output: aString, retry });

function signal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** The code of what a promise is rejected with, or 'none'. */
async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'none';
  } catch (error) {
    return String((error as { code?: unknown }).code);
  }
}

jobs('a job runs, its result is typed, and its receipt states that it is durable', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const client = app.client();
  app.worker({ handlers: [handle(double, (n) => n * 2)] });
  assert.is(await client.run(double, 21), 42);
  const handled = await client.submit(double, 4);
  assert.is(handled.receipt?.level, 'fsync');
  assert.ok((handled.receipt?.lsn ?? 0) > 0);
  assert.is(handled.receipt?.duplicate, false);
  assert.is(await handled.result(), 8);
});

jobs('a folder that cannot be created is the cause of the rejection', async () => {
  await using folder = await tempFolder();
  const file = join(folder.path, 'file');
  await writeFile(file, '');
  assert.is(await codeOf(embedded({ dir: join(file, 'below') })), 'ERR_WAL_DIRECTORY');
});

jobs('a worker may start before or after the submit', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const client = app.client();
  const early = await client.submit(echo, 'early');
  app.worker({ handlers: [handle(echo, async (text) => text)] });
  assert.is(await early.result(), 'early');
  assert.is(await client.run(echo, 'late'), 'late');
});

jobs('a job and its result survive a restart and are found by the id', async () => {
  await using folder = await tempFolder();
  let done = '';
  let waiting = '';
  {
    await using app = await embedded({ dir: folder.path });
    const client = app.client();
    app.worker({ handlers: [handle(double, (n) => n * 2)] });
    const first = await client.submit(double, 1);
    await first.result();
    done = first.id;
    waiting = (await client.submit(echo, 'waits for a worker')).id;
  }
  await using app = await embedded({ dir: folder.path });
  const client = app.client();
  assert.is(await client.open(double, done).result(), 2);
  app.worker({ handlers: [handle(echo, (text) => text)] });
  assert.is(await client.open(echo, waiting).result(), 'waits for a worker');
});

jobs('all waiters get the same outcome, and a wait with a time limit ends without the job', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const client = app.client();
  const handled = await client.submit(double, 3);
  assert.is(await codeOf(handled.result({ withinMs: 5 })), 'ERR_JOB_WAIT');
  const all = [
    handled.result(),
    handled.result({ withinMs: 60_000 }),
    client.open(double, handled.id).result(),
  ];
  app.worker({ handlers: [handle(double, (n) => n * 2)] });
  assert.equal(await Promise.all(all), [6, 6, 6]);
});

jobs('a failing job is retried, then becomes a dead letter with its last error', async () => {
  await using folder = await tempFolder();
  const events: JobsEvent[] = [];
  await using app = await embedded({ dir: folder.path, observe: (event) => events.push(event) });
  const client = app.client();
  const attempts: number[] = [];
  app.worker({
    handlers: [
      handle(echo, (_text, { attempt }) => {
        attempts.push(attempt);
        throw new Error(`no ${attempt}`, { cause: new RangeError('of it') });
      }),
    ],
  });
  const handled = await client.submit(echo, 'x');
  const error = await handled
    .result()
    .catch((reason: unknown) => reason as { code: string; failure: { message: string } });
  assert.equal([(error as { code: string }).code, attempts], ['ERR_JOB_FAILED', [1, 2, 3]]);
  const [dead] = await client.deadLetters();
  assert.equal(
    [dead?.state, dead?.reason, dead?.failure?.message, dead?.failures],
    ['dead', 'failed', 'no 3', 3],
  );
  const { stack, cause } = dead?.failure ?? {};
  assert.match(stack ?? '', /^Error: no 3\n +at .*embedded-jobs\.test/);
  assert.equal([cause?.name, cause?.message], ['RangeError', 'of it']);
  assert.match(cause?.stack ?? '', /embedded-jobs\.test/);
  assert.equal(events.filter((event) => event.kind === 'requeued').length, 2);
  assert.ok(events.some((event) => event.kind === 'durable' && event.tookMs >= 0));
  assert.is(await client.redrive([handled.id]), 1);
  assert.is(await codeOf(handled.result()), 'ERR_JOB_FAILED');
  const later = await client.submit(echo, 'later', { runAfterMs: 60_000 });
  assert.is(await codeOf(client.redrive([later.id])), 'ERR_JOB_NOT_DEAD', 'a live job is not redriven');
  assert.is((await later.inspect()).state, 'queued');
  assert.equal(attempts, [1, 2, 3, 4, 5, 6]);
  assert.is(await client.purge([handled.id]), 1);
  assert.is(await client.purge([handled.id]), 0);
  assert.is(await codeOf(handled.result()), 'ERR_JOB_UNKNOWN');
});

jobs('a NonRetryableError is not retried, nor is an input that its schema refuses', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const client = app.client();
  let runs = 0;
  const strict = defineJob('text.echo', { input: aNumber, output: aString });
  app.worker({
    handlers: [
      handle(double, () => {
        runs += 1;
        throw new NonRetryableError('never');
      }),
      handle(strict, () => {
        runs += 1;
        return 'unreachable';
      }),
    ],
  });
  assert.is(await codeOf(client.run(double, 1)), 'ERR_JOB_FAILED');
  // The client thinks the input is a text; the worker's definition of the same job knows better.
  assert.is(await codeOf(client.run(echo, 'not a number')), 'ERR_JOB_FAILED');
  assert.is(runs, 1);
  assert.equal(
    (await client.deadLetters()).map((one) => [one.reason, one.failures]),
    [
      ['final', 1],
      ['final', 1],
    ],
  );
});

// Cancel: idempotent, wins over retry, queued or running.
jobs('a cancel ends a queued job, aborts a running one, and is idempotent', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const client = app.client();
  const queued = await client.submit(echo, 'queued');
  assert.is(await queued.cancel('not needed'), 'cancelled');
  assert.is(await queued.cancel(), 'cancelled');
  assert.is(await codeOf(queued.result()), 'ERR_JOB_CANCELLED');
  let aborted: unknown;
  const started = new Promise<void>((resolve) => {
    app.worker({
      handlers: [
        handle(echo, (_text, { signal }) => {
          resolve();
          return new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              aborted = (signal.reason as { detail: string }).detail;
              reject(signal.reason as Error);
            });
          });
        }),
      ],
    });
  });
  const running = await client.submit(echo, 'running');
  await started;
  assert.is(await running.cancel('wrong file'), 'cancelled');
  assert.is(await codeOf(running.result()), 'ERR_JOB_CANCELLED');
  assert.is((await running.inspect()).state, 'cancelled');
  const done = await app.client({ name: 'other' }).submit(double, 1);
  app.worker({ handlers: [handle(double, (n) => n)] });
  await done.result();
  assert.is(await done.cancel(), 'done');
  assert.is(aborted, 'wrong file', 'the reason of the cancel reaches the handler');
});

jobs(
  'a disk that is smaller than the space to be kept free is refused at the start, with the number',
  async () => {
    await using folder = await tempFolder();
    const freeBytesSoft = 2 ** 52;
    const error = await embedded({ dir: join(folder.path, 'not', 'made'), wal: { freeBytesSoft } }).catch(
      (reason: unknown) => reason as LogDiskTooSmallError,
    );
    assert.instance(error, LogDiskTooSmallError);
    assert.match(
      (error as Error).message,
      new RegExp(`has \\d+ bytes, .* fewer than ${freeBytesSoft} are free`),
    );
  },
);

// Invariant 2 of docs/job-lifecycle.md, against handlers that ignore their signal.
jobs('handlers under way are never more than the slots, after time limits and cancels too', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const client = app.client();
  const stubborn = defineJob('stubborn', {
    input: anything,
    output: anything,
    retry: { attempts: 1 },
    limits: { runMs: 30 },
  });
  const endings: (() => void)[] = [];
  let started = 0;
  let ended = 0;
  let most = 0;
  app.worker({
    slots: 2,
    handlers: [
      handle(stubborn, () => {
        started += 1;
        most = Math.max(most, started - ended);
        return new Promise((resolve) => endings.push(() => resolve(null)));
      }),
    ],
  });
  const handles = await Promise.all([1, 2, 3, 4, 5, 6].map((no) => client.submit(stubborn, no)));
  for (const handle of handles.slice(0, 2)) assert.is(await codeOf(handle.result()), 'ERR_JOB_FAILED');
  const cancelled = handles.slice(2, 4);
  for (const handle of cancelled) await handle.cancel('enough');
  let overrun = 0;
  while (overrun < 2) overrun = (await app.overview()).workers[0]?.overrun ?? 0;
  assert.equal([started, most], [2, 2]);
  for (let no = 0; no < 4; no += 1) {
    while (endings.length <= no) await new Promise((resolve) => setImmediate(resolve));
    ended += 1;
    endings[no]?.();
  }
  await Promise.allSettled(handles.slice(4).map((handle) => handle.result()));
  assert.equal([started, most], [4, 2]);
});

jobs(
  'the same key is the same job with its stored result; another payload under the key is refused',
  async () => {
    await using folder = await tempFolder();
    await using app = await embedded({ dir: folder.path });
    const client = app.client();
    let runs = 0;
    const keyed = defineJob('math.keyed', { input: aNumber, output: aNumber, key: (n) => `k${n}` });
    app.worker({
      handlers: [
        handle(keyed, (n) => {
          runs += 1;
          return n + runs;
        }),
      ],
    });
    const both = await Promise.all([client.submit(keyed, 1), client.submit(keyed, 1)]);
    assert.is(both[0]?.id, both[1]?.id);
    assert.is(await client.run(keyed, 1), 2);
    assert.is(await app.client({ name: 'other' }).run(keyed, 1), 2);
    assert.is(runs, 1);
    assert.is(await codeOf(client.submit(keyed, 2, { key: 'k1' })), 'ERR_KEY_CONFLICT');
  },
);

jobs('a full key window refuses keyed submits and drops no key', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path, limits: { keysMax: 2 } });
  const client = app.client();
  const first = await client.submit(echo, 'a', { key: 'a' });
  await client.submit(echo, 'b', { key: 'b' });
  assert.is(await codeOf(client.submit(echo, 'c', { key: 'c' })), 'ERR_KEY_WINDOW_FULL');
  assert.is((await client.submit(echo, 'a', { key: 'a' })).id, first.id);
  assert.is(await codeOf(client.submit(echo, 'd')), 'none');
});

jobs('a full queue refuses with a retryable error', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path, limits: { jobsMax: 3, jobBytesMax: 1_000 } });
  const client = app.client();
  const submits = await Promise.allSettled(
    ['1', '2', '3', '4', '5'].map((text) => client.submit(echo, text)),
  );
  const refused = submits
    .filter((one) => one.status === 'rejected')
    .map((one) => one.reason as { retryable: boolean; code: string });
  assert.equal(
    refused.map((error) => [error.code, error.retryable]),
    [
      ['ERR_QUEUE_FULL', true],
      ['ERR_QUEUE_FULL', true],
    ],
  );
  app.worker({ handlers: [handle(echo, (text) => text)] });
  const accepted = submits.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  await Promise.all(accepted.map((one) => one.result()));
  assert.is(await client.run(echo, 'room again'), 'room again');
  assert.is(await codeOf(client.submit(echo, 'x'.repeat(2_000))), 'ERR_QUEUE_FULL');
});

jobs('a batch is accepted as a whole or refused as a whole', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path, limits: { jobsMax: 4 } });
  const client = app.client();
  const three = await client.submitAll(double, [1, 2, 3]);
  assert.is(new Set(three.map((one) => one.id)).size, 3);
  assert.is(await codeOf(client.submitAll(double, [4, 5])), 'ERR_QUEUE_FULL');
  assert.is((await client.overview()).accepted, 3);
  app.worker({ handlers: [handle(double, (n) => n * 2)] });
  assert.equal(await Promise.all(three.map((one) => one.result())), [2, 4, 6]);
});

jobs('a job with a delay does not run before it', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const client = app.client();
  app.worker({ handlers: [handle(double, (n) => n)] });
  const before = Date.now();
  await client.run(double, 1, { runAfterMs: 60 });
  assert.ok(Date.now() - before >= 59);
});

jobs('a hanging handler ends at its run-time limit, and the attempt counts', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const client = app.client();
  const hung = defineJob('text.hung', {
    input: aString,
    output: aString,
    limits: { runMs: 20 },
    retry: { ...retry, attempts: 2 },
  });
  let runs = 0;
  app.worker({
    handlers: [
      handle(hung, () => {
        runs += 1;
        return new Promise<string>(() => undefined);
      }),
    ],
  });
  const error = await client.run(hung, 'x').catch((reason: unknown) => reason as { reason: string });
  assert.equal([(error as { reason: string }).reason, runs], ['timed-out', 2]);
});

// Drain: leases go back uncounted; the next worker runs them as if nothing had been.
jobs('a draining worker releases unfinished attempts, and they do not count', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const client = app.client();
  const { promise: started, resolve: start } = signal();
  const worker = app.worker({
    name: 'first',
    handlers: [
      handle(echo, () => {
        start();
        return new Promise<string>(() => undefined);
      }),
    ],
  });
  const handled = await client.submit(echo, 'x');
  await started;
  await worker.drain({ withinMs: 10 });
  const view = await handled.inspect();
  assert.equal([view.state, view.attempt, view.failures, view.crashes], ['queued', 1, 0, 0]);
  app.worker({ name: 'second', handlers: [handle(echo, (text) => text)] });
  assert.is(await handled.result(), 'x');
});
jobs('wrong ids, inputs, outputs and options are typed errors', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const client = app.client();
  assert.throws(
    () => client.open(echo, 'other-1'),
    (error: { code?: string }) => error.code === 'ERR_JOB_FOREIGN',
  );
  const { tag } = await client.overview();
  assert.is(await codeOf(client.open(echo, `${tag}-zz`).result()), 'ERR_JOB_UNKNOWN');
  assert.is(await codeOf(client.open(echo, `${tag}-zz`).cancel()), 'ERR_JOB_UNKNOWN');
  // @ts-expect-error a number is not a text
  assert.is(await codeOf(client.submit(echo, 5)), 'ERR_JOB_SCHEMA');
  // @ts-expect-error unknown option
  assert.is(await codeOf(client.submit(echo, 'x', { delay: 5 })), 'ERR_JOB_DEFINITION');
  assert.is(await codeOf(client.submit(echo, 'x', { runAfterMs: -1 })), 'ERR_JOB_DEFINITION');
  // @ts-expect-error unknown option
  assert.is(await codeOf(embedded({ dir: folder.path, directory: 'x' })), 'ERR_JOB_DEFINITION');
  const wrong = defineJob('wrong.output', { input: anything, output: aString, limits: { outputBytes: 10 } });
  app.worker({ handlers: [handle(wrong, (input) => input as string)] });
  assert.is(await codeOf(client.run(wrong, 5)), 'ERR_JOB_FAILED');
  // A result above its limit is a final failure, not a lost connection.
  assert.is(await codeOf(client.run(wrong, 'x'.repeat(50))), 'ERR_JOB_FAILED');
  assert.is(await client.run(wrong, 'short'), 'short');
  assert.is(await codeOf(client.submit(echo, 'x'.repeat(2 * 1024 * 1024))), 'ERR_PAYLOAD_TOO_LARGE');
});

// Damage is reported and refused, never skipped.
jobs('a folder with a damaged log is refused and left untouched', async () => {
  await using folder = await tempFolder();
  {
    await using app = await embedded({ dir: folder.path });
    await app.client().submit(echo, 'kept');
  }
  const name = (await readdir(folder.path)).find((one) => one.endsWith('.seg')) ?? '';
  const path = join(folder.path, name);
  const bytes = await readFile(path);
  bytes[4_096 + 60] = (bytes[4_096 + 60] ?? 0) ^ 0xff;
  await writeFile(path, bytes);
  assert.is(await codeOf(embedded({ dir: folder.path })), 'ERR_WAL_CORRUPT');
  assert.equal(await readFile(path), bytes);
});

/** The overview of a leader without its times and its connections. */
async function lastingState(client: Client): Promise<string> {
  const { execs, ...overview } = await client.overview();
  const queues = execs?.map((queue) => ({ ...queue, oldestMs: 0 }));
  return JSON.stringify({ ...overview, queues, workers: [], lsn: 0, log: undefined, clockStepMs: 0 });
}

// A snapshot made by the log's own thread: what it folds is what the leader knows.
jobs('a folder with snapshots opens like one without', async () => {
  await using folder = await tempFolder();
  const wal = {
    segmentBytes: 262_144,
    firstSegmentBytes: 65_536,
    snapshotEveryBytes: 200_000,
    batchBytesMax: 131_072,
    inlineBytesMax: 65_536,
  };
  let made = 0;
  const options = { dir: folder.path, limits: { resultsMax: 50 }, wal: { ...wal, onEvent: count } };
  function count(event: { readonly kind: string }): void {
    if (event.kind === 'snapshot-made') made += 1;
  }
  let before = '';
  {
    await using app = await embedded(options);
    const client = app.client();
    app.worker({ slots: 64, handlers: [handle(double, (n) => n * 2)] });
    // A thread makes a snapshot: how many jobs that takes depends on the machine and the runtime.
    for (const end = performance.now() + 30_000; made < 2 && performance.now() < end; ) {
      await Promise.all(Array.from({ length: 200 }, (_, n) => client.run(double, n)));
    }
    await client.submit(echo, 'waits', { key: 'k' });
    before = await lastingState(client);
  }
  assert.ok(made >= 2, 'there were snapshots');
  await using app = await embedded(options);
  const client = app.client();
  assert.is(await lastingState(client), before);
  assert.is((await client.submit(echo, 'waits', { key: 'k' })).receipt?.duplicate, true);
});

jobs('a second leader on the same folder is refused, and the first goes on', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  assert.is(await codeOf(embedded({ dir: folder.path })), 'ERR_WAL_LOCKED');
  const client = app.client();
  app.worker({ handlers: [handle(double, (n) => n * 2)] });
  assert.is(await client.run(double, 1), 2);
});

jobs('a closed client rejects unanswered and later calls', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const client = app.client();
  const handled = await client.submit(echo, 'x');
  const waiting = codeOf(handled.result());
  client.close();
  assert.is(await waiting, 'ERR_CLIENT_CLOSED');
  assert.is(await codeOf(client.submit(echo, 'y')), 'ERR_CLIENT_CLOSED');
});

// Leader and handler share a loop: the leader is as late as its workers.
jobs(
  'a handler that blocks the shared loop for three leases keeps its job, and so does its neighbour',
  async () => {
    await using folder = await tempFolder();
    const events: JobsEvent[] = [];
    const times = { heartbeatMs: 50, tickMs: 20 };
    await using app = await embedded({ dir: folder.path, times, observe: (event) => events.push(event) });
    const client = app.client();
    const spin = defineJob('cpu.spin', { input: aNumber, output: anything, leaseMs: 200, retry });
    const wait = defineJob('io.wait', { input: anything, output: anything, leaseMs: 200, retry });
    const gate = signal();
    app.worker({
      slots: 2,
      handlers: [
        handle(wait, () => gate.promise.then(() => 'waited')),
        handle(spin, (ms) => {
          const until = performance.now() + ms;
          while (performance.now() < until);
          return 'spun';
        }),
      ],
    });
    const neighbour = await client.submit(wait, 0);
    const spun = await client.submit(spin, 600);
    assert.is(await spun.result(), 'spun');
    gate.resolve();
    assert.is(await neighbour.result(), 'waited');
    assert.equal([(await spun.inspect()).attempt, (await neighbour.inspect()).attempt], [1, 1]);
    const wrong = events.filter((event) => event.kind === 'requeued' || event.kind === 'stale');
    assert.equal(wrong, []);
    assert.equal(
      events.flatMap((event) => (event.kind === 'worker' ? [event.liveness] : [])),
      ['joined'],
    );
  },
);

jobs('redrive and purge take any number of ids', async () => {
  await using folder = await tempFolder();
  await using app = await embedded({ dir: folder.path });
  const client = app.client();
  const doomed = defineJob('math.doomed', { input: aNumber, output: aNumber, retry });
  const handles = await client.submitAll(
    doomed,
    Array.from({ length: 1_500 }, (_, i) => i),
  );
  app.worker({
    handlers: [
      handle(doomed, () => {
        throw new NonRetryableError('no');
      }),
    ],
  });
  await Promise.all(handles.map((one) => codeOf(one.result())));
  assert.is(await client.purge(handles.map((one) => one.id)), 1_500);
  assert.equal(await client.deadLetters(), []);
});

jobs.run();
