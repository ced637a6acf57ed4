import type { SeededRandom } from '@troupe/core/testing';

/** Work that cannot be optimised away: the caller keeps the result. */
export function busy(random: SeededRandom, steps: number): number {
  let sum = 0;
  for (let step = 0; step < steps; step += 1) sum += Math.log(random.next() + 0.01);
  return sum;
}
