import { scaled, type Workload } from '../../workload.js';
import { actorPipeline, runPipelineWithoutActors, type Stage, seededValues } from '../pipeline.js';

/** JavaScript numbers are exact up to 53 bits: 52 stages, where Savina has 60. */
const bits = 52;

/** Passes values with bit 0 on immediately and the others after the last value. */
class RadixStage implements Stage {
  private readonly radix: number;
  private readonly count: number;
  private held: number[] = [];
  private seen = 0;

  constructor(radix: number, count: number) {
    this.radix = radix;
    this.count = count;
  }

  take(value: number, pass: (value: number) => void): void {
    this.seen += 1;
    if (Math.floor(value / this.radix) % 2 === 0) pass(value);
    else this.held.push(value);
    if (this.seen < this.count) return;
    for (const held of this.held) pass(held);
    this.held = [];
  }
}

function stagesFor(count: number): () => Stage[] {
  return () => Array.from({ length: bits }, (_, bit) => new RadixStage(2 ** bit, count));
}

/** A long pipeline of small messages. */
export const radixsort: Workload = {
  name: 'radixsort',
  unit: 'values',
  note: 'values below 2^52 and 52 stages instead of 60; each value is 53 messages',
  prepare(system, scale) {
    const input = seededValues(scaled(100_000, scale), 2 ** bits);
    return actorPipeline(system, stagesFor(input.length), input);
  },
  plain(scale) {
    const input = seededValues(scaled(100_000, scale), 2 ** bits);
    const stages = stagesFor(input.length);
    return () => runPipelineWithoutActors(stages, input);
  },
};
