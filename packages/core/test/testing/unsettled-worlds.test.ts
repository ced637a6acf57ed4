// needs: node
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const worlds = suite('unsettled worlds');

worlds('a test that awaits an ask which no turn handles ends with an error, not with exit code 13', () => {
  const program = fileURLToPath(new URL('./awaiting-test-main.js', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [program], { encoding: 'utf8' });
  assert.is(status, 1);
  assert.match(stderr, /ERR_TEST_UNSETTLED/);
  assert.match(stderr, /\/store\.read: the test awaits the reply, and no code runs the actors/);
});

worlds('a disposed world leaves no listener', async () => {
  const before = process.listenerCount('beforeExit');
  for (let i = 0; i < 3; i += 1) {
    await using _world = createTestSystem();
    assert.is(process.listenerCount('beforeExit'), before + 1);
  }
  assert.is(process.listenerCount('beforeExit'), before);
});

worlds.run();
