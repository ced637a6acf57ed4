// The runtimes, and the tests that each of them runs.
import { join } from 'node:path';
import { directivesOf } from '../check/unit.mjs';

/**
 * @typedef {object} Runtime
 * @property {string} name
 * @property {string} spec in the npm registry
 * @property {(folder: string) => [program: string, ...args: string[]]} command that runs a module
 * @property {boolean} isNode
 */

/** @param {string} folder @param {string} name */
const bin = (folder, name) => join(folder, 'node_modules/.bin', name);

/** @param {number} version @returns {Runtime} */
function nodeRuntime(version) {
  return {
    name: `node-${version}`,
    spec: `node@${version}`,
    command: (folder) => [bin(folder, 'node'), '--enable-source-maps'],
    isNode: true,
  };
}

/** @type {readonly Runtime[]} */
export const runtimes = [
  nodeRuntime(22),
  nodeRuntime(24),
  { name: 'bun', spec: 'bun', command: (folder) => [bin(folder, 'bun'), 'run'], isNode: false },
  {
    name: 'deno',
    spec: 'deno',
    command: (folder) => [bin(folder, 'deno'), 'run', '-A', '--quiet', '--no-lock'],
    isNode: false,
  },
];

/** Tests of other runtimes than Node: actors, and jobs in one process. */
const PORTABLE = /^packages\/(core\/test|jobs\/test\/(client|embedded|job|testing))\//;

/** @param {Runtime} runtime @param {import('../check/unit.mjs').TestFile} file */
export function isForRuntime(runtime, { name }) {
  return runtime.isNode ? name.startsWith('packages/') : PORTABLE.test(name);
}

/** Why a runtime cannot run a test, or undefined. @param {Runtime} runtime @param {import('../check/unit.mjs').TestFile} file */
export function skipReason(runtime, { source }) {
  return !runtime.isNode && directivesOf(source).needs.includes('node') ? 'it needs Node' : undefined;
}
