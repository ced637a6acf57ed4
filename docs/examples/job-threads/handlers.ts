// Each thread of the worker imports this module. It only defines: an import starts nothing.
import { defineJob, handle } from '@troupe/jobs';

/** A Standard Schema from a predicate; zod, valibot and arktype have their own. */
const number = {
  '~standard': {
    version: 1 as const,
    vendor: 'example',
    validate: (value: unknown) =>
      typeof value === 'number' ? { value } : { issues: [{ message: 'not a number' }] },
    types: undefined as { input: number; output: number } | undefined,
  },
};
const once = { attempts: 1 };

export const CountPrimes = defineJob('math.count-primes', { input: number, output: number, retry: once });
export const Spin = defineJob('math.spin', {
  input: number,
  output: number,
  retry: once,
  limits: { runMs: 200 },
});

function isPrime(n: number): boolean {
  for (let d = 2; d * d <= n; d += 1) if (n % d === 0) return false;
  return n > 1;
}

export const handlers = [
  handle(CountPrimes, (below) => {
    let count = 0;
    for (let n = 2; n < below; n += 1) if (isPrime(n)) count += 1;
    return count;
  }),
  handle(Spin, () => {
    for (;;);
  }),
];
