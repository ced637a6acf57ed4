import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TokenBucket } from '#src/leader/dispatch/limits/token-bucket.js';

const buckets = suite('token bucket');

buckets('in every window there are at most burst starts and those of the rate', () => {
  const rates = fc.record({
    jobs: fc.integer({ min: 1, max: 20 }),
    perMs: fc.integer({ min: 1, max: 500 }),
    burst: fc.integer({ min: 1, max: 10 }),
  });
  void fc.assert(
    fc.property(rates, fc.array(fc.nat(60), { maxLength: 60, size: 'max' }), (rate, gaps) => {
      const bucket = new TokenBucket(rate, Number.NEGATIVE_INFINITY);
      const starts: number[] = [];
      let now = 0;
      for (const gap of gaps) {
        now += gap;
        if (bucket.has(1, now)) {
          bucket.take(now);
          starts.push(now);
        } else assert.ok(bucket.timeOf(1, now) > now, 'a start that is refused is due later');
      }
      for (const [first, from] of starts.entries())
        for (const [last, to] of starts.entries()) {
          if (last < first) continue;
          const allowed = rate.burst + ((to - from) * rate.jobs) / rate.perMs;
          assert.ok(last - first + 1 <= allowed + 1e-6, `${last - first + 1} starts, ${allowed} allowed`);
        }
    }),
    { numRuns: 300 },
  );
});

buckets('a start is due exactly when its token is there', () => {
  const bucket = new TokenBucket({ jobs: 3, perMs: 1_000, burst: 1 }, 0);
  const at = bucket.timeOf(1, 0);
  assert.is(at, 334);
  assert.not(bucket.has(1, at - 1));
  assert.ok(bucket.has(1, at));
});

buckets.run();
