import { SeededRandom } from '@troupe/core/testing';
import { median } from './quantile.js';

export interface Interval {
  readonly low: number;
  readonly high: number;
}

const resamples = 2_000;

function resample(values: readonly number[], random: SeededRandom): number[] {
  return values.map(() => values[random.below(values.length)] ?? Number.NaN);
}

function bounds(estimates: number[], confidence: number): Interval {
  estimates.sort((a, b) => a - b);
  const tail = (1 - confidence) / 2;
  const at = (share: number): number =>
    estimates[Math.min(estimates.length - 1, Math.floor(share * estimates.length))] ?? Number.NaN;
  return { low: at(tail), high: at(1 - tail) };
}

/**
 * The bootstrapped interval of the ratio of two medians. Values are one per process, because samples of one
 * process share its code layout and are not independent.
 */
export function ratioInterval(
  above: readonly number[],
  below: readonly number[],
  confidence = 0.95,
  seed = 1,
): Interval {
  const random = new SeededRandom(seed);
  const estimates = Array.from(
    { length: resamples },
    () => median(resample(above, random)) / median(resample(below, random)),
  );
  return bounds(estimates, confidence);
}

/** The bootstrapped interval of the median of paired ratios, for sides that alternate. */
export function pairedInterval(ratios: readonly number[], confidence = 0.95, seed = 1): Interval {
  const random = new SeededRandom(seed);
  return bounds(
    Array.from({ length: resamples }, () => median(resample(ratios, random))),
    confidence,
  );
}
