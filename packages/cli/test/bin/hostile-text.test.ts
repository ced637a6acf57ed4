// timeout: 60s
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inProcess, lines, Running, stage, start, troupe } from './troupe.js';

const texts = suite('texts of others');
const jobs = new URL('../../../jobs/dist/index.js', import.meta.url).href;

const HANDLERS = `import { defineJob, handle } from ${JSON.stringify(jobs)};
const any = { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } };
export const bad = handle(defineJob('bad.one', { input: any, output: any }), () => { throw new Error('one\\ntwo\\u001b[2J'); });
`;

texts("a handler's error is printed on one line without escape sequences by every command", async () => {
  await using s = await stage();
  const module = join(s.dir, 'bad.mjs');
  await writeFile(module, HANDLERS);
  await using worker = new Running(['worker', module, '--leader', s.at]);
  await worker.first;
  const to = ['--leader', s.at];
  const id = (await inProcess(['submit', 'bad.one', '1', '--attempts', '1', ...to])).out.trim();
  const ran = await inProcess(['await', id, ...to]);
  assert.is(ran.code, 1);
  assert.match(ran.err, /^troupe: job .*: one two\\u001b\[2J; see troupe dlq show\n$/);
  const listed = await inProcess(['dlq', 'ls', ...to]);
  assert.is(listed.out.trimEnd().split('\n').length, 2);
  assert.match(listed.out, /one\\ntwo\\u001b\[2J$/m);
  const shown = await inProcess(['dlq', 'show', id, ...to]);
  assert.match(shown.out, /^failure +Error: one\\ntwo\\u001b\[2J$/m);
  assert.not.ok((shown.out + listed.out + worker.err).includes('\u001b'));
  await worker.said(/attempt 1: failed: Error: one\\ntwo\\u001b\[2J\n/);
  const [view] = lines(await inProcess(['dlq', 'show', id, '--json', ...to]));
  assert.ok(view);
  const { stack, ...failure } = view['failure'] as { readonly stack: string };
  assert.equal(failure, { name: 'Error', message: 'one\ntwo\u001b[2J' });
  assert.ok(stack.startsWith('Error: one\ntwo'));
});

texts('an unknown subcommand or option is one line that names the help of its command', async () => {
  const table: readonly (readonly [words: readonly string[], line: string])[] = [
    [['nonsense'], "troupe: unknown command 'nonsense'; see troupe --help\n"],
    [['submit'], "troupe: missing required argument 'exec'; see troupe submit --help\n"],
    [
      ['dlq', 'ls', '--max', '0'],
      "troupe: option '--max <n>' argument '0' is invalid. It must be a whole number from 1 to 1000000; see troupe dlq ls --help\n",
    ],
    [['wal', 'dump', '.', '--from', '5', '--to', '3'], 'troupe: wal dump: --from 5 is behind --to 3\n'],
  ];
  for (const [words, line] of table) {
    const { code, err } = await inProcess(words);
    assert.is(code, 64);
    assert.is(err, line);
  }
  const empty = await troupe(['submit', 'a.job'], { stdin: ' \n' });
  assert.is(empty.code, 65);
  assert.is(
    empty.err,
    'troupe: payload from standard input: empty; give JSON, null for none, or say --text\n',
  );
});

texts('an interrupted `troupe bench` removes its folder and prints the signal', async () => {
  await using s = await stage();
  // Its own leader puts its folder there.
  const child = start(['bench', '--jobs', '100000000'], s.dir, { TMPDIR: s.dir });
  let err = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const folders = async (): Promise<string[]> =>
    (await readdir(s.dir)).filter((name) => name.startsWith('troupe-bench-'));
  while ((await folders()).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGINT');
  assert.is(await exited, 130);
  assert.equal(await folders(), []);
  assert.match(err, /troupe: bench: ended by SIGINT\n$/);
});

texts.run();
