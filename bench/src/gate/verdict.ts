import { type Interval, pairedInterval } from '../stats/bootstrap-interval.js';
import { median } from '../stats/quantile.js';
import { signTest } from '../stats/sign-test.js';

export interface Verdict {
  readonly benchmark: string;
  /** Working tree over base; above 1 the working tree is better. */
  readonly ratio: number;
  readonly interval: Interval;
  /** The p-value of the sign test: the probability of so many lost pairs between equal sides. */
  readonly probability: number;
  readonly slower: boolean;
}

const confidence = 0.99;
const probabilityMax = 0.01;

/**
 * Slower beyond noise: the whole interval of the paired ratios lies below 1, and the sign test is
 * significant. The gate runs many benchmarks often, and either test alone would give too many false failures.
 */
export function verdictOf(benchmark: string, ratios: readonly number[]): Verdict {
  const interval = pairedInterval(ratios, confidence);
  const probability = signTest(ratios);
  return {
    benchmark,
    ratio: median(ratios),
    interval,
    probability,
    slower: interval.high < 1 && probability <= probabilityMax,
  };
}
