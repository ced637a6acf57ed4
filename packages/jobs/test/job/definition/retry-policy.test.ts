import { DEFAULT_RETRY, retryDelayMs } from '@troupe/jobs';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const retry = suite('retry');

retry('the default doubles from one second and stays at thirty', () => {
  const delays = [1, 2, 3, 4, 5, 6, 7].map((failures) => retryDelayMs(DEFAULT_RETRY, failures, 0.5));
  assert.equal(delays, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});

retry('the constant delay stays, the linear one grows by its base', () => {
  const plain = { ...DEFAULT_RETRY, jitter: 0, baseMs: 100, capMs: 250 };
  assert.equal(
    [1, 2, 3].map((n) => retryDelayMs({ ...plain, backoff: 'constant' }, n, 0)),
    [100, 100, 100],
  );
  assert.equal(
    [1, 2, 3].map((n) => retryDelayMs({ ...plain, backoff: 'linear' }, n, 0)),
    [100, 200, 250],
  );
});

retry('for any count and any jitter the delay is finite and within the jitter of the cap', () => {
  const policies = fc.record({
    attempts: fc.constant(6),
    crashes: fc.constant(5),
    backoff: fc.constantFrom('constant' as const, 'linear' as const, 'exponential' as const),
    baseMs: fc.nat(1_000_000),
    capMs: fc.nat(1_000_000),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  const failures = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
  const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  void fc.assert(
    fc.property(policies, failures, chance, (policy, count, luck) => {
      const delay = retryDelayMs(policy, count, luck);
      return Number.isFinite(delay) && delay >= 0 && delay <= policy.capMs * (1 + policy.jitter) + 1;
    }),
  );
});

retry.run();
