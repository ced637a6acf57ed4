import { defineJob, fileSpill, handle, type OpenJournal, type StreamRefusedError } from '@troupe/jobs';
import { memoryJournal } from '@troupe/jobs/testing';
import { nodeStorage } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectClient, embedded, startLeader, startWorker } from '../checked-processes.js';
import { aNumber, anything, aString, schema } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';
import { all, errorOf, fatal, inOneProcess, overTcp, type Place } from './stream-world.js';

const retry = { attempts: 2, baseMs: 1, capMs: 5, jitter: 0 };
const bytes = schema<Uint8Array>('bytes', (value) => value instanceof Uint8Array);
const KIB = 'x'.repeat(1_000);
const MIB = 1024 * 1024;
const base = { input: aNumber, output: anything, chunk: aString, collect: false as const, retry };
const bulk = defineJob('text.bulk', base);
const words = defineJob('text.words', { input: aString, output: aString, chunk: aString, retry });
const raw = defineJob('bytes.raw', { input: bytes, output: bytes, chunk: bytes, retry });
const dropping = defineJob('text.dropping', {
  ...base,
  stream: { whenUnread: 'drop-with-gap', bufferBytes: MIB / 8 },
});
const short = defineJob('text.short', {
  input: aNumber,
  output: aString,
  chunk: aString,
  retry,
  limits: { outputBytes: 2_500 },
});
const limited = defineJob('text.limited', { ...base, limits: { silenceMs: 150, runMs: 900 } });

async function* yielding(count: number): AsyncGenerator<string, undefined, void> {
  for (let i = 0; i < count; i += 1) yield KIB;
  return undefined;
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

function suiteOf(name: string, place: Place): void {
  const policies = suite(`stream policies ${name}`);
  policies('wait: without a reader the handler waits in its yield, and loses nothing', async () => {
    let yielded = 0;
    const full = deferred();
    await using world = await place([
      handle(bulk, async function* (count) {
        for (; yielded < count; yielded += 1) {
          if (yielded === 130) full.resolve();
          yield KIB;
        }
      }),
    ]);
    const stream = { whenUnread: 'wait', bufferBytes: MIB / 8 } as const;
    const job = await world.client.submit(bulk, 2_000, { streaming: true, stream });
    await full.promise;
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.ok(yielded < 400, `${yielded} chunks of 1 kB in a buffer of 128 KiB`);
    assert.is((await all(job.stream())).length, 2_000);
  });

  policies('drop-with-gap: the handler never waits; the newest chunks stay', async () => {
    await using world = await place([handle(bulk, yielding)]);
    const stream = { whenUnread: 'drop-with-gap', bufferBytes: MIB / 8 } as const;
    const job = await world.client.submit(bulk, 2_000, { streaming: true, stream });
    await job.result();
    const items = await all(job.items());
    const [gap] = items;
    assert.equal(gap?.kind === 'gap' && [gap.from, gap.attempt], [0, 1]);
    const data = items.filter(({ kind }) => kind === 'data');
    assert.is((gap?.kind === 'gap' && gap.to) || 0, 2_000 - data.length);
    assert.ok(data.length > 50 && data.length < 200, `${data.length} chunks are left`);
  });

  policies('the policy of a definition holds unless a submit names another', async () => {
    await using world = await place([handle(dropping, yielding)]);
    const dropped = await world.client.submit(dropping, 1_000, { streaming: true });
    await dropped.result();
    assert.is((await all(dropped.items()))[0]?.kind, 'gap');
    const stream = { whenUnread: 'wait' } as const;
    const kept = await world.client.submit(dropping, 1_000, { streaming: true, stream, runAfterMs: 50 });
    assert.is((await all(kept.stream())).length, 1_000);
  });

  policies('a collected output above its bound is a final failure, and its chunks are read', async () => {
    await using world = await place([handle(short, yielding)]);
    assert.is(await world.client.run(short, 2), KIB + KIB);
    const job = await world.client.submit(short, 3, { streaming: true });
    const items = await all(job.items());
    assert.equal(
      items.map((item) => (item.kind === 'end' ? item.outcome : item.kind)),
      ['data', 'data', 'data', 'dead'],
    );
    assert.is((await errorOf(job.result())).code, 'ERR_JOB_FAILED');
    assert.is((await job.inspect()).attempt, 1);
  });

  policies('fail: without any reader the job fails; with one it waits', async () => {
    await using world = await place([handle(bulk, yielding)]);
    const stream = { whenUnread: 'fail', bufferBytes: MIB / 8 } as const;
    const unread = await world.client.submit(bulk, 2_000, { streaming: true, stream });
    const error = (await errorOf(unread.result())) as Error & { failure?: { code?: string } };
    assert.is(error.failure?.code, 'ERR_STREAM_UNREAD');
    const read = await world.client.submit(bulk, 2_000, { streaming: true, stream, runAfterMs: 50 });
    assert.is((await all(read.stream())).length, 2_000);
  });

  policies('silence and run time are two limits, and waiting for a reader is no silence', async () => {
    await using world = await place([
      handle(limited, async function* (mode, { signal }) {
        yield KIB;
        if (mode === 1) await new Promise((resolve) => signal.addEventListener('abort', resolve));
        while (mode === 2 && !signal.aborted) {
          await new Promise((resolve) => setTimeout(resolve, 20));
          yield KIB;
        }
        if (mode === 3) yield* yielding(500);
      }),
    ]);
    const { client } = world;
    const failures = [];
    for (const mode of [1, 2]) {
      const job = await client.submit(limited, mode, { streaming: 'internal' });
      const error = (await errorOf(job.result())) as Error & { failure?: { name: string } };
      failures.push(error.failure?.name);
      // It is no output that happens to be empty.
      const kinds = (await all(job.items())).map(({ kind }) => kind);
      assert.not(kinds.includes('finalCollected'));
    }
    assert.equal(failures, ['SilenceExceeded', 'RunTimeExceeded']);
    const stream = { whenUnread: 'wait', bufferBytes: MIB / 8 } as const;
    const slow = await client.submit(limited, 3, { streaming: true, stream });
    await new Promise((resolve) => setTimeout(resolve, 400));
    assert.is((await all(slow.stream())).length, 501);
  });

  policies('cancel ends the generator in its yield, and the readers with it', async () => {
    const ended = deferred();
    await using world = await place([
      handle(bulk, async function* () {
        try {
          for (;;) yield KIB;
        } finally {
          ended.resolve();
        }
      }),
    ]);
    const job = await world.client.submit(bulk, 1, { streaming: true });
    const items = job.stream();
    await items.next();
    await job.cancel('enough');
    await ended.promise;
    const error = (await errorOf(all(items))) as Error & { code?: string; position?: { offset: number } };
    assert.is(error.code, 'ERR_JOB_CANCELLED');
    assert.ok((error.position?.offset ?? 0) > 0);
  });

  policies('a stream that was not requested is FAILED_PRECONDITION', async () => {
    await using world = await place([
      handle(words, async function* (text) {
        yield text;
      }),
    ]);
    const job = await world.client.submit(words, 'a');
    const error = (await errorOf(all(job.items()))) as StreamRefusedError;
    assert.equal([error.code, error.status], ['ERR_STREAM_REFUSED', 'FAILED_PRECONDITION']);
    const streamed = await world.client.submit(words, 'a', { streaming: true });
    const ahead = (await errorOf(
      all(streamed.items({ from: { attempt: 1, offset: 9 } })),
    )) as StreamRefusedError;
    assert.is(ahead.status, 'INVALID_ARGUMENT');
    const stray = { stream: { whenUnread: 'wait' } } as const;
    assert.is((await errorOf(world.client.submit(words, 'a', stray))).code, 'ERR_JOB_DEFINITION');
  });

  policies('the end has the metadata of the trailer, whatever the outcome', async () => {
    await using world = await place([
      handle(words, async function* (text, { trailer, attempt }) {
        trailer({ text, attempt });
        yield text;
        trailer({ words: 1 });
        if (text === 'fail') throw new Error('no');
      }),
    ]);
    for (const text of ['do', 'fail']) {
      const job = await world.client.submit(words, text, { streaming: 'internal' });
      const end = (await all(job.items())).at(-1);
      assert.is(end?.kind === 'end' && end.outcome, text === 'do' ? 'done' : 'dead');
      const attempt = text === 'do' ? 1 : 2;
      assert.equal(end?.kind === 'end' && end.metadata, { text, attempt, words: 1 });
    }
  });

  policies('bytes are chunks and output as they are', async () => {
    await using world = await place([
      handle(raw, async function* (input) {
        yield input;
        yield new Uint8Array([0, 1, 2]);
        yield Buffer.from('text');
      }),
    ]);
    const input = new Uint8Array([255, 0, 7]);
    const job = await world.client.stream(raw, input);
    const chunks = await all(job);
    assert.equal(
      chunks.map((chunk) => [...chunk]),
      [[255, 0, 7], [0, 1, 2], [...Buffer.from('text')]],
    );
    assert.equal([...(await job.result())], [255, 0, 7, 0, 1, 2, ...Buffer.from('text')]);
  });

  policies('a reader is a stream of Node or of the web, too, and stops by its signal', async () => {
    await using world = await place([
      handle(bulk, yielding),
      handle(words, async function* (text) {
        yield* text.split(' ');
        if (text === 'to fail') throw new Error('no');
      }),
    ]);
    const job = await world.client.submit(words, 'to be or not', { streaming: true });
    assert.equal(await job.readable().toArray(), ['to', 'be', 'or', 'not']);
    const web: string[] = [];
    for await (const word of job.web()) web.push(word);
    assert.equal(web, ['to', 'be', 'or', 'not']);
    const failing = await world.client.submit(words, 'to fail', { streaming: true });
    const follow = { onReset: 'follow' } as const;
    assert.is((await errorOf(failing.readable(follow).toArray())).code, 'ERR_JOB_FAILED');
    assert.is((await errorOf(all(failing.web(follow)))).code, 'ERR_JOB_FAILED');
    const stop = new AbortController();
    const long = await world.client.submit(bulk, 5_000, { streaming: true });
    const items = long.stream({ signal: stop.signal });
    await items.next();
    stop.abort(new Error('no more'));
    assert.is((await errorOf(items.next())).message, 'no more');
    assert.equal(await items.next(), { done: true, value: undefined });
    await long.cancel();
  });

  policies.run();
}

suiteOf('in one process', inOneProcess);
suiteOf('over TCP', overTcp);

const restarts = suite('stream policies over restarts');

restarts('a durable stream has no gap after a restart of the leader, for late readers, too', async () => {
  await using folder = await tempFolder();
  const options = { dir: folder.path, onFatal: fatal };
  let leader = await startLeader(options);
  const { address } = leader;
  const goOn = deferred();
  const handlers = [
    handle(bulk, async function* (count) {
      for (let i = 0; i < count; i += 1) {
        if (i === count / 2) await goOn.promise;
        yield `${i} ${KIB}`;
      }
    }),
  ];
  await using _worker = await startWorker({ address, name: 'w', handlers, heartbeatThread: false });
  await using client = await connectClient({ address });
  const stream = { durable: true };
  const job = await client.submit(bulk, 1_000, { streaming: true, stream });
  const chunks = job.stream();
  const seen: string[] = [];
  while (seen.length < 300) seen.push((await chunks.next()).value ?? '');
  await leader.close({ withinMs: 0 });
  leader = await startLeader({ ...options, address });
  goOn.resolve();
  for await (const chunk of chunks) seen.push(chunk);
  const late = await all(client.open(bulk, job.id).stream());
  for (const read of [seen, late])
    assert.equal(
      read.map((chunk) => Number.parseInt(chunk, 10)),
      Array.from({ length: 1_000 }, (_, i) => i),
    );
  await leader.close();
});

restarts(
  'a leader with a journal alone refuses a durable stream; with a spill beside it, it has one',
  async () => {
    await using folder = await tempFolder();
    const journal = (): OpenJournal => memoryJournal({ entries: [] }, setImmediate);
    const durable = { streaming: true, stream: { durable: true } } as const;
    const handlers = [handle(bulk, yielding)];
    await using without = await embedded({ journal: journal() });
    without.worker({ handlers });
    assert.is((await errorOf(without.client().submit(bulk, 10, durable))).code, 'ERR_EXEC_UNSUPPORTED');
    const kept = await without.client().submit(bulk, 10, { streaming: true });
    assert.is((await all(kept.stream())).length, 10);
    await using beside = await embedded({ journal: journal(), spill: fileSpill(nodeStorage(folder.path)) });
    beside.worker({ handlers });
    const job = await beside.client().submit(bulk, 10, durable);
    assert.is((await all(job.stream())).length, 10);
  },
);

restarts.run();
