import { defineJob } from '@troupe/jobs';
import { anyValue } from '../jobs/job-definitions.js';
import type { ChunkRange } from './chunk-text.js';

/** Chunks as fast as they are taken. */
export const tokens = defineJob('bench.tokens', {
  input: anyValue<ChunkRange>(),
  output: anyValue<null>(),
  chunk: anyValue<string>(),
  collect: false,
});

/** One chunk every `periodMs`, the first after `phaseMs`. */
export interface Pace {
  readonly chunks: number;
  readonly periodMs: number;
  readonly phaseMs: number;
}

export interface Tick {
  readonly number: number;
  /** On the monotonic clock of the machine, in milliseconds: the moment at which the chunk was due. */
  readonly dueMs: number;
}

export const ticks = defineJob('bench.ticks', {
  input: anyValue<Pace>(),
  output: anyValue<null>(),
  chunk: anyValue<Tick>(),
  collect: false,
});
