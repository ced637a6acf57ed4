import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { RunContext } from '../runner/suite.js';
import type { Adapter } from './actor-system.js';
import { missingChannelSystem } from './channel-command.js';
import { floor } from './floor.js';
import { troupe } from './troupe.js';

const peersFolder = new URL('../../peers/', import.meta.url);
const peerNames: readonly string[] = ['xstate', 'nact', 'comedy', 'effect', 'tart', 'akkajs'];

/** The systems that run in a JavaScript process; `*` is any adapter given by the user. */
export const scriptSystems: readonly string[] = ['troupe', 'floor', ...peerNames, '*'];

function hasErlang(): boolean {
  return spawnSync('erl', ['-version'], { stdio: 'ignore' }).error === undefined;
}

function peerInstalled(name: string): boolean {
  const folder = new URL(`node_modules/${name}/package.json`, peersFolder);
  return existsSync(folder);
}

/** The reason why a system cannot run here, `undefined` if it can. */
export function missingSystem(system: string): string | undefined {
  if (system === 'erlang' && !hasErlang()) {
    return 'erl is not installed: apt-get install erlang-base, or npm run bench -- --install-peers';
  }
  const uncompiled = missingChannelSystem(system);
  if (uncompiled !== undefined) return uncompiled;
  if (peerNames.includes(system) && !peerInstalled(system)) {
    return `${system} is not installed: npm run bench -- --install-peers`;
  }
  return undefined;
}

async function importAdapter(url: string): Promise<Adapter> {
  const module: Partial<Adapter> = await import(url);
  if (typeof module.open !== 'function' || typeof module.name !== 'string') {
    throw new TypeError(`${url}: an adapter exports 'name' and 'open'`);
  }
  return { name: module.name, open: module.open, note: module.note };
}

/** The adapter of a system by its name; a file given by the user takes precedence. */
export async function adapterOf(context: RunContext): Promise<Adapter> {
  const given = context.adapters[context.system];
  if (given !== undefined) return importAdapter(given);
  if (context.system === 'troupe') return troupe();
  if (context.system === 'unsliced') return troupe({ unsliced: true });
  if (context.system === 'floor') return floor;
  if (peerNames.includes(context.system)) {
    return importAdapter(new URL(`${context.system}.mjs`, peersFolder).href);
  }
  throw new RangeError(`no adapter for ${context.system}`);
}
