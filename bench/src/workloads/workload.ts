import type { System } from '../adapters/actor-system.js';

/** The result of one run, which the caller times. */
export interface Outcome {
  readonly attempted: number;
  /** Counted by the receivers. */
  readonly completed: number;
  /** True if the result is correct; absent in benchmarks without a result. */
  readonly oracle?: boolean;
  readonly extra?: Readonly<Record<string, number>>;
}

/** One run. Actors are defined and inputs are made before, outside the measured time. */
export type PreparedRun = () => Promise<Outcome> | Outcome;

/** A benchmark, written once for all systems. */
export interface Workload {
  readonly name: string;
  readonly unit: string;
  readonly group?: string;
  readonly note?: string;
  prepare(system: System, scale: number): PreparedRun | Promise<PreparedRun>;
  /** The same work as one plain function, without actors. */
  plain?(scale: number): PreparedRun;
}

/** A whole number of at least `least`. */
export function scaled(size: number, scale: number, least = 1): number {
  return Math.max(least, Math.round(size * scale));
}
