// Runtimes and tools of the npm registry, each in a folder of its own below .runtimes.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../workspace.mjs';
import { runWithin } from './run-within.mjs';

/**
 * Installs once.
 * @param {string} spec such as `node@24`
 * @returns {Promise<{ folder: string, problem: '' } | { folder: undefined, problem: string }>}
 */
export async function provide(spec) {
  const folder = join(root, '.runtimes', spec.replaceAll(/[@/+]/g, '-'));
  const stamp = join(folder, 'installed');
  if (existsSync(stamp)) return { folder, problem: '' };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const specs = spec.split('+');
  const args = ['install', '--no-audit', '--no-fund', '--prefix', folder, ...specs];
  const { code, output } = await runWithin('npm', args, { cwd: folder });
  if (code !== 0)
    return { folder: undefined, problem: `npm cannot install ${spec}: ${output.trim().split('\n').at(-1)}` };
  writeFileSync(stamp, '');
  return { folder, problem: '' };
}
