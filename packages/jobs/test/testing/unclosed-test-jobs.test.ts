// needs: node
import { spawnSync } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const world = suite('ends of programs with test jobs');

/** Runs a program of its own, because its end is what is tested. */
function runProgram(
  flags: readonly string[],
  body: string,
): { readonly status: number | null; readonly text: string } {
  const program = `import { defineJob, handle } from '@troupe/jobs';
import { testJobs } from '@troupe/jobs/testing';
const text = { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } };
const shout = defineJob('text.shout', { input: text, output: text });
${body}`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, '--input-type=module', '--eval', program],
    { encoding: 'utf8', cwd: new URL('../..', import.meta.url) },
  );
  return { status, text: stdout + stderr };
}

world('an await that only time could settle ends with a hint', () => {
  const { status, text } = runProgram(
    [],
    `const jobs = await testJobs({ handlers: [] });
await jobs.client.run(shout, 'waits for ever');`,
  );
  assert.is.not(status, 0);
  assert.match(text, /ERR_TEST_JOBS_UNCLOSED/);
  assert.match(text, /world\.advance\(ms\)/);
});

world('under node:test a job passes, and the history of one that fails is printed', () => {
  const { status, text } = runProgram(
    ['--test-reporter=spec'],
    `import { test } from 'node:test';
import assert from 'node:assert/strict';
test('passes', async () => {
  const jobs = await testJobs({ handlers: [handle(shout, (input) => input.toUpperCase())] });
  assert.equal(await jobs.run(shout, 'hello'), 'HELLO');
  await jobs[Symbol.asyncDispose]();
});
test('fails', async () => {
  const jobs = await testJobs({ handlers: [handle(shout, () => { throw new Error('out of breath'); })] });
  try { await jobs.run(shout, 'hello'); } finally { await jobs[Symbol.asyncDispose](); }
});`,
  );
  assert.is(status, 1);
  assert.match(text, /pass 1\n.*fail 1/);
  assert.match(text, /attempt 1 failed: Error: out of breath/);
});

world.run();
