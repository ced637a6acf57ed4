// A minifier shortens the names of classes; logs and stacks show the names of errors.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const errors = suite('error names');

/** Prints how many error classes are exported, and those whose name is not that of their export. */
const PROGRAM = `
  import * as jobs from '@troupe/jobs';
  import * as threads from '@troupe/threads';
  import * as transport from '@troupe/transport';
  import * as wal from '@troupe/wal';
  const classes = [jobs, threads, transport, wal].flatMap((all) => Object.entries(all))
    .filter(([, value]) => typeof value === 'function' && value.prototype instanceof Error);
  const other = classes.filter(([name, { name: shown }]) => name !== shown).map(([name]) => name);
  const { name } = new jobs.ClientClosedError();
  process.stdout.write(JSON.stringify({ count: classes.length, other, name }));
  process.exit();
`;

errors('names of errors of jobs, threads, transport and wal survive a minifier', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-names-'));
  try {
    const outfile = join(folder, 'bundle.mjs');
    const stdin = { contents: PROGRAM, resolveDir: import.meta.dirname, loader: 'js' as const };
    await build({ stdin, outfile, bundle: true, format: 'esm', platform: 'node', minify: true });
    const { stdout } = await promisify(execFile)(process.execPath, [outfile]);
    const { count, ...rest } = JSON.parse(stdout) as { count: number };
    assert.ok(count > 30, `${count} classes`);
    assert.equal(rest, { other: [], name: 'ClientClosedError' });
  } finally {
    await rm(folder, { recursive: true });
  }
});

errors.run();
