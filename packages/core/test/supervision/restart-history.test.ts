import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { recent, withRestart } from '#src/supervision/restart-history.js';

const history = suite('restart history');

history('keeps what is younger than the window, oldest first', () => {
  let restarts: readonly number[] = [];
  for (const at of [0, 10, 95, 100]) restarts = withRestart(restarts, at, 100);
  assert.equal(restarts, [10, 95, 100]);
  assert.equal(recent(restarts, 109, 100), [10, 95, 100]);
  assert.equal(recent(restarts, 110, 100), [95, 100]);
  assert.equal(recent(restarts, 1_000, 100), []);
});

history('does not grow with the number of restarts', () => {
  let restarts: readonly number[] = [];
  for (let at = 0; at < 10_000; at += 1) restarts = withRestart(restarts, at, 50);
  assert.is(restarts.length, 50);
});

history.run();
