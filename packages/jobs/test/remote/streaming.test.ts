import { defineJob, handle, type JobHandle, type JobItem, type StreamResetError } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectClient, startLeader, startWorker } from '../checked-processes.js';
import { aNumber, anything, aString, schema } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';
import { all, errorOf, fatal, inOneProcess, overTcp, type Place } from './stream-world.js';

const retry = { attempts: 3, baseMs: 1, capMs: 5, jitter: 0 };
const words = defineJob('text.words', { input: aString, output: aString, chunk: aString, retry });
const count = defineJob('math.count', {
  input: aNumber,
  output: schema<number[]>('list', Array.isArray),
  chunk: aNumber,
  retry,
});
const bulk = defineJob('text.bulk', {
  input: aNumber,
  output: anything,
  chunk: aString,
  collect: false,
  retry,
});
const plain = defineJob('text.plain', { input: aString, output: aString, retry });

function isNumbered(items: readonly JobItem<typeof count>[]): boolean {
  let next = 0;
  for (const item of items) {
    if (item.kind === 'gap' && item.from === next) next = item.to ?? next;
    else if (item.kind === 'data' && item.offset === next && item.chunk === next) next += 1;
    else if (item.kind !== 'end') return false;
  }
  return true;
}

const KIB = 'x'.repeat(1_000);

function suiteOf(name: string, place: Place): void {
  const streaming = suite(`streaming ${name}`);

  streaming('chunks come in order while the job runs, then its end; the result is collected', async () => {
    let release: () => void = () => undefined;
    const mayEnd = new Promise<void>((resolve) => {
      release = resolve;
    });
    await using world = await place([
      handle(words, async function* (text) {
        for (const word of text.split(' ')) yield `${word} `;
        await mayEnd;
      }),
    ]);
    const job = await world.client.submit(words, 'to be or not', { streaming: 'response' });
    const items = job.items();
    for (const chunk of ['to ', 'be ', 'or ', 'not ']) {
      const { value } = await items.next();
      assert.is((value as { chunk?: string }).chunk, chunk);
    }
    release();
    const end = { kind: 'end', outcome: 'done', reason: '', failure: undefined, metadata: {} };
    assert.equal(await all(items), [end]);
    assert.is(await job.result(), 'to be or not ');
  });

  streaming('late, second and foreign readers get the same chunks, from any position', async () => {
    await using world = await place([handle(count, counting)]);
    const job = await world.client.stream(count, 500);
    assert.equal(await all(job), await job.result());
    assert.equal(await all(job.stream()), await job.result());
    const other = (await world.another()).open(count, job.id);
    assert.ok(isNumbered(await all(other.items())));
    const rest = await all(other.stream({ from: { attempt: 1, offset: 498 } }));
    assert.equal(rest, [498, 499]);
  });

  streaming('a generator serves a plain run: its chunks are collected unseen', async () => {
    await using world = await place([
      handle(count, counting),
      handle(words, async function* (text) {
        yield text;
        return `all of ${text}`;
      }),
      handle(bulk, sending),
    ]);
    assert.equal(await world.client.run(count, 3), [0, 1, 2]);
    assert.is(await world.client.run(words, 'it'), 'all of it');
    assert.is(await world.client.run(bulk, 3), null);
    const job = await world.client.submit(count, 3);
    assert.is((await errorOf(all(job.stream()))).code, 'ERR_STREAM_REFUSED');
  });

  streaming('a reader that does not read stops the handler; it goes on with the reader', async () => {
    let yielded = 0;
    await using world = await place([
      handle(bulk, async function* (chunks) {
        for (yielded = 0; yielded < chunks; yielded += 1) yield KIB;
      }),
    ]);
    const job = await world.client.submit(bulk, 5_000, { streaming: true });
    const items = job.stream();
    await items.next();
    await new Promise((resolve) => setTimeout(resolve, 150));
    assert.ok(yielded < 2_500, `${yielded} chunks of 1 kB with one of them read`);
    assert.is((await all(items)).length, 4_999);
    assert.is(await job.result(), null);
  });

  streaming('internal: the job never waits; lost chunks are a gap, and the output is an item', async () => {
    await using world = await place([handle(bulk, sending), handle(count, counting)]);
    const stream = { spillBytes: 0 };
    const job = await world.client.submit(bulk, 3_000, { streaming: 'internal', stream });
    assert.is(await job.result(), null);
    const items = await all(job.items());
    const gap = items[0] as { kind: string; from: number; to: number };
    assert.is(`${gap.kind} from ${gap.from}`, 'gap from 0');
    const data = items.filter(({ kind }) => kind === 'data');
    assert.is(gap.to + data.length, 3_000);
    assert.equal(
      items.slice(-2).map(({ kind }) => kind),
      ['finalCollected', 'end'],
    );
    assert.is((await errorOf(all(job.stream()))).code, 'ERR_STREAM_GAP');
    assert.is((await all(job.stream({ onGap: 'follow' }))).length, data.length);
    const small = await world.client.submit(count, 2, { streaming: 'internal' });
    assert.equal((await all(small.items())).at(-2), { kind: 'finalCollected', value: [0, 1] });
  });

  streaming('a new attempt is a reset, and no chunk of the old one follows it', async () => {
    await using world = await place([
      handle(count, async function* (n, { attempt }) {
        for (let i = 0; i < n; i += 1) yield attempt * 1_000 + i;
        if (attempt < 3) throw new Error('once more');
      }),
    ]);
    const job = await world.client.submit(count, 200, { streaming: true });
    let attempt = 0;
    for await (const item of job.items()) {
      if (item.kind === 'reset') attempt = item.attempt;
      if (item.kind !== 'data') continue;
      if (attempt === 0) attempt = item.attempt;
      assert.is(item.attempt, attempt);
      assert.is(item.chunk, attempt * 1_000 + item.offset);
    }
    assert.is(attempt, 3);
    const from = { attempt: 1, offset: 10 };
    const error = (await errorOf(all(job.stream({ from })))) as StreamResetError;
    assert.is(error.code, 'ERR_STREAM_RESET');
    assert.equal(error.position, { attempt: 3, offset: 0 });
    assert.is((await all(job.stream({ from: error.position }))).length, 200);
    assert.is((await all(job.stream({ from, onReset: 'follow' }))).length, 200);
  });

  streaming(
    'every stream has one end, also of a job that fails early, is cancelled or is unknown',
    async () => {
      await using world = await place([
        handle(words, async function* (text, { signal }) {
          if (text === 'fail') throw new Error('early');
          yield text;
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
        }),
      ]);
      const { client } = world;
      const failing = await client.submit(words, 'fail', { streaming: true });
      const ended = await all(failing.items());
      const end = ended.pop();
      assert.is(end?.kind === 'end' && end.outcome, 'dead');
      assert.ok(ended.every(({ kind }) => kind === 'reset'));
      assert.is((await errorOf(all(failing.stream({ onReset: 'follow' })))).code, 'ERR_JOB_FAILED');
      const waiting = await client.submit(words, 'wait', { streaming: true });
      const items = waiting.items();
      await items.next();
      await waiting.cancel('enough');
      const failure = undefined;
      assert.equal(await all(items), [
        { kind: 'end', outcome: 'cancelled', reason: 'enough', failure, metadata: {} },
      ]);
      const stranger = client.open(words, waiting.id.replace(/[^-]+$/, 'zzz'));
      assert.is((await errorOf(all(stranger.items()))).code, 'ERR_JOB_UNKNOWN');
    },
  );

  streaming('bad input is refused with a typed error', async () => {
    await using world = await place([
      handle(count, async function* (n) {
        // The schema refuses it at run time as the type does before.
        yield (n === 1 ? 'one' : 'x'.repeat(300_000)) as unknown as number;
      }),
      handle(words, async function* (text) {
        yield text.repeat(300_000);
      }),
    ]);
    const { client } = world;
    assert.is((await errorOf(client.submit(plain, 'a', { streaming: true }))).code, 'ERR_JOB_DEFINITION');
    const wrong = await client.submit(count, 1, { streaming: true });
    assert.match((await errorOf(all(wrong))).message, /chunk does not fit its schema/);
    const large = await client.submit(words, 'x', { streaming: true });
    assert.match((await errorOf(all(large))).message, /chunk of 300002 bytes, at most 262144/);
    const ahead = { from: { attempt: 1, offset: 7 } };
    assert.is((await errorOf(all(large.items(ahead)))).code, 'ERR_STREAM_REFUSED');
    const stop = new AbortController();
    stop.abort(new Error('no more'));
    assert.is((await errorOf(all(large.items({ signal: stop.signal })))).message, 'no more');
  });

  streaming.run();
}

async function* counting(n: number): AsyncGenerator<number, undefined, void> {
  for (let i = 0; i < n; i += 1) yield i;
  return undefined;
}

async function* sending(n: number): AsyncGenerator<string, undefined, void> {
  for (let i = 0; i < n; i += 1) yield KIB;
  return undefined;
}

suiteOf('in one process', inOneProcess);
suiteOf('over TCP', overTcp);

const restarts = suite('streaming over restarts');

restarts('a reader goes on after a restart of the leader; lost chunks are a gap, never skipped', async () => {
  await using folder = await tempFolder();
  const options = { dir: folder.path, onFatal: fatal };
  let leader = await startLeader(options);
  const { address } = leader;
  let goOn: () => void = () => undefined;
  const mayGoOn = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const handlers = [
    handle(count, async function* (n) {
      for (let i = 0; i < n; i += 1) {
        if (i === 100) await mayGoOn;
        yield i;
      }
    }),
  ];
  await using _worker = await startWorker({ address, name: 'w', handlers, heartbeatThread: false });
  await using client = await connectClient({ address });
  const job: JobHandle<typeof count> = await client.submit(count, 300, { streaming: true });
  const items = job.items();
  const seen: JobItem<typeof count>[] = [];
  while (seen.length < 50) seen.push((await items.next()).value as JobItem<typeof count>);
  await leader.close({ withinMs: 0 });
  leader = await startLeader({ ...options, address });
  goOn();
  for await (const item of items) seen.push(item);
  assert.ok(isNumbered(seen));
  assert.is(seen.at(-1)?.kind, 'end');
  // Of the chunks before the restart a late reader gets a gap.
  const late = await all(client.open(count, job.id).items());
  assert.ok(isNumbered(late));
  assert.is(late[0]?.kind, 'gap');
  await leader.close();
});

restarts.run();
