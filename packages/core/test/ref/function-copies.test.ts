// needs: node
// Bundlers, minifiers and a strict CSP may not break ref classes, which are copied from their own text.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type BuildOptions, build } from 'esbuild';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FunctionCopies } from '#src/ref/function-copies.js';

const ownCopy = suite('own-copy');

const program = `
  import { createSystem, defineActor } from '@troupe/core';
  const system = createSystem();
  let sum = 0;
  for (let i = 0; i < 6; i += 1) {
    const Adder = defineActor('adder' + i, {
      state: () => ({ n: 0 }),
      handlers: { add: (ctx, by) => ctx.state.n += by, path: (ctx) => ctx.path },
    });
    const Plain = defineActor('plain' + i, { state: () => ({ n: 0 }), handlers: { put: (ctx, by) => ctx.state.n += by } });
    const adder = system.spawn(Adder);
    const plain = system.spawn(Plain);
    adder.tell.add(1);
    plain.tell.put(1);
    plain.tell.put(1);
    if (adder.offer.add(1) !== 'accepted') throw new Error('not accepted');
    await plain.send.put(1);
    sum += await adder.ask.add(1) + await plain.ask.put(1);
    const pool = system.spawnPool(Plain, { size: 2, routing: 'broadcast' });
    pool.tell.put(1);
    sum += await pool.ask.put(0);
  }
  await system.shutdown();
  process.stdout.write(String(sum));
`;

const namesProgram = `
  import { inspect } from 'node:util';
  import { createSystem, Failure, OptionError } from '@troupe/core';
  try {
    createSystem({ nmae: 'x' });
  } catch (error) {
    const { name, constructor, stack } = error;
    const shown = [name, constructor.name, stack.split(':')[0], inspect(new Failure('x')).split(' ')[0]];
    process.stdout.write([...shown, error instanceof OptionError].join(' '));
  }
`;

async function run(options: BuildOptions, ...flags: string[]): Promise<string> {
  return runProgram(program, options, ...flags);
}

async function runProgram(contents: string, options: BuildOptions, ...flags: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-bundle-'));
  try {
    const outfile = join(folder, 'bundle.mjs');
    const stdin = { contents, resolveDir: import.meta.dirname, loader: 'js' as const };
    await build({ stdin, outfile, bundle: true, format: 'esm', platform: 'node', ...options });
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, outfile]);
    return stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

const expected = String(6 * (3 + 4 + 1));
const forbidden = '--disallow-code-generation-from-strings';

ownCopy('a bundle works', async () => {
  assert.is(await run({}), expected);
});

ownCopy('a minified bundle works', async () => {
  assert.is(await run({ minify: true }), expected);
});

ownCopy('a minified bundle whose functions refer to a helper of the bundler works', async () => {
  assert.is(await run({ minify: true, keepNames: true }), expected);
});

ownCopy('a bundle for an older language level works', async () => {
  assert.is(
    await run({
      minify: true,
      keepNames: true,
      target: 'es2019',
      supported: { 'top-level-await': true, bigint: true },
    }),
    expected,
  );
});

ownCopy('a bundle works where code generation from strings is forbidden', async () => {
  assert.is(await run({ minify: true }, forbidden), expected);
  assert.is(await run({ minify: true, keepNames: true }, forbidden), expected);
});

ownCopy('names of errors and of failures survive a minifier', async () => {
  assert.is(
    await runProgram(namesProgram, { minify: true }),
    'OptionError OptionError OptionError Failure true',
  );
});

ownCopy('copies are functions of their own that do the same', () => {
  const original = (n: number): number => n + 1;
  const copies = new FunctionCopies(original, (copy) => void copy(1));
  const [one, other] = [copies.next(), copies.next()];
  assert.is.not(one, original);
  assert.is.not(one, other);
  assert.is(one(1), 2);
});

ownCopy('a function that refers to its surroundings is not copied', () => {
  const helper = (n: number): number => n + 1;
  const original = (n: number): number => helper(n);
  const copies = new FunctionCopies(original, (copy) => void copy(1));
  assert.is(copies.next(), original);
  assert.is(copies.next(), original);
});

ownCopy.run();
