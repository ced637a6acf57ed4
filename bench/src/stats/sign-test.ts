/**
 * The one-sided sign test: the probability of at least this many ratios below 1 if both sides were equal.
 * Ties are left out. The test assumes no distribution of the noise.
 */
export function signTest(ratios: readonly number[]): number {
  const decided = ratios.filter((ratio) => ratio !== 1);
  const losses = decided.filter((ratio) => ratio < 1).length;
  let probability = 0;
  for (let count = losses; count <= decided.length; count += 1) {
    probability += combinations(decided.length, count) * 0.5 ** decided.length;
  }
  return Math.min(1, probability);
}

function combinations(from: number, take: number): number {
  let result = 1;
  for (let index = 1; index <= take; index += 1) result = (result * (from - take + index)) / index;
  return result;
}
