// Where things are in this repository. No dependencies: the bootstrap runs before anything is installed.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * @typedef {object} Manifest
 * @property {string} name
 * @property {string} [version]
 * @property {boolean} [private]
 * @property {string} [packageManager]
 * @property {{ node: string }} [engines]
 * @property {Record<string, unknown>} [exports]
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [devDependencies]
 * @property {Record<string, string>} [peerDependencies]
 */

/** @param {string} folder relative to the root @returns {Manifest} */
export function manifestOf(folder) {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
}

/** Folders of the workspace, in the order of pnpm-workspace.yaml. @returns {string[]} */
export function workspaceFolders() {
  const lines = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8').split('\n');
  const first = lines.indexOf('packages:') + 1;
  const patterns = [];
  for (let at = first; /^ {2}- /.test(lines[at] ?? ''); at += 1)
    patterns.push((lines[at] ?? '').slice(4).trim());
  return patterns.flatMap(expand).filter((folder) => existsSync(join(root, folder, 'package.json')));
}

/** @param {string} pattern @returns {string[]} */
function expand(pattern) {
  if (!pattern.endsWith('/*')) return [pattern];
  const parent = pattern.slice(0, -2);
  if (!existsSync(join(root, parent))) return [];
  return readdirSync(join(root, parent))
    .sort()
    .map((name) => `${parent}/${name}`);
}

/** Every file below a folder, as paths relative to it with forward slashes. @param {string} folder @returns {string[]} */
export function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      if (entry.name === 'node_modules') return [];
      if (!entry.isDirectory()) return [entry.name];
      return filesBelow(join(folder, entry.name)).map((path) => `${entry.name}/${path}`);
    });
}
