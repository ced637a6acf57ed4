// timeout: 120s
// uvu alone exits with 0 for most of the files in fixtures/faulty-tests; the runner must not.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { selectTests } from '../check/test-files.mjs';
import { runUnit } from '../check/unit.mjs';
import { node } from '../command.mjs';
import { root } from '../workspace.mjs';

const runner = suite('unit runner');
const faultyTests = 'scripts/test/fixtures/faulty-tests';

/** The complaint that the runner must print about a file, beyond counting a failure. @type {Record<string, RegExp>} */
const complaints = {
  'declared-after-run': /declared after faulty\.run\(\)/,
  'does-not-load': /ended before its tests did \(exit code 1\)/,
  'early-exit': /ended before its tests did \(exit code 0\)/,
  'empty-file': /no suite ran/,
  'empty-suite': /no test ran/,
  'exit-while-loading': /ended before its tests did \(exit code 0\)/,
  failing: /FAIL.*"fails"/,
  hanging: /hanging\.test\.mjs: not finished after 1 s/,
  'late-rejection': /exit code 1/,
  'left-open': /still open after the last test: .*TCP/,
  'never-settles': /a promise that a test awaits never settles/,
  'non-error-rejection': /uvu ended this suite early/,
  'one-suite-of-two-without-run': /suite faulty is never run/,
  'string-thrown': /uvu ended this suite early/,
  'suite-without-run': /no suite ran/,
  'throwing-after': /ended before its tests did/,
  'throwing-after-each': /uvu ended this suite early/,
  'throwing-before': /uvu ended this suite early/,
};

/** @param {string[]} args */
async function npmTest(...args) {
  const { code, output } = await node(['scripts/test.mjs', ...args]);
  return { code, output, last: output.trimEnd().split('\n').at(-1) };
}

runner('every faulty test file has an expected complaint', () => {
  const names = readdirSync(join(root, faultyTests)).map((file) => file.replace('.test.mjs', ''));
  assert.equal(names.sort(), Object.keys(complaints).sort());
});

for (const [name, complaint] of Object.entries(complaints)) {
  runner(`fails for ${name}`, async () => {
    const seconds = name === 'hanging' ? 1 : 30;
    const { code, output, last } = await npmTest(`--timeout=${seconds}`, `${faultyTests}/${name}.test.mjs`);
    assert.is(code, 1, output);
    assert.match(output, complaint);
    assert.match(last ?? '', /^\d+ passed, [1-9]\d* failed$/);
  });
}

runner('slowness makes every time limit longer', async () => {
  const [hanging] = selectTests([`${faultyTests}/hanging.test.mjs`]);
  /** @type {(string | undefined)[]} */
  const problems = [];
  const onResult = (/** @type {{ problem?: string }} */ { problem }) => problems.push(problem);
  if (hanging === undefined) throw new Error('the hanging file is gone');
  await runUnit([hanging], { root, timeoutMs: 500, slowness: 3, parallel: 1, onResult });
  assert.match(problems[0] ?? '', /not finished after 1\.5 s/);
});

runner('passes for passing tests and counts them', async () => {
  const { code, last } = await npmTest('scripts/test/fixtures/passing-tests/passing.test.mjs');
  assert.is(code, 0);
  assert.is(last, '2 passed, 0 failed');
});

runner('adds up files that pass and files that fail', async () => {
  const { code, last } = await npmTest(
    'scripts/test/fixtures/passing-tests/passing.test.mjs',
    `${faultyTests}/failing.test.mjs`,
  );
  assert.is(code, 1);
  assert.is(last, '3 passed, 1 failed');
});

runner('a need that no probe knows fails its file', async () => {
  const { code, output } = await npmTest('scripts/test/fixtures/needy-tests/unknown-need.test.mjs');
  assert.is(code, 1);
  assert.match(output, /it needs a-time-machine, which scripts\/check\/needs\.mjs does not know/);
});

runner(
  'a file whose need is missing is skipped, with the reason; `TROUPE_REQUIRE` makes it fail',
  async () => {
    const files = ['needy-tests/faketime', 'passing-tests/passing'].map(
      (name) => `scripts/test/fixtures/${name}.test.mjs`,
    );
    // Without a path no command is found.
    const run = (/** @type {NodeJS.ProcessEnv} */ env) =>
      node(['scripts/test.mjs', ...files], { env: { ...process.env, PATH: '', ...env } });
    const skipped = await run({ TROUPE_REQUIRE: 'postgresql' });
    assert.is(skipped.code, 0, skipped.output);
    assert.match(
      skipped.output,
      /^skip .*faketime\.test\.mjs: it needs faketime: faketime is not installed$/m,
    );
    assert.match(skipped.output, /2 passed, 0 failed\n$/);
    for (const TROUPE_REQUIRE of ['faketime', 'postgresql,faketime', 'all']) {
      const failed = await run({ TROUPE_REQUIRE });
      assert.is(failed.code, 1);
      assert.match(failed.output, /it needs faketime: faketime is not installed/);
    }
  },
);

runner.run();
