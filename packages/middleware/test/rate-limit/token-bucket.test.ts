import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TokenBucket } from '#src/rate-limit/token-bucket.js';

const bucket = suite('token bucket');

bucket('a full bucket gives its burst at once, then one token per interval', () => {
  const rate = { msPerToken: 10, burst: 3 };
  const tokens = new TokenBucket(0);
  assert.equal(
    [1, 2, 3].map(() => tokens.take(0, rate)),
    [0, 0, 0],
  );
  assert.is(tokens.take(0, rate), 10);
  assert.is(tokens.take(4, rate), 6);
  assert.is(tokens.take(10, rate), 0);
  assert.is(tokens.take(10, rate), 10);
  assert.is(tokens.tokens(1_000, rate), 3);
});

bucket('a returned token can be taken again', () => {
  const rate = { msPerToken: 10, burst: 1 };
  const tokens = new TokenBucket(0);
  assert.is(tokens.take(0, rate), 0);
  tokens.giveBack(rate);
  assert.is(tokens.take(0, rate), 0);
  assert.is(tokens.take(0, rate), 10);
});

bucket('the returned wait is exact: a token is there afterwards, and the rate is never exceeded', () => {
  const rates = fc.record({
    perSecond: fc.double({ min: 0.01, max: 100_000, noNaN: true }),
    burst: fc.integer({ min: 1, max: 50 }),
    start: fc.double({ min: 0, max: 1e9, noNaN: true }),
  });
  void fc.assert(
    fc.property(rates, fc.integer({ min: 1, max: 200 }), ({ perSecond, burst, start }, takes) => {
      const rate = { msPerToken: 1_000 / perSecond, burst };
      const tokens = new TokenBucket(start);
      let now = start;
      for (let taken = 0; taken < takes; ) {
        const ms = tokens.take(now, rate);
        if (ms === 0) taken += 1;
        else {
          now += ms;
          // The first take after the wait must succeed: rounding must not cause a second wait.
          if (tokens.take(now, rate) !== 0) return false;
          taken += 1;
        }
      }
      const least = Math.max(0, takes - burst) * rate.msPerToken;
      return now - start >= least - 1e-3 && now - start <= least + 1e-3 + takes * 1e-6;
    }),
  );
});

bucket.run();
