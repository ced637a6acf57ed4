import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkTests, suiteProblems } from '../../tidy/test-hygiene.mjs';
import { Tree } from '../../tidy/tree.mjs';

const hygiene = suite('test hygiene');
const head = `import { suite } from 'uvu';\nconst ring = suite('ring');\nring('holds', () => {});\n`;

/** @param {string} text */
function problems(text) {
  return suiteProblems(text).map((problem) => problem.text);
}

hygiene('a suite that is run last is in order', () => {
  assert.equal(problems(`${head}ring.run();\n`), []);
});

hygiene('the hooks of an actor are not the hooks of uvu', () => {
  assert.equal(problems(`${head}ring('waits', (ctx) => ctx.after(10, f));\nring.run();\n`), []);
});

hygiene('a suite that is never run is found', () => {
  assert.equal(problems(head), ['suite ring is never run', 'the last statement is not .run();']);
  assert.equal(problems(`${head}// ring.run();\n`).length, 2);
});

hygiene('a test declared after run is found', () => {
  const text = `${head}ring.run();\nring('late', () => {});\nring.run;\nother.run();\n`;
  assert.equal(problems(text), ['declared after ring.run(): never run']);
});

for (const member of ['before', 'after', 'before.each', 'after.each', 'only', 'skip']) {
  hygiene(`finds .${member}`, () => {
    assert.is(problems(`${head}ring.${member}('x', () => {});\nring.run();\n`).length, 1);
  });
}

hygiene('the bare test of uvu is found', () => {
  const text = `import { test } from 'uvu';\ntest('x', () => {});\ntest.run();\n`;
  assert.match(problems(text)[0] ?? '', /name the suite/);
});

hygiene('a test of jobs that starts a process without the check for dead letters is found', () => {
  const file = 'packages/jobs/test/remote/x.ts';
  const of = (/** @type {string} */ text) =>
    checkTests(Tree.of({ [file]: text })).map((finding) => finding.text);
  assert.equal(of(`import { handle, startLeader } from '../checked-processes.js';\n`), []);
  assert.equal(of(`import { defineJob } from '@troupe/jobs';\n`), []);
  assert.match(
    of(`import {\n  handle,\n  startLeader,\n} from '@troupe/jobs';\n`)[0] ?? '',
    /imports startLeader/,
  );
});

hygiene.run();
