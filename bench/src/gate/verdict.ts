import { type Interval, pairedInterval } from '../stats/bootstrap-interval.js';
import { median } from '../stats/quantile.js';
import { signTest } from '../stats/sign-test.js';

export interface Verdict {
  readonly benchmark: string;
  /** Working tree over base; above 1 the working tree is better. */
  readonly ratio: number;
  readonly interval: Interval;
  /** The chance of so many lost pairs between equals. */
  readonly chance: number;
  readonly slower: boolean;
}

const confidence = 0.99;
const chanceMax = 0.01;

/**
 * Slower beyond noise: the whole interval of the paired ratios lies below 1, and the sign test agrees. Both are
 * needed, because a gate runs many benchmarks often and a single test would cry wolf every week.
 */
export function verdictOf(benchmark: string, ratios: readonly number[]): Verdict {
  const interval = pairedInterval(ratios, confidence);
  const chance = signTest(ratios);
  return {
    benchmark,
    ratio: median(ratios),
    interval,
    chance,
    slower: interval.high < 1 && chance <= chanceMax,
  };
}
