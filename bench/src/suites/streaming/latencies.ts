import type { Measurement } from '../../runner/suite.js';

/** Sorts them. */
export function latenciesOf(latencies: Float64Array): Required<Pick<Measurement, 'p50' | 'p99' | 'max'>> {
  latencies.sort();
  const at = (share: number): number => latencies[Math.floor((latencies.length - 1) * share)] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}
