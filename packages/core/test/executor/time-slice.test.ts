import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TimeSlice } from '#src/executor/time-slice.js';

const slice = suite('slice');

slice('a slice shrinks while the event loop is late and grows while it is on time', () => {
  const adapting = new TimeSlice({ msMin: 0.2, msMax: 1 });
  assert.is(adapting.ms, 1);
  for (let i = 0; i < 10; i += 1) adapting.adapt(20);
  assert.is(adapting.ms, 0.2);
  for (let i = 0; i < 20; i += 1) adapting.adapt(0.01);
  assert.is(adapting.ms, 1);
});

slice('a slice with equal bounds does not change', () => {
  const fixed = new TimeSlice({ msMin: 0.5, msMax: 0.5 });
  fixed.adapt(100);
  fixed.adapt(0);
  assert.is(fixed.ms, 0.5);
});

slice.run();
