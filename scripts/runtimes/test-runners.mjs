// The test kit under the test runners that people use: a test that passes, and one that awaits an ask which no
// turn serves. The second must end with the hint of the test kit, and must not take the first with it.
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runWithin } from './run-within.mjs';

/**
 * @typedef {object} TestRunner
 * @property {string} name
 * @property {readonly [first: string, last: string]} frame lines around the tests
 * @property {(tools: string, file: string) => readonly [program: string, ...args: string[]]} command
 * @property {RegExp} passed the line that says that one test has passed
 */

/** @type {Readonly<Record<'uvu' | 'node:test' | 'vitest', TestRunner>>} */
export const testRunners = {
  uvu: {
    name: 'uvu',
    frame: ["import { test } from 'uvu';", 'test.run();'],
    command: (_tools, file) => [process.execPath, file],
    passed: /Passed:\s+1\b/,
  },
  'node:test': {
    name: 'node:test',
    frame: ["import { test } from 'node:test';", ''],
    command: (_tools, file) => [process.execPath, '--test', file],
    passed: /pass 1\b/,
  },
  vitest: {
    name: 'vitest',
    frame: ["import { test } from 'vitest';", ''],
    command: (tools, file) => [join(tools, 'node_modules/.bin/vitest'), 'run', '--no-color', file],
    passed: /Tests .*\b1 passed/,
  },
};

const TESTS = `import assert from 'node:assert/strict';
import { defineActor } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';

const Counter = defineActor('counter', {
  state: () => ({ n: 0 }),
  handlers: {
    add(ctx, by) { ctx.state.n += by; },
    total: (ctx) => ctx.state.n,
  },
  started(ctx) { ctx.every(60_000, Counter.self(ctx)).add(10); },
});

test('messages are handled, and time moves when the test says so', async () => {
  const world = createTestSystem();
  const counter = world.system.spawn(Counter, { name: 'counter' });
  await world.tell(counter).add(2);
  await world.advance(60_000);
  assert.equal(await world.ask(counter).total(), 12);
  await world[Symbol.asyncDispose]();
});

test('an ask that no turn serves', async () => {
  const world = createTestSystem();
  const counter = world.system.spawn(Counter, { name: 'counter' });
  assert.equal(await counter.ask.total(), 0);
});
`;

/**
 * @param {TestRunner} runner @param {string} tools in whose node_modules the runner is
 * @param {string} folder in whose node_modules the packages are @returns {Promise<import('../command.mjs').Outcome>}
 */
export async function tryTestRunner({ name, frame, command, passed }, tools, folder) {
  const link = join(folder, 'node_modules', name);
  if (!name.startsWith('node:') && !existsSync(link)) symlinkSync(join(tools, 'node_modules', name), link);
  const file = join(folder, `${name.replace(':', '-')}.test.mjs`);
  writeFileSync(file, [frame[0], TESTS, frame[1]].join('\n'));
  const [program, ...args] = command(tools, file);
  const { code, output } = await runWithin(program, args, { cwd: folder });
  const problems = [
    code === 0 && 'the second test has passed',
    code === 13 && 'the process ended with exit code 13',
    !passed.test(output) && `no line matches ${passed}: the first test has not passed`,
    !output.includes('/counter.total: the test awaits the reply, and no code runs the actors') && 'no hint',
  ].filter((problem) => problem !== false);
  return { code: problems.length === 0 ? 0 : 1, output: [...problems, output].join('\n') };
}
