// The mode of a stream and the call decide together which answer a caller waits for, the same in every place.
import { defineJob, handle, type JobItem } from '@troupe/jobs';
import { testJobs } from '@troupe/jobs/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { aNumber, aString, schema } from '../plain-schema.js';
import { all, errorOf, inOneProcess, overTcp, type Place } from './stream-world.js';

const words = defineJob('text.words', { input: aString, output: aString, chunk: aString });
const numbers = defineJob('math.numbers', {
  input: aNumber,
  output: schema<number[]>('list', Array.isArray),
  chunk: aNumber,
  retry: { attempts: 2, baseMs: 0 },
});

const summed = defineJob('math.summed', {
  input: aNumber,
  output: aNumber,
  chunk: aNumber,
  collect: (sum = 0, chunk) => {
    if (chunk === 2) throw new Error('no sum with 2');
    return sum + chunk;
  },
  retry: { attempts: 1 },
});

/** A gate that a handler waits at. */
class Gate {
  open!: () => void;
  readonly passed = new Promise<void>((resolve) => {
    this.open = resolve;
  });
}

const inVirtualTime: Place = async (handlers) => {
  const world = await testJobs({ handlers });
  return {
    client: world.client,
    another: async () => world.client,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
};

async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  // More turns of the event loop than any answer of the leader takes in this process.
  let ticks: Promise<unknown> = Promise.resolve();
  for (let i = 0; i < 50; i += 1) ticks = ticks.then(() => new Promise((resolve) => setImmediate(resolve)));
  return (await Promise.race([promise, ticks.then(() => pending)])) === pending;
}

function kinds(items: readonly JobItem<typeof words>[]): string[] {
  return items.map(({ kind }) => kind);
}

function suiteOf(name: string, place: Place): void {
  const matrix = suite(`streaming and calls ${name}`);

  matrix('none: run waits for the one result, submit does not, and chunks are collected unseen', async () => {
    const gate = new Gate();
    await using world = await place([
      handle(words, async function* (text) {
        yield* text.split(/(?<= )/);
        await gate.passed;
      }),
    ]);
    const result = world.client.run(words, 'to be');
    const job = await world.client.submit(words, 'or not');
    assert.ok(await isPending(result));
    gate.open();
    assert.equal([await result, await job.result()], ['to be', 'or not']);
    assert.is((await errorOf(all(job.stream()))).code, 'ERR_STREAM_REFUSED');
  });

  matrix(
    'response: stream resolves with the first item, submit at once, and the output is no item',
    async () => {
      const [first, last] = [new Gate(), new Gate()];
      await using world = await place([
        handle(words, async function* (text) {
          await first.passed;
          yield text;
          await last.passed;
        }),
      ]);
      const streamed = world.client.stream(words, 'a');
      const submitted = await world.client.submit(words, 'b', { streaming: 'response' });
      assert.ok(await isPending(streamed));
      first.open();
      const job = await streamed;
      const result = job.result();
      assert.ok(await isPending(result));
      last.open();
      assert.equal([await result, await submitted.result()], ['a', 'b']);
      assert.equal(await all(job), ['a']);
      for (const one of [job, submitted]) assert.equal(kinds(await all(one.items())), ['data', 'end']);
      const same = await world.client.submit(words, 'c', { streaming: true });
      assert.equal(kinds(await all(same.items())), ['data', 'end']);
    },
  );

  matrix('stream resolves with the end of a job that has no chunk', async () => {
    await using world = await place([
      handle(numbers, async function* (count) {
        if (count !== 0) throw new Error('before the first chunk');
        yield* [];
      }),
    ]);
    const empty = await world.client.stream(numbers, 0);
    assert.equal(await all(empty), []);
    const failed = await world.client.stream(numbers, 1);
    assert.is((await errorOf(all(failed.stream({ onReset: 'follow' })))).code, 'ERR_JOB_FAILED');
  });

  matrix('internal: submit returns at once, and the output is an item before the end', async () => {
    const gate = new Gate();
    await using world = await place([
      handle(words, async function* (text) {
        yield text;
        await gate.passed;
      }),
    ]);
    // It would hang here if a submit waited for its job.
    const job = await world.client.submit(words, 'a', { streaming: 'internal' });
    gate.open();
    const items = await all(job.items());
    assert.equal(kinds(items), ['data', 'finalCollected', 'end']);
    assert.equal(items[1], { kind: 'finalCollected', value: 'a' });
    assert.is(await job.result(), 'a');
  });

  matrix('a job that ended before its reader came has lost no chunk', async () => {
    await using world = await place([
      handle(numbers, async function* (count) {
        for (let i = 0; i < count; i += 1) yield i;
      }),
    ]);
    for (const streaming of ['response', 'internal'] as const) {
      const job = await world.client.submit(numbers, 20, { streaming });
      const output = await job.result();
      assert.equal(await all(job.stream()), output);
    }
  });

  matrix('items come in one order, and nothing follows the end', async () => {
    await using world = await place([
      handle(words, async function* (text) {
        yield* text.split(' ');
      }),
    ]);
    const job = await world.client.submit(words, 'a b c', { streaming: 'internal' });
    const items = job.items();
    assert.equal(kinds(await all(items)), ['data', 'data', 'data', 'finalCollected', 'end']);
    assert.equal(await items.next(), { done: true, value: undefined });
  });

  matrix('a failure in mid-stream is the outcome of the job: tried again, stored, and the end', async () => {
    await using world = await place([
      handle(numbers, async function* (count, { attempt }) {
        for (let i = 0; i < count; i += 1) yield attempt * 100 + i;
        throw new Error(`attempt ${attempt}`);
      }),
    ]);
    const job = await world.client.submit(numbers, 2, { streaming: 'internal' });
    const items = await all(job.items());
    assert.is(items.filter(({ kind }) => kind === 'finalCollected').length, 0);
    const end = items.at(-1);
    assert.is(end?.kind === 'end' && `${end.outcome} ${end.failure?.message}`, 'dead attempt 2');
    assert.is((await errorOf(job.result())).code, 'ERR_JOB_FAILED');
    const second = items.slice(items.findIndex(({ kind }) => kind === 'reset'));
    assert.equal(
      second.map((item) =>
        item.kind === 'data' ? `${item.attempt}.${item.offset} ${item.chunk}` : item.kind,
      ),
      ['reset', '2.0 200', '2.1 201', 'end'],
    );
  });

  matrix('an error of collect is the outcome of the job, never an empty output', async () => {
    await using world = await place([
      handle(summed, async function* (count) {
        for (let i = 0; i < count; i += 1) yield i;
      }),
    ]);
    const job = await world.client.submit(summed, 3, { streaming: 'internal' });
    const items = await all(job.items());
    const end = items.pop();
    assert.is(end?.kind === 'end' && `${end.outcome} ${end.failure?.message}`, 'dead no sum with 2');
    assert.ok(items.every(({ kind }) => kind === 'data'));
    assert.is((await errorOf(job.result())).code, 'ERR_JOB_FAILED');
  });

  matrix('without collect no chunk is left out of the output', async () => {
    await using world = await place([
      handle(words, async function* (text) {
        yield* text.split(/(?<= )/);
      }),
      handle(numbers, async function* (count) {
        for (let i = 0; i < count; i += 1) yield i;
      }),
    ]);
    assert.is(await world.client.run(words, 'one two three'), 'one two three');
    assert.equal(await world.client.run(numbers, 4), [0, 1, 2, 3]);
  });

  matrix.run();
}

suiteOf('in one process', inOneProcess);
suiteOf('over TCP', overTcp);
suiteOf('in virtual time', inVirtualTime);

const readers = suite('readers of one stream');

readers('slow, absent, late and many readers each get every chunk, once and in order', async () => {
  const COUNT = 3_000;
  const text = 'x'.repeat(500);
  const bulk = defineJob('text.bulk', { input: aNumber, output: aString, chunk: aString, collect: false });
  await using world = await overTcp([
    handle(bulk, async function* (count) {
      for (let i = 0; i < count; i += 1) yield `${i} ${text}`;
      return 'all';
    }),
  ]);
  const job = await world.client.submit(bulk, COUNT, { streaming: 'internal' });
  const read = async (pauseEvery: number): Promise<number[]> => {
    const client = await world.another();
    const seen: number[] = [];
    for await (const chunk of client.open(bulk, job.id).stream()) {
      seen.push(Number.parseInt(chunk, 10));
      if (seen.length % pauseEvery === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return seen;
  };
  const many = [read(COUNT), read(COUNT), read(10), read(100)];
  assert.is(await job.result(), 'all');
  const all = [...(await Promise.all(many)), await read(COUNT)];
  const expected = Array.from({ length: COUNT }, (_, i) => i);
  for (const seen of all) assert.equal(seen, expected);
});

readers.run();
