import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AdaptiveSpin } from '#src/thread/adaptive-spin.js';

const spins = suite('adaptive spin');

/** How long it looks at present: until then nothing is found. */
function lookOf(spin: AdaptiveSpin): number {
  spin.woken(0);
  let ms = 0;
  while (!spin.isSpent(ms)) ms += 0.001;
  return ms;
}

/** Sleeps `times` times without a find. */
function sleep(spin: AdaptiveSpin, times: number): void {
  for (let i = 0; i < times; i += 1) spin.slept();
}

spins('looks that find nothing become shorter, down to none', () => {
  const spin = new AdaptiveSpin();
  const first = lookOf(spin);
  sleep(spin, 1);
  assert.ok(lookOf(spin) < first / 2);
  sleep(spin, 5);
  assert.is(lookOf(spin), 0);
});

spins('one long look is tried every 64 sleeps, and given up at once where it finds nothing', () => {
  const spin = new AdaptiveSpin();
  const first = lookOf(spin);
  sleep(spin, 64);
  assert.is(lookOf(spin), first);
  sleep(spin, 1);
  assert.is(lookOf(spin), 0);
});

spins('news that come while it looks make it look for longer; the news that woke it do not', () => {
  const spin = new AdaptiveSpin();
  const first = lookOf(spin);
  sleep(spin, 3);
  spin.woken(0);
  spin.found(0);
  assert.is(lookOf(spin), 0);
  spin.found(0);
  for (let i = 0; i < 40; i += 1) spin.found(0);
  assert.is(lookOf(spin), first);
  sleep(spin, 1);
  assert.ok(lookOf(spin) > 0, 'one sleep is not the end of it');
});

spins.run();
