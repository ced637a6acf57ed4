// timeout: 300s
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  inProcess,
  lines,
  ownLeader,
  ownWorker,
  Running,
  stage,
  start,
  troupe,
  WARM_HANDLERS,
  workerOf,
} from './troupe.js';

const jobs = suite('jobs by the command');

// From packages/cli/.test/bin up to the root.
const examples = fileURLToPath(new URL('../../../../docs/examples/', import.meta.url));

jobs('the handlers at the top of docs/cli.md add two numbers', async () => {
  await using s = await stage();
  await using _worker = await workerOf(s.at, examples);
  const ran = await troupe(['run', 'math.add', '[1, 2]', '--leader', s.at]);
  assert.equal(ran, { code: 0, out: '3\n', err: '' });
});

jobs('`worker --threads` runs the handlers of the module on threads, a slot each', async () => {
  await using s = await stage();
  const module = join(examples, 'handlers.mjs');
  await using worker = new Running(['worker', module, '--threads', '2', '--leader', s.at]);
  assert.equal([(await worker.first)['slots'], (await worker.first)['execs']], [2, ['math.add']]);
  const ran = await troupe(['run', 'math.add', '[1, 2]', '--leader', s.at]);
  assert.equal(ran, { code: 0, out: '3\n', err: '' });
  assert.is(await worker.end(), 0);
});

jobs(
  'run prints the output, submit the id, await the output again; payload from argument, file and stdin',
  async () => {
    await using s = await stage();
    await using _worker = await workerOf(s.at, s.dir);
    const to = ['--leader', s.at];
    assert.equal(await troupe(['run', 'math.add', '[1, 2]', ...to]), { code: 0, out: '3\n', err: '' });
    const submitted = await troupe(['submit', 'math.add', ...to], { stdin: '[3, 4]' });
    assert.match(submitted.out, /^[0-9a-z]{5}-[0-9a-z]+\n$/);
    const id = submitted.out.trim();
    assert.equal(await inProcess(['await', id, ...to]), { code: 0, out: '7\n', err: '' });
    await writeFile(join(s.dir, 'payload.json'), '[20, 22]');
    const [ran] = lines(
      await inProcess(['run', 'math.add', '--file', join(s.dir, 'payload.json'), '--json', ...to]),
    );
    assert.is(ran?.['output'], 42);
    const text = await inProcess(['run', 'text.echo', 'not json', '--text', ...to]);
    assert.is(text.out, '"not json"\n');
    const [receipt] = lines(
      await inProcess(['submit', 'math.add', '[1,1]', '--idempotency-key', 'k', '--json', ...to]),
    );
    const [again] = lines(
      await inProcess(['submit', 'math.add', '[1,1]', '--idempotency-key', 'k', '--json', ...to]),
    );
    assert.is(receipt?.['level'], 'fsync');
    assert.is(again?.['id'], receipt?.['id']);
    assert.is(again?.['duplicate'], true);
    const conflict = await inProcess(['submit', 'math.add', '[1,2]', '--idempotency-key', 'k', ...to]);
    assert.is(conflict.code, 65);
    assert.match(
      conflict.err,
      /^troupe: submit refused: key 'k' belongs to a job with another payload; use another --idempotency-key/,
    );
  },
);

jobs('a large payload file is streamed to the leader, as JSON or as text', async () => {
  await using s = await ownLeader({ limits: { payloadBytesMax: 8 * 2 ** 20 } });
  await using _worker = await ownWorker(s);
  const to = ['--leader', s.at];
  const file = join(s.dir, 'large.json');
  await writeFile(file, `[20,${' '.repeat(2_000_000)}22]`);
  assert.equal(await inProcess(['run', 'math.add', '--file', file, ...to]), {
    code: 0,
    out: '42\n',
    err: '',
  });
  const text = 'so "é" it\n is 🎭 '.repeat(100_000);
  await writeFile(file, text);
  const [sent] = lines(
    await inProcess(['submit', 'unserved.job', '--text', '--file', file, '--json', ...to]),
  );
  const [shown] = lines(await inProcess(['show', String(sent?.['id']), '--json', ...to]));
  assert.is(shown?.['payloadBytes'], Buffer.byteLength(JSON.stringify(text)));
  assert.is((await readdir(join(s.dir, 'state', 'blobs'))).length, 2);
});

jobs('`submit --lines` submits one job per line, in order', async () => {
  await using s = await ownLeader();
  await using _worker = await ownWorker(s);
  const to = ['--leader', s.at];
  const stdin = `${Array.from({ length: 50 }, (_, i) => `[${i}, 1]`).join('\n')}\n`;
  const ids = (await troupe(['submit', 'math.add', '--lines', ...to], { stdin })).out.trim().split('\n');
  assert.is(new Set(ids).size, 50);
  assert.is((await inProcess(['await', ids[49] ?? '', ...to])).out, '50\n');
  const bad = await troupe(['submit', 'math.add', '--lines', ...to], { stdin: '[1,1]\n[2,2]\n{\n[3,3]\n' });
  assert.is(bad.code, 65);
  // The jobs of the lines before the bad one exist: their ids were printed.
  assert.match(bad.out, /^\S+-\S+\n\S+-\S+\n$/);
  assert.is(
    bad.err,
    'troupe: payload from standard input, line 3: not JSON; say --text to send it as a text\n',
  );
});

jobs('`submit --lines` prints ids while input goes on, and refuses a payload argument or a key', async () => {
  await using s = await ownLeader();
  const to = ['--leader', s.at];
  const slow = start(['submit', 'math.add', '--lines', ...to]);
  slow.stdin?.write('[1,1]\n');
  const [chunk] = (await once(slow.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  assert.match(chunk.toString(), /^\S+-\S+\n$/);
  slow.stdin?.end();
  assert.is((await once(slow, 'exit'))[0], 0);
  assert.is((await inProcess(['submit', 'math.add', '[1,2]', '--lines', ...to])).code, 64);
  assert.is((await inProcess(['submit', 'math.add', '--lines', '--idempotency-key', 'k', ...to])).code, 64);
});

jobs('a command ends at its time limit, and prints that it waits for an unreachable leader', async () => {
  await using s = await stage();
  const to = ['--leader', s.at];
  const unserved = await inProcess(['run', 'unserved.job', '1', '--timeout', '1000', ...to]);
  assert.is(unserved.code, 75);
  assert.match(unserved.err, /^troupe: job \S+: no outcome within \d+ ms; it goes on/);
  const waiting = start(['run', 'unserved.job', '1', '--timeout', '20000', ...to]);
  let printed = '';
  waiting.stderr?.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  while ((await inProcess(['ls', ...to])).out.split('\n').length < 4);
  await s.leader.end('SIGKILL');
  while (!/^troupe: leader at \S+: lost \(.*\); waiting for it$/m.test(printed))
    await once(waiting.stderr as NodeJS.ReadableStream, 'data');
  waiting.kill('SIGKILL');
  await once(waiting, 'exit');
  const unreachable = await inProcess(['submit', 'math.add', '1', '--timeout', '300', ...to]);
  assert.is(unreachable.code, 69);
  assert.match(
    unreachable.err,
    /^troupe: leader at \S+: not there \(.*\); waiting for it\ntroupe: leader at .*\n$/,
  );
});

jobs('`ls`, `show` and `cancel` work on queued and running jobs', async () => {
  await using s = await ownLeader();
  const to = ['--leader', s.at];
  const first = (await inProcess(['submit', 'math.add', '[1,2]', ...to])).out.trim();
  const second = (await inProcess(['submit', 'text.echo', '0', '--delay', '60000', ...to])).out.trim();
  const listed = lines(await inProcess(['ls', '--json', ...to]));
  assert.equal(
    listed.map(({ id, state, exec }) => ({ id, state, exec })),
    [
      { id: first, state: 'queued', exec: 'math.add' },
      { id: second, state: 'queued', exec: 'text.echo' },
    ],
  );
  const plain = await inProcess(['ls', '--state', 'queued', '--max', '1', ...to]);
  assert.match(plain.out, /^ID +STATE +EXEC +ATTEMPT +SUBMITTED +REASON\n\S+ +queued +math\.add +0 .*\n$/);
  const shown = await inProcess(['show', second, ...to]);
  assert.match(shown.out, new RegExp(`^id +${second}\nexec +text\\.echo\nstate +queued\n`));
  assert.is((await inProcess(['cancel', second, '--reason', 'enough', ...to])).out, `${second} cancelled\n`);
  assert.is((await inProcess(['cancel', second, ...to])).out, `${second} cancelled\n`);
  const [job] = lines(await inProcess(['show', second, '--json', ...to]));
  assert.is(job?.['state'], 'cancelled');
  assert.is(job?.['reason'], 'enough');
  assert.is(job?.['payloadBytes'], null);
  // The oldest jobs come first, in whatever state.
  await inProcess(['submit', 'math.add', '[3,4]', ...to]);
  assert.equal(
    lines(await inProcess(['ls', '--max', '2', '--json', ...to])).map(({ id }) => id),
    [first, second],
  );
  const awaited = await inProcess(['await', second, ...to]);
  assert.is(awaited.code, 1);
  assert.is(awaited.err, `troupe: job ${second}: cancelled: enough\n`);
  const waited = await inProcess(['await', first, '--result-within', '50', ...to]);
  assert.is(waited.code, 75);
  assert.match(waited.err, /no outcome within 50 ms; it goes on, .*; see troupe await\n/);
});

jobs('`dlq ls`, `show`, `redrive` and `purge` work on dead letters', async () => {
  await using s = await ownLeader();
  await using _worker = await ownWorker(s);
  const to = ['--leader', s.at];
  const ran = await inProcess(['run', 'math.fail', '1', '--attempts', '1', ...to]);
  assert.is(ran.code, 1);
  const id = / job (\S+):/.exec(ran.err)?.[1] ?? '';
  assert.is(
    ran.err,
    `troupe: job ${id}: ended in the dead letters (failed): it never works; see troupe dlq show\n`,
  );
  const [dead] = lines(await inProcess(['dlq', 'ls', '--json', ...to]));
  assert.is(dead?.['id'], id);
  assert.match((await inProcess(['dlq', 'ls', ...to])).out, /LAST ERROR\n.*it never works\n$/);
  assert.match((await inProcess(['dlq', 'show', id, ...to])).out, /failure +Error: it never works\n/);
  assert.is((await inProcess(['dlq', 'redrive', id, ...to])).out, '1 of 1 queued again\n');
  assert.is((await inProcess(['await', id, ...to])).code, 1);
  assert.equal(lines(await inProcess(['dlq', 'purge', '--all', '--json', ...to])), [
    { purged: 1, requested: 1 },
  ]);
  const gone = await inProcess(['dlq', 'purge', id, ...to]);
  assert.equal([gone.code, gone.out], [66, '0 of 1 purged\n']);
  const alive = (await inProcess(['submit', 'no.worker', '1', ...to])).out.trim();
  assert.is((await inProcess(['dlq', 'show', alive, ...to])).code, 66);
  assert.is((await inProcess(['dlq', 'redrive', ...to])).code, 64);
});

jobs('`workers ls` lists workers, and `check` fails with its reasons', async () => {
  await using s = await stage();
  const to = ['--leader', s.at];
  const lonely = await inProcess(['check', '--workers-min', '1', ...to]);
  assert.is(lonely.code, 75);
  assert.match(lonely.out, /^not well: 0 workers alive, needed 1\nuse: jobs 0\/\d+, /);
  await using worker = await workerOf(s.at, s.dir, ['--slots', '3']);
  const [one] = lines(await inProcess(['workers', 'ls', '--json', ...to]));
  assert.match(String(one?.['worker']), /^w1~/);
  assert.equal([one?.['liveness'], one?.['slots']], ['alive', 3]);
  assert.match(
    (await inProcess(['workers', 'ls', ...to])).out,
    /^WORKER +STATE +RUNNING.*\nw1~\S+ +alive +0\/3/,
  );
  const [well] = lines(await inProcess(['check', '--workers-min', '1', '--json', ...to]));
  assert.is(well?.['ok'], true);
  assert.match((await inProcess(['check', ...to])).out, /^ok: 0 queued, 0 running/);
  assert.is(await worker.end(), 0);
});

// A blocked worker is told apart from a dead one.
jobs('`workers ls` and `show` print that a worker is blocked, and for how long', async () => {
  await using s = await ownLeader();
  const to = ['--leader', s.at];
  await using worker = await workerOf(s.at, s.dir);
  const id = (await inProcess(['submit', 'cpu.spin', '3600000', ...to])).out.trim();
  let listed = '';
  // The worker is blocked for an hour; the leader notices after a second or two.
  while (!listed.includes('blocked')) listed = (await inProcess(['workers', 'ls', ...to])).out;
  assert.match(listed, /\nw1~\S+ +blocked for \d+ s +1\/\d+ +0 /);
  assert.match((await inProcess(['show', id, ...to])).out, /worker +w1~\S+ \(blocked for \d+ s\)/);
  const [shown] = lines(await inProcess(['show', id, '--json', ...to]));
  assert.equal([shown?.['state'], shown?.['liveness']], ['running', 'blocked']);
  assert.ok(Number(shown?.['blockedMs']) >= 1_000);
  await worker.end('SIGKILL');
});

// Three heartbeats are silence, so a lease of a second is the lease that counts.
jobs('a handler that holds the event loop for three leases keeps its job', async () => {
  await using s = await ownLeader({ times: { heartbeatMs: 200 } });
  const to = ['--leader', s.at];
  await using _worker = await workerOf(s.at, s.dir);
  const ran = await inProcess([
    'run',
    'cpu.spin',
    '3000',
    '--lease',
    '1s',
    '--attempts',
    '3',
    '--json',
    ...to,
  ]);
  assert.is(ran.code, 0, ran.err);
  const [result] = lines(ran);
  const [shown] = lines(await inProcess(['show', String(result?.['id']), '--json', ...to]));
  assert.equal([shown?.['state'], shown?.['attempt'], shown?.['failures']], ['done', 1, 0]);
});

jobs('a worker without a module runs the programs that --command lists', async () => {
  await using s = await ownLeader();
  const to = ['--leader', s.at];
  const flags = ['--command', 'say=/bin/echo', '--command-cwd', s.dir, '--http', 'example.com'];
  await using worker = new Running(['worker', ...flags, '--name', 'w3', ...to]);
  assert.equal((await worker.first)['execs'], ['command.run', 'http.request']);
  const ran = await inProcess(['run', 'command.run', '{"argv":["say","hello"]}', '--json', ...to]);
  const [{ output } = { output: {} }] = lines(ran) as { output: { stdout?: string } }[];
  assert.is(output.stdout, 'hello\n');
  const refused = await inProcess(['run', 'command.run', '{"argv":["rm"]}', ...to]);
  assert.match(refused.err, /'rm' is not on the worker's list/);
  for (const wrong of [[], ['--command', 'echo'], ['--http-private', '::1'], ['--threads', '1', ...flags]])
    assert.is((await inProcess(['worker', ...wrong, ...to])).code, 64);
});

jobs('`show` prints progress and log lines of a job that runs', async () => {
  await using s = await ownLeader();
  const to = ['--leader', s.at];
  await using _worker = await ownWorker(s);
  const id = (await inProcess(['submit', 'slow.pages', '3600000', ...to])).out.trim();
  let shown = '';
  while (!shown.includes('progress')) shown = (await inProcess(['show', id, ...to])).out;
  assert.match(shown, /\nprogress +40 % page 12\nlog +20\S+Z read \\\S+page 12\n$/);
  const [json] = lines(await inProcess(['show', id, '--json', ...to]));
  assert.is((json?.['progress'] as { share?: number } | undefined)?.share, 0.4);
});

jobs('`workers ls` shows warm runners, and `show` that a job waits for one', async () => {
  await using s = await ownLeader();
  const to = ['--leader', s.at];
  await using _worker = await ownWorker(s);
  assert.not.match((await inProcess(['workers', 'ls', ...to])).out, /RUNNERS/);
  const module = join(s.dir, 'warm.mjs');
  await writeFile(module, WARM_HANDLERS);
  await using warm = new Running(['worker', module, '--leader', s.at, '--name', 'w2']);
  await warm.first;
  const first = (await inProcess(['submit', 'warm.nap', '3600000', ...to])).out.trim();
  let listed = '';
  while (!listed.includes('warm.nap 1/1')) listed = (await inProcess(['workers', 'ls', ...to])).out;
  assert.match(listed, /^WORKER .* RUNNERS\n/);
  const second = (await inProcess(['submit', 'warm.nap', '1', ...to])).out.trim();
  assert.match((await inProcess(['show', second, ...to])).out, /\nwaits for +runner warm\.nap\n/);
  const [shown] = lines(await inProcess(['show', first, '--json', ...to]));
  assert.is(shown?.['waitsForRunner'], null);
});

jobs('`workers ls` shows the handlers that outlive their attempt', async () => {
  await using s = await ownLeader();
  const to = ['--leader', s.at];
  await using _worker = await workerOf(s.at, s.dir, ['--slots', '1']);
  const ran = await inProcess([
    'run',
    'slow.nap',
    '3600000',
    '--run-within',
    '200ms',
    '--attempts',
    '1',
    ...to,
  ]);
  assert.is(ran.code, 1);
  const listed = (await inProcess(['workers', 'ls', ...to])).out;
  assert.match(listed, /^WORKER +STATE +RUNNING +OVERRUN +CREDIT .*\nw1~\S+ +alive +0\/1 +1 +0 /);
});

jobs.run();
