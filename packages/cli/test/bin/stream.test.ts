// timeout: 120s
import { defineJob, handle, startWorker } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inProcess, lines, ownLeader, Running, troupe } from './troupe.js';

const streams = suite('streams and feeds by the command');

const any = {
  '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => ({ value }) },
};
const Words = defineJob('text.words', { input: any, output: any, chunk: any });
const Upper = defineJob('text.upper', { input: any, output: any, chunk: any, feed: any });

const handlers = [
  handle(Words, async function* (text) {
    if (text === 'fail') throw new Error('no words');
    for (const word of String(text).split(' ')) yield `${word} `;
  }),
  handle(Upper, async function* (_input, { feed }) {
    for await (const item of feed) yield typeof item === 'string' ? `${item.toUpperCase()}\n` : item;
  }),
];

streams('`stream`, `run --stream` and `await --stream` print chunks, and fail as the job does', async () => {
  await using s = await ownLeader();
  await using _worker = await startWorker({
    address: addressOf(s.at),
    name: 'w',
    handlers,
    heartbeatThread: false,
  });
  const to = ['--leader', s.at];
  for (const command of [['stream'], ['run', '--stream']]) {
    const ran = await troupe([...command, 'text.words', '--text', 'to be or not', ...to]);
    assert.is(ran.out, 'to be or not \n');
    assert.match(ran.err, /^troupe: job [0-9a-z]{5}-[0-9a-z]+\n$/);
    assert.is(ran.code, 0);
    const id = ran.err.trim().split(' ').at(-1) ?? '';
    assert.equal(await troupe(['await', id, '--stream', ...to]), {
      code: 0,
      out: 'to be or not \n',
      err: '',
    });
  }
  const items = lines(await inProcess(['stream', 'text.words', '--text', 'a b', '--json', ...to]));
  assert.equal(
    items.map(({ kind }) => kind),
    ['data', 'data', 'end'],
  );
  const failed = await troupe(['stream', 'text.words', '--text', 'fail', '--attempts', '1', ...to]);
  const plain = await troupe(['run', 'text.words', '--text', 'fail', '--attempts', '1', ...to]);
  assert.is(failed.code, plain.code);
  assert.match(failed.err, 'no words');
});

streams('`feed` feeds a job by lines, by JSON and by bytes, and ends its feed', async () => {
  await using s = await ownLeader();
  await using _worker = await startWorker({
    address: addressOf(s.at),
    name: 'w',
    handlers,
    heartbeatThread: false,
  });
  const to = ['--leader', s.at];
  const fed = async (flags: readonly string[], stdin: string): Promise<string> => {
    const streaming = troupe(['stream', 'text.upper', 'null', '--fed', ...to]);
    const { id } = (await lastJob(to)) as { id: string };
    const ended = await troupe(['feed', id, ...flags, ...to], { stdin });
    assert.is(ended.code, 0, ended.err);
    const { code, out } = await streaming;
    assert.is(code, 0);
    return `${ended.out}${out}`;
  };
  assert.is(await fed([], 'one\ntwo\n'), '2 items\nONE\nTWO\n');
  assert.is(await fed(['--json-lines'], '{"a":1}\n[2]\n'), '2 items\n{"a":1}\n[2]\n');
  assert.is(await fed(['--bytes'], 'xyz'), '1 items\nEHL6\n');
  const bad = await troupe(['feed', 'aaaaa-1', ...to], { stdin: 'x\n' });
  assert.not(bad.code === 0);
  assert.is(bad.err.trim().split('\n').length, 1);
});

streams('a job of `submit --stream` is fed and read later', async () => {
  await using s = await ownLeader();
  const to = ['--leader', s.at];
  const submit = ['submit', 'text.upper', 'null', '--stream', '--fed', ...to];
  const id = (await inProcess(submit)).out.trim();
  const over = await troupe(['await', id, '--stream', '--result-within', '300ms', ...to]);
  assert.equal([over.code, over.out], [75, '']);
  assert.match(over.err, `troupe: job ${id}: no outcome within 300 ms; it goes on`);
  await using _worker = await startWorker({
    address: addressOf(s.at),
    name: 'w',
    handlers,
    heartbeatThread: false,
  });
  assert.is((await troupe(['feed', id, ...to], { stdin: 'one\n' })).code, 0);
  assert.equal(await troupe(['await', id, '--stream', ...to]), { code: 0, out: 'ONE\n', err: '' });
});

streams('a job without a stream is neither read nor fed: one line with what to do, exit 64', async () => {
  await using s = await ownLeader();
  const to = ['--leader', s.at];
  const id = (await inProcess(['submit', 'text.words', '1', ...to])).out.trim();
  for (const words of [
    ['await', id, '--stream'],
    ['feed', id],
  ]) {
    const ended = await troupe([...words, ...to], { stdin: 'x\n' });
    assert.is(ended.code, 64, ended.err);
    assert.match(
      ended.err,
      /^troupe: [^\n]+; submit it with: troupe stream, or troupe submit --stream[^\n]+\n$/,
    );
  }
  assert.is((await inProcess(['submit', 'text.words', '1', '--fed', ...to])).code, 64);
});

streams('a chunk is printed as it comes, and a line is fed before the input ends', async () => {
  await using s = await ownLeader();
  await using _worker = await startWorker({
    address: addressOf(s.at),
    name: 'w',
    handlers,
    heartbeatThread: false,
  });
  const to = ['--leader', s.at];
  await using streaming = new Running(['stream', 'text.upper', 'null', '--fed', ...to]);
  const { id } = (await lastJob(to)) as { id: string };
  await using feeding = new Running(['feed', id, ...to]);
  for (const line of ['one', 'two']) {
    feeding.child.stdin?.write(`${line}\n`);
    await streaming.said(new RegExp(`"chunk":"${line.toUpperCase()}`));
  }
  assert.match(streaming.err, `troupe: job ${id}\n`);
  const waited = await inProcess(['await', id, '--stream', '--result-within', '2000', ...to]);
  assert.equal([waited.code, waited.out], [75, 'ONE\n\nTWO\n\n']);
  assert.match(waited.err, /no outcome within 2000 ms; it goes on/);
  feeding.child.stdin?.end();
  assert.equal([await feeding.exited, await streaming.exited], [0, 0]);
  const ran = await inProcess([
    ...['run', 'text.upper', 'null', '--stream', '--fed', '--result-within', '50'],
    ...to,
  ]);
  assert.is(ran.code, 75);
});

/** `host:port` of a leader on loopback. */
function addressOf(at: string): { readonly port: number } {
  return { port: Number(at.split(':').at(-1)) };
}

async function lastJob(to: readonly string[]): Promise<unknown> {
  for (;;) {
    const jobs = lines(await inProcess(['ls', '--json', '--state', 'running', ...to]));
    if (jobs.length > 0) return jobs.at(-1);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

streams.run();
