import { defineJob, type HandledJob, handle, type JobFailedError, NonRetryableError } from '@troupe/jobs';
import { testJobs } from '@troupe/jobs/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { aNumber, anything, aString } from '../../plain-schema.js';

const handlers = suite('handlers');

const retry = { attempts: 2, baseMs: 1, capMs: 5, jitter: 0 };
const words = defineJob('text.words', { input: aString, output: aString, chunk: aString, retry });
const length = defineJob('text.length', { input: aString, output: aNumber, retry });

async function* wordsOf(text: string): AsyncGenerator<string, void, void> {
  for (const word of text.split(' ')) yield `${word} `;
}

async function chunksOf(handled: HandledJob, text: string): Promise<string[]> {
  await using jobs = await testJobs({ handlers: [handled] });
  const chunks: string[] = [];
  const job = await jobs.client.submit(words, text, { streaming: 'response' });
  for await (const chunk of job) chunks.push(chunk);
  return chunks;
}

handlers('`run` is a function, or a generator; the second serves readers and plain runs', async () => {
  await using jobs = await testJobs({
    handlers: [handle(length, { run: (text) => text.length }), handle(words, { run: wordsOf })],
  });
  assert.is(await jobs.run(length, 'four'), 4);
  assert.is(await jobs.run(words, 'to be'), 'to be ');
  assert.equal(await chunksOf(handle(words, { run: wordsOf }), 'to be'), ['to ', 'be ']);
});

handlers('`runStream` serves readers, a plain `run` beside it the others', async () => {
  const both = handle(words, { run: (text) => `plain ${text}`, runStream: wordsOf });
  await using jobs = await testJobs({ handlers: [both] });
  assert.is(await jobs.run(words, 'to be'), 'plain to be');
  assert.equal(await chunksOf(both, 'to be'), ['to ', 'be ']);
});

handlers('a function that returns a generator, now or later, streams', async () => {
  assert.equal(
    await chunksOf(
      handle(words, (text) => wordsOf(text)),
      'a b',
    ),
    ['a ', 'b '],
  );
  const later = handle(words, { run: (async (text: string) => wordsOf(text)) as never });
  assert.equal(await chunksOf(later, 'a b'), ['a ', 'b ']);
});

handlers('an output without chunks ends a job with readers as ERR_NOT_STREAMING, at once', async () => {
  for (const run of [(text: string) => text, async (text: string) => text]) {
    await using jobs = await testJobs({ handlers: [handle(words, run)] });
    const job = await jobs.client.submit(words, 'to be', { streaming: true });
    const error = await errorOf(job.result());
    assert.is(error.failure?.code, 'ERR_NOT_STREAMING');
    assert.is((await job.inspect()).attempt, 1);
    assert.is(await jobs.run(words, 'unread'), 'unread');
  }
});

handlers('a value of `load` is made for each attempt, and ends with its handler', async () => {
  const log: string[] = [];
  let made = 0;
  const own = handle(words, {
    load: async () => {
      made += 1;
      log.push(`load ${made}`);
      return made;
    },
    async *run(text, { loaded }) {
      yield `${loaded} `;
      log.push(`run ${loaded}`);
      if (text === 'fail' && loaded === 2) throw new Error('not this time');
      yield text;
    },
    unload: (value) => void log.push(`unload ${value}`),
  });
  await using jobs = await testJobs({ handlers: [own] });
  assert.is(await jobs.run(words, 'go'), '1 go');
  assert.is(await jobs.run(words, 'fail'), '3 fail');
  const lines = [1, 2, 3].flatMap((n) => [`load ${n}`, `run ${n}`, `unload ${n}`]);
  assert.equal(log, lines);
});

handlers('without `unload` the value is disposed by its own method', async () => {
  const log: string[] = [];
  const disposable = { [Symbol.dispose]: () => void log.push('dispose') };
  const asyncDisposable = { [Symbol.asyncDispose]: async () => void log.push('asyncDispose') };
  for (const value of [disposable, asyncDisposable, 7, null]) {
    await using jobs = await testJobs({ handlers: [handle(length, { load: () => value, run: () => 1 })] });
    await jobs.run(length, 'x');
  }
  assert.equal(log, ['dispose', 'asyncDispose']);
});

handlers('an error of `load` is a failed attempt; one of the input schema comes before it', async () => {
  let loads = 0;
  const failing = handle(length, {
    load: () => {
      loads += 1;
      throw new NonRetryableError('no model here');
    },
    run: () => 1,
  });
  await using jobs = await testJobs({ handlers: [failing] });
  const job = await jobs.client.submit(length, 'x');
  assert.is((await errorOf(job.result())).failure?.message, 'no model here');
  assert.is(loads, 1);
});

handlers('a trailer is flat data of at most 4,096 bytes; more is a final failure', async () => {
  await using jobs = await testJobs({
    handlers: [
      handle(length, (text, { trailer }) => {
        trailer({ text });
        return 1;
      }),
    ],
  });
  assert.is(await jobs.run(length, 'x'.repeat(4_000)), 1);
  const job = await jobs.client.submit(length, 'é'.repeat(2_050));
  assert.match((await errorOf(job.result())).failure?.message ?? '', /trailer of 41\d\d bytes, at most 4096/);
});

handlers('a handler that does not fit its definition is refused', () => {
  const refusal = (make: () => unknown): string => {
    try {
      make();
    } catch (error) {
      return (error as Error).message;
    }
    return 'taken';
  };
  const plain = defineJob('some.job', { input: anything, output: anything });
  const cases: readonly [() => unknown, RegExp][] = [
    [() => handle(plain, 'run' as never), /its handler must be a function, or an object with run/],
    [() => handle(plain, null as never), /its handler must be a function, or an object with run/],
    [() => handle(plain, {} as never), /run/],
    [() => handle(plain, { run: 1 } as never), /run: needed a function/],
    [() => handle(plain, { run: () => 1, loads: () => 1 } as never), /loads/],
    [() => handle(plain, wordsOf as never), /no chunk schema, so its handler is no generator/],
    [() => handle(plain, { run: () => 1, runStream: wordsOf as never }), /no chunk schema, so no runStream/],
  ];
  for (const [make, expected] of cases) assert.match(refusal(make), expected);
});

async function errorOf(promise: Promise<unknown>): Promise<JobFailedError> {
  try {
    await promise;
  } catch (error) {
    return error as JobFailedError;
  }
  throw new Error('no error');
}

handlers.run();
