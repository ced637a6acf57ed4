// The packed packages under the oldest compiler that is supported, with the newest types of Node, and by `require`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { entryPoints, useAll } from '../check/packs.mjs';
import { tool } from '../command.mjs';
import { runWithin } from './run-within.mjs';

/** @param {string} tools @param {import('../check/packs.mjs').PackFolder} packs */
export async function tryOldestCompiler(tools, packs) {
  const used = await useAll(packs);
  if (used.code !== 0) return used;
  return runWithin(join(tools, 'node_modules/.bin/tsc'), ['-p', packs.path], { cwd: packs.path });
}

/** A new project gets the newest types. @param {string} types @param {import('../check/packs.mjs').PackFolder} packs */
export async function tryNewestTypes(types, packs) {
  const used = await useAll(packs);
  if (used.code !== 0) return used;
  const typeRoots = join(types, 'node_modules/@types');
  return tool('tsc', ['-p', packs.path, '--typeRoots', typeRoots], { cwd: packs.path });
}

const REQUIRING = `const { createSystem, defineActor } = require('@troupe/core');
for (const entry of ENTRIES) if (typeof require(entry) !== 'object') throw new Error(entry);
const Speaker = defineActor('speaker', { handlers: { say: (_ctx, name) => 'hello ' + name } });
const system = createSystem();
system.spawn(Speaker).ask.say('ann').then((text) => {
  if (text !== 'hello ann') throw new Error(text);
  return system.shutdown();
});
`;

/** Whether this Node can `require` a module of ESM, without a warning. */
export function canRequire() {
  return 'require_module' in process.features && process.features.require_module === true;
}

/** @param {string} program a Node @param {import('../check/packs.mjs').PackFolder} packs */
export function tryRequire(program, { path }) {
  // Threads start with modules of their own, which no code requires.
  const entries = entryPoints().filter((entry) => !entry.endsWith('-thread'));
  const file = join(path, 'requiring.cjs');
  writeFileSync(file, REQUIRING.replace('ENTRIES', JSON.stringify(entries)));
  return runWithin(program, [file], { cwd: path });
}
