// Running other programs: quiet while they work, everything they said when they fail.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { manifestOf, root } from './workspace.mjs';

/**
 * @typedef {{ code: number, output: string }} Outcome
 * @typedef {{ cwd?: string, env?: NodeJS.ProcessEnv }} Options
 */

/**
 * Runs a program to its end and keeps what it wrote.
 * @param {string} program @param {string[]} args @param {Options} [options] @returns {Promise<Outcome>}
 */
export function run(program, args, options = {}) {
  return new Promise((resolve) => {
    // npx is a .cmd file on Windows, which only a shell can start.
    const shell = process.platform === 'win32' && program === 'npx';
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], shell, ...options });
    let output = '';
    const keep = (/** @type {Buffer} */ bytes) => {
      output += bytes;
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', (error) => resolve({ code: 127, output: `${program}: ${error.message}\n` }));
    child.on('close', (code, signal) =>
      resolve({ code: code ?? 1, output: signal ? `${output}\n${signal}\n` : output }),
    );
  });
}

/** Runs a script with this Node. @param {string[]} args @param {Options} [options] */
export function node(args, options) {
  return run(process.execPath, args, options);
}

/** The script behind a development tool. @type {Record<string, string>} */
const tools = {
  tsc: 'typescript/bin/tsc',
  biome: '@biomejs/biome/bin/biome',
  knip: 'knip/bin/knip.js',
  publint: 'publint/src/cli.js',
  attw: '@arethetypeswrong/cli/dist/index.js',
};

/** @param {string} name one of the installed tools @param {string[]} args @param {Options} [options] */
export function tool(name, args, options) {
  const script = tools[name];
  if (script === undefined) throw new Error(`tool ${name}: not one of ${Object.keys(tools).join(', ')}`);
  return node([join(root, 'node_modules', script), ...args], options);
}

/** pnpm in exactly the version of packageManager: its own switch to another version fails behind mirrors. */
export const pnpmSpec = manifestOf('.').packageManager ?? 'pnpm';

/** @param {string[]} args @param {Options} [options] */
export function pnpm(args, options) {
  return run('npx', ['--yes', pnpmSpec, ...args], options);
}
