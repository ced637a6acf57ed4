import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RestartWindow } from '#src/supervision/restart-window.js';

const window = suite('restart window');

window('only restarts within the window count', () => {
  const restarts = new RestartWindow();
  for (const at of [0, 10, 95]) restarts.add(at);
  assert.is(restarts.count(95, 100), 3);
  assert.is(restarts.count(100, 100), 2);
  assert.is(restarts.count(110, 100), 1);
  assert.is(restarts.count(195, 100), 0);
});

window('the restart window stays fast and small after many restarts', () => {
  const restarts = new RestartWindow();
  const startedAt = performance.now();
  for (let at = 0; at < 1_000_000; at += 1) {
    restarts.add(at);
    assert.ok(restarts.count(at, 50_000) <= 50_000);
  }
  assert.ok(performance.now() - startedAt < 2_000);
  assert.is(restarts.count(2_000_000, 50_000), 0);
});

window.run();
