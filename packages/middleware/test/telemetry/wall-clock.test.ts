import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { WallClock } from '#src/telemetry/wall-clock.js';

const clock = suite('wall clock');

clock('the drift of the wall clock is measured again after a minute, not earlier', () => {
  let now = 0;
  let drift = 0;
  const wall = new WallClock();
  wall.use({ now: () => now, wallNow: () => 1_000_000 + now + drift });
  drift = 5_000;
  now = 60_000;
  assert.is(wall.epochOf(now), 1_060_000);
  now = 60_001;
  assert.is(wall.epochOf(now), 1_065_001);
});

clock.run();
