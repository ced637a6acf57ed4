// The packages as a bundler makes one file of them, run by Node: actors, embedded jobs, and errors with their names.

import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { node, run } from '../command.mjs';

/**
 * @typedef {object} Bundler
 * @property {string} name
 * @property {string} spec in the npm registry; several are joined by `+`
 * @property {(bundle: Bundle) => [program: string, ...args: string[]]} command
 * @property {(bundle: Bundle) => string} [config] text of the configuration file
 *
 * @typedef {{ tools: string, entry: string, out: string, config: string }} Bundle the paths
 */

/** @param {Bundle} bundle @param {string} name */
const bin = ({ tools }, name) => join(tools, 'node_modules/.bin', name);

/** @param {Bundle} bundle @param {string[]} more @returns {[string, ...string[]]} */
function esbuild(bundle, more) {
  const flags = ['--bundle', '--platform=node', '--format=esm', '--minify', `--outfile=${bundle.out}`];
  return [bin(bundle, 'esbuild'), bundle.entry, ...flags, ...more];
}

/** @type {readonly Bundler[]} */
export const bundlers = [
  { name: 'esbuild', spec: 'esbuild', command: (bundle) => esbuild(bundle, []) },
  { name: 'esbuild-keep-names', spec: 'esbuild', command: (bundle) => esbuild(bundle, ['--keep-names']) },
  {
    name: 'rollup',
    spec: 'rollup+@rollup/plugin-node-resolve',
    command: (bundle) => [bin(bundle, 'rollup'), '--config', bundle.config],
    config: ({
      tools,
      entry,
      out,
    }) => `import resolve from '${tools}/node_modules/@rollup/plugin-node-resolve/dist/es/index.js';
export default { input: '${entry}', plugins: [resolve()], output: { file: '${out}', format: 'es', inlineDynamicImports: true } };
`,
  },
  {
    name: 'webpack',
    spec: 'webpack+webpack-cli',
    command: (bundle) => [bin(bundle, 'webpack'), '--config', bundle.config],
    config: ({ entry, out }) => `export default {
  mode: 'production', target: 'node20', entry: '${entry}', experiments: { outputModule: true },
  output: { path: '${dirname(out)}', filename: '${basename(out)}', module: true, chunkFormat: 'module' },
};
`,
  },
];

const PROGRAM = `import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystem, defineActor, OptionError } from '@troupe/core';
import { defineJob, embedded, handle } from '@troupe/jobs';

const Counter = defineActor('counter', {
  state: () => ({ n: 0 }),
  handlers: { add(ctx, by) { ctx.state.n += by; return ctx.state.n; } },
});
const system = createSystem();
const counter = system.spawn(Counter, { name: 'counter' });
if ((await counter.ask.add(2)) !== 2) throw new Error('no actor');
try {
  system.spawn(Counter, { nam: 'typo' });
  throw new Error('not refused');
} catch (error) {
  if (!(error instanceof OptionError) || error.name !== 'OptionError') throw error;
}
await system.shutdown();

const text = { '~standard': { version: 1, vendor: 'smoke', validate: (value) => ({ value }) } };
const shout = defineJob('text.shout', { input: text, output: text });
const dir = await mkdtemp(join(tmpdir(), 'troupe-bundle-'));
const app = await embedded({ dir });
app.worker({ handlers: [handle(shout, (input) => input.toUpperCase())] });
if ((await app.client().run(shout, 'hello')) !== 'HELLO') throw new Error('no job');
await app.close();
await rm(dir, { recursive: true });
`;

/** @param {Bundler} bundler @param {string} tools @param {{ path: string }} packs */
export async function tryBundler({ name, command, config }, tools, { path }) {
  const paths = {
    tools,
    entry: join(path, 'program.mjs'),
    out: join(path, `${name}.mjs`),
    config: join(path, `${name}.config.mjs`),
  };
  writeFileSync(paths.entry, PROGRAM);
  if (config !== undefined) writeFileSync(paths.config, config(paths));
  const [program, ...args] = command(paths);
  const made = await run(program, args, { cwd: path });
  return made.code === 0 ? node([paths.out], { cwd: tmpdir() }) : made;
}
