// The packed packages under the oldest compiler that is supported, and by `require`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useAll } from '../check/packs.mjs';
import { run } from '../command.mjs';

/** @param {string} tools @param {import('../check/packs.mjs').PackFolder} packs */
export async function tryOldestCompiler(tools, packs) {
  const used = await useAll(packs);
  if (used.code !== 0) return used;
  return run(join(tools, 'node_modules/.bin/tsc'), ['-p', packs.path], { cwd: packs.path });
}

const REQUIRING = `const { createSystem, defineActor } = require('@troupe/core');
const { embedded } = require('@troupe/jobs');
const Speaker = defineActor('speaker', { handlers: { say: (_ctx, name) => 'hello ' + name } });
const system = createSystem();
system.spawn(Speaker).ask.say('ann').then((text) => {
  if (text !== 'hello ann' || typeof embedded !== 'function') throw new Error(text);
  return system.shutdown();
});
`;

/** @param {string} tools @param {import('../check/packs.mjs').PackFolder} packs */
export function tryRequire(tools, { path }) {
  const file = join(path, 'requiring.cjs');
  writeFileSync(file, REQUIRING);
  return run(join(tools, 'node_modules/.bin/node'), [file], { cwd: path });
}
