// The packages as bundlers make files of them, run by Node in a folder without node_modules.

import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programs, sources, threadEntries } from './bundle-sources.mjs';
import { runWithin } from './run-within.mjs';

/**
 * @typedef {object} Bundler
 * @property {string} name
 * @property {string} spec in the npm registry; several are joined by `+`
 * @property {readonly (keyof typeof programs)[]} programs
 * @property {boolean} [isInstalled] the packages are not in the bundle, but installed beside it
 * @property {(bundle: Bundle) => [program: string, ...args: string[]]} command
 * @property {(bundle: Bundle) => string} [config] text of the configuration file
 *
 * @typedef {object} Bundle
 * @property {string} tools the folder of the bundler
 * @property {Readonly<Record<string, string>>} entries source or package by the name of the output
 * @property {string} out the folder of the output
 * @property {string} config path of the configuration file
 */

/** @param {Bundle} bundle @param {string} name */
const bin = ({ tools }, name) => join(tools, 'node_modules/.bin', name);

/** @param {string} name @param {string[]} more @returns {Bundler} */
function esbuild(name, more) {
  return {
    name,
    spec: 'esbuild',
    programs: ['inline', 'actors', 'jobs'],
    command: (bundle) => [
      bin(bundle, 'esbuild'),
      ...Object.entries(bundle.entries).map(([output, entry]) => `${output}=${entry}`),
      ...['--bundle', '--platform=node', '--format=esm', '--splitting', `--outdir=${bundle.out}`, ...more],
    ],
  };
}

/** @param {Pick<Bundler, 'name' | 'programs' | 'isInstalled'>} bundler @param {string} more options of the configuration @returns {Bundler} */
function webpack(bundler, more) {
  return {
    ...bundler,
    spec: 'webpack+webpack-cli',
    command: (bundle) => [bin(bundle, 'webpack'), '--config', bundle.config],
    config: ({ entries, out }) => `export default {
  mode: 'production', target: 'node20', entry: ${JSON.stringify(entries)}, experiments: { outputModule: true },
  output: { path: '${out}', filename: '[name].js', module: true, chunkFormat: 'module', library: { type: 'module' } },
  ${more}
};
`,
  };
}

/** `import.meta.url` is that of the output, and modules of threads are entries, not assets that are copied. */
const OWN_ADDRESS = '{ parser: { javascript: { url: false, importMeta: false } } }';

export const esbuildMinified = esbuild('esbuild', ['--minify']);

/** @type {readonly Bundler[]} */
export const bundlers = [
  esbuildMinified,
  esbuild('esbuild-keep-names', ['--minify', '--keep-names']),
  {
    name: 'rollup',
    spec: 'rollup+@rollup/plugin-node-resolve',
    programs: ['inline', 'actors', 'jobs'],
    command: (bundle) => [bin(bundle, 'rollup'), '--config', bundle.config],
    config: ({
      tools,
      entries,
      out,
    }) => `import resolve from '${tools}/node_modules/@rollup/plugin-node-resolve/dist/es/index.js';
export default { input: ${JSON.stringify(entries)}, plugins: [resolve()], output: { dir: '${out}', format: 'es' } };
`,
  },
  webpack({ name: 'webpack', programs: ['inline'] }, ''),
  webpack({ name: 'webpack-threads', programs: ['jobs'] }, `module: ${OWN_ADDRESS},`),
  webpack(
    { name: 'webpack-externals', programs: ['actors'], isInstalled: true },
    `module: ${OWN_ADDRESS},
  externalsType: 'module',
  externals: [/^@troupe\\//, ({ request, contextInfo }, done) =>
    contextInfo.issuer !== '' && request === './counter.js' ? done(null, request) : done()],`,
  ),
];

/** @param {Bundler} bundler @param {string} tools @param {{ path: string }} packs */
export async function tryBundler(bundler, tools, { path }) {
  for (const program of bundler.programs) {
    const outcome = await tryProgram(bundler, program, tools, join(path, `${bundler.name}-${program}`));
    if (outcome.code !== 0)
      return { ...outcome, output: `program ${program}\n${outcome.output.replace(LONG_LINE, '$1…')}` };
  }
  return { code: 0, output: '' };
}

/** A line of minified code. */
const LONG_LINE = /(.{200}).+/g;

/** @param {Bundler} bundler @param {keyof typeof programs} program @param {string} tools @param {string} from folder of the sources */
async function tryProgram({ command, config, isInstalled }, program, tools, from) {
  const entries = writeSources(from, program);
  const bundle = { tools, entries, out: join(from, 'out'), config: join(from, 'bundle.config.mjs') };
  if (config !== undefined) writeFileSync(bundle.config, config(bundle));
  const [tool, ...args] = command(bundle);
  const made = await runWithin(tool, args, { cwd: from });
  if (made.code !== 0) return made;
  return isInstalled === true ? runProgram(bundle.out) : runElsewhere(bundle.out);
}

/** @param {string} folder @param {keyof typeof programs} program @returns {Record<string, string>} the entries */
function writeSources(folder, program) {
  mkdirSync(folder);
  const files = { ...sources, 'program.js': programs[program], 'package.json': '{ "type": "module" }' };
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  if (program === 'inline') return { program: './program.js' };
  const own = Object.keys(sources).map((file) => [file.replace(/\.js$/, ''), `./${file}`]);
  return { program: './program.js', ...Object.fromEntries(own), ...threadEntries };
}

/** @param {string} out */
async function runElsewhere(out) {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-bundle-')));
  try {
    cpSync(out, place, { recursive: true });
    writeFileSync(join(place, 'package.json'), '{ "type": "module" }');
    return await runProgram(place);
  } finally {
    rmSync(place, { recursive: true });
  }
}

/** @param {string} folder */
function runProgram(folder) {
  return runWithin(process.execPath, [join(folder, 'program.js')], { cwd: folder });
}
