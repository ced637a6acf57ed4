import type { System } from '../adapters/actor-system.js';

/** What one run did; the harness times it. */
export interface Outcome {
  readonly attempted: number;
  /** Counted by the receivers. */
  readonly completed: number;
  /** Whether the result is the right one, where the benchmark has one. */
  readonly oracle?: boolean;
  readonly extra?: Readonly<Record<string, number>>;
}

/** Everything before the clock starts: kinds are defined, inputs are made. The function is one run. */
export type Prepared = () => Promise<Outcome> | Outcome;

/** A benchmark written once, for every system. */
export interface Workload {
  readonly name: string;
  readonly unit: string;
  readonly group?: string;
  readonly note?: string;
  prepare(system: System, scale: number): Prepared | Promise<Prepared>;
  /** The same work as one plain function, without actors. */
  plain?(scale: number): Prepared;
}

/** A whole number of at least `least`. */
export function scaled(size: number, scale: number, least = 1): number {
  return Math.max(least, Math.round(size * scale));
}
