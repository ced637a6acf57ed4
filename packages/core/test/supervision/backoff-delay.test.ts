import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { backoffMs } from '#src/supervision/backoff-delay.js';

const backoff = suite('backoff');

backoff('the delay doubles from the first and saturates at the last, for any attempt', () => {
  const policy = { fromMs: 100, toMs: 10_000 };
  assert.equal(
    [0, 1, 2, 3, 7, 8, 58, 64, 1_000, Number.MAX_SAFE_INTEGER].map((n) => backoffMs(policy, n, 0.5)),
    [100, 100, 200, 400, 6_400, 10_000, 10_000, 10_000, 10_000, 10_000],
  );
});

backoff('the delay varies by no more than its jitter and is never negative or infinite', () => {
  fc.assert(
    fc.property(
      fc.record({
        fromMs: fc.integer({ min: 0, max: 10_000 }),
        more: fc.integer({ min: 0, max: 1_000_000 }),
        jitter: fc.double({ min: 0, max: 1, noNaN: true }),
        attempt: fc.integer({ min: 1, max: 10_000 }),
        random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      }),
      ({ fromMs, more, jitter, attempt, random }) => {
        const policy = { fromMs, toMs: fromMs + more, jitter };
        const plain = backoffMs({ ...policy, jitter: 0 }, attempt, random);
        const delay = backoffMs(policy, attempt, random);
        assert.ok(Number.isFinite(delay) && delay >= 0);
        assert.ok(plain >= fromMs && plain <= policy.toMs);
        assert.ok(Math.abs(delay - plain) <= plain * jitter + 1e-9);
      },
    ),
    { seed: 7 },
  );
});

backoff.run();
