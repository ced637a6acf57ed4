// timeout: 120s
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { node } from '../command.mjs';

const bootstrap = suite('bootstrap');

/** @param {string} version @param {string} task */
function runOn(version, task) {
  const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  return node(['--import', `data:text/javascript,${encodeURIComponent(pretend)}`, 'scripts/run.mjs', task]);
}

for (const version of ['18.20.8', '20.14.0']) {
  bootstrap(`Node ${version} is refused in one line`, async () => {
    const { code, output } = await runOn(version, 'start');
    assert.is(code, 1);
    assert.is(output, `Troupe needs Node 20.15 or newer; this is Node ${version}\n`);
  });
}

for (const version of ['20.15.0', '22.0.0']) {
  bootstrap(`Node ${version} is accepted`, async () => {
    const { code, output } = await runOn(version, 'no-such-task');
    assert.is(code, 1);
    assert.match(output, /^run: no task "no-such-task"; there are start, .*bench, build/);
  });
}

bootstrap('a filter that matches no test file is a failure', async () => {
  const { code, output } = await node(['scripts/test.mjs', 'no-such-file.test.mjs']);
  assert.is(code, 1);
  assert.match(output, /no test file matches no-such-file/);
  assert.match(output, /\n0 passed, 1 failed\n$/);
});

bootstrap('a time limit that is no number is refused', async () => {
  const { code, output } = await node(['scripts/test.mjs', '--timeout=soon', 'x']);
  assert.is(code, 2);
  assert.is(output, 'test: --timeout must be a number above 0, not soon\n');
});

bootstrap.run();
