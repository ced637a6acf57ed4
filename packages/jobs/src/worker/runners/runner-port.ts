import type { JobFailure } from '../../jobs-error.js';

/** One loaded value, from its `load` to its `unload`. */
export interface RunnerInstance {
  /** Unique in its worker. */
  readonly id: number;
  readonly runner: string;
  /** Inline there is one place; on threads it is the number of its thread. */
  readonly place: number;
}

/** The code of warm runners, and where it runs. */
export interface RunnerPort {
  /** Where another instance can be loaded now; undefined: nowhere. */
  placeToLoad(): number | undefined;
  /** Whether an attempt could begin there. */
  isFree(place: number): boolean;
  /** Each of these leads to one report about the instance. */
  load(instance: RunnerInstance): void;
  check(instance: RunnerInstance): void;
  unload(instance: RunnerInstance): void;
}

/** The input that brings the answer. */
export interface RunnerReport {
  readonly kind: 'loaded' | 'checked' | 'unloaded';
  readonly instance: number;
  /** Absent: it went well. */
  readonly failure?: RunnerFailure | undefined;
}

export interface RunnerFailure {
  readonly failure: JobFailure;
  /** Another attempt of a job would be pointless. */
  readonly isFinal: boolean;
}
