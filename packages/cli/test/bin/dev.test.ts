// timeout: 120s
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { folder, inProcess, Running } from './troupe.js';

const dev = suite('developing by the command');
const jobs = new URL('../../../jobs/dist/index.js', import.meta.url).href;

/** A module whose handler is in a module that it imports. */
const MODULE = `import { defineJob, handle } from ${JSON.stringify(jobs)};
import { shout } from './loud.mjs';
const any = { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } };
export const quiet = handle(defineJob('text.shout', { input: any, output: any }), shout);
`;

dev('`troupe dev` runs leader, page and worker, and a change of any file reloads the worker', async () => {
  await using f = await folder();
  const module = join(f.dir, 'module.mjs');
  const loud = join(f.dir, 'loud.mjs');
  await writeFile(module, MODULE);
  await writeFile(loud, 'export const shout = (name) => `quiet ${name}`;\n');
  await using process = new Running(['dev', module, '--port', '0', '--http', '0']);
  const { address, url } = (await process.first) as { address: string; url: string };
  const run = async (): Promise<string> =>
    (await inProcess(['run', 'text.shout', '"ann"', '--leader', address])).out.trim();
  assert.is(await run(), '"quiet ann"');
  assert.is((await fetch(`${url}/api/health`)).status, 200);
  const readies = (): number => process.printed.split('"execs"').length - 1;
  await writeFile(loud, 'export const shout = (name) => { syntax error');
  await process.said(/the worker ended with 65; it starts again when a file changes/);
  assert.match(process.err, `(${loud}:1)`, 'the place of a syntax error is named');
  const before = readies();
  await writeFile(join(f.dir, 'written-by-a-handler.txt'), 'no module');
  await writeFile(loud, 'export const shout = (name) => `HELLO ${name}`;\n');
  while (readies() === before) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.is(await run(), '"HELLO ann"');
  assert.not.match(process.printed, 'written-by-a-handler');
  assert.is(await process.end('SIGTERM'), 0);
});

dev('a module whose name begins like the folder of the jobs is watched, the folder is not', async () => {
  await using f = await folder();
  const stately = join(f.dir, 'state.mjs');
  await writeFile(stately, MODULE.replace("import { shout } from './loud.mjs';", 'const shout = () => 1;'));
  const at = ['--port', '0', '--http', '0'];
  await using process = new Running(['dev', stately, '--dir', join(f.dir, 'state'), ...at]);
  await process.said(/"execs"/);
  await writeFile(join(f.dir, 'state', 'own.json'), '1');
  await writeFile(stately, MODULE.replace("import { shout } from './loud.mjs';", 'const shout = () => 2;'));
  await process.said(/"changed","file":"state\.mjs"/);
  assert.not.match(process.printed, 'own.json');
  assert.is(await process.end('SIGTERM'), 0);
  const beside = await inProcess(['dev', stately, '--dir', f.dir, ...at]);
  assert.equal(
    [beside.code, beside.err],
    [
      64,
      `troupe: dev --dir ${f.dir}: the module is in it; name a folder for the jobs alone, such as ./state\n`,
    ],
  );
});

dev('a module that does not exist is exit 66, and nothing is started', async () => {
  await using f = await folder();
  const ended = await inProcess(['dev', join(f.dir, 'missing.mjs'), '--port', '0', '--http', '0']);
  assert.is(ended.code, 66);
  assert.match(ended.err, /^troupe: ENOENT.*; check the path\n$/);
});

dev.run();
