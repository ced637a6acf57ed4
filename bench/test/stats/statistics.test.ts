import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { pairedInterval, ratioInterval } from '#src/stats/bootstrap-interval.js';
import { median, quantile } from '#src/stats/quantile.js';
import { signTest } from '#src/stats/sign-test.js';

const statistics = suite('statistics');

statistics('a quantile interpolates between the nearest ranks', () => {
  assert.is(quantile([4, 1, 3, 2], 0.5), 2.5);
  assert.is(quantile([1, 2, 3, 4, 5], 0.99), 4.96);
  assert.is(quantile([7], 0.1), 7);
  assert.is(quantile([1, 2], 1), 2);
  assert.ok(Number.isNaN(quantile([], 0.5)));
});

statistics('a quantile does not modify its input', () => {
  const values = [3, 1, 2];
  median(values);
  assert.equal(values, [3, 1, 2]);
});

statistics('the interval of a ratio contains the ratio and is narrower with less noise', () => {
  const noisy = ratioInterval([8, 10, 12, 9, 11], [4, 5, 6, 4.5, 5.5]);
  const calm = ratioInterval([9.9, 10, 10.1], [4.95, 5, 5.05]);
  assert.ok(noisy.low < 2 && noisy.high > 2);
  assert.ok(calm.low <= 2 && calm.high >= 2);
  assert.ok(calm.high - calm.low < noisy.high - noisy.low);
});

statistics('the same seed gives the same interval', () => {
  assert.equal(pairedInterval([1, 1.2, 0.9, 1.1], 0.95, 5), pairedInterval([1, 1.2, 0.9, 1.1], 0.95, 5));
});

statistics('the sign test gives the probability of the losses between equal sides', () => {
  assert.is(signTest(new Array(10).fill(0.9)), 1 / 1024);
  assert.is(signTest([0.9, 1.1]), 0.75);
  assert.is(signTest([1.1, 1.2, 1.3]), 1);
});

statistics('the sign test ignores ties', () => {
  assert.is(signTest([1, 1, 0.9]), 0.5);
});

statistics.run();
