import type { SeededRandom } from '@troupe/core/testing';

/** Work that the compiler cannot remove, because the caller uses the result. */
export function busyWork(random: SeededRandom, steps: number): number {
  let sum = 0;
  for (let step = 0; step < steps; step += 1) sum += Math.log(random.next() + 0.01);
  return sum;
}
