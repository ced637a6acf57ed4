import { SeededRandom } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { verdictOf } from '#src/gate/verdict.js';

const verdict = suite('verdict');

/** Ten paired ratios around `middle` with a spread of ± `noise`. */
function ratios(middle: number, noise: number, seed: number): number[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: 10 }, () => middle * (1 + (random.next() * 2 - 1) * noise));
}

verdict('a clear loss is slower', () => {
  const { slower, interval, probability } = verdictOf('ring', ratios(0.8, 0.05, 1));
  assert.ok(slower);
  assert.ok(interval.high < 1);
  assert.ok(probability < 0.01);
});

verdict('a small loss without noise is slower as well: the gate has no fixed percentage', () => {
  assert.ok(verdictOf('ring', ratios(0.97, 0.01, 2)).slower);
});

verdict('the same loss within noise is not slower', () => {
  assert.not(verdictOf('ring', ratios(0.97, 0.2, 3)).slower);
});

verdict('a gain is never slower', () => {
  assert.not(verdictOf('ring', ratios(1.2, 0.05, 4)).slower);
});

verdict('equal sides are rarely judged slower, even with much noise', () => {
  let falseFailures = 0;
  for (let seed = 1; seed <= 200; seed += 1)
    if (verdictOf('ring', ratios(1, 0.3, seed)).slower) falseFailures += 1;
  assert.ok(falseFailures <= 4, `${falseFailures} false failures of 200`);
});

verdict('six lost pairs are too few to be judged slower', () => {
  assert.not(verdictOf('ring', [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]).slower);
});

verdict.run();
