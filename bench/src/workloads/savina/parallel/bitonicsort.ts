import type { Workload } from '../../workload.js';
import { actorPipeline, runPipelineWithoutActors, type Stage, seededValues } from '../pipeline.js';

const valueMax = 2 ** 53;

/**
 * One column of the sorting network: compares values `distance` apart, upwards or downwards by `direction`.
 */
class ComparatorStage implements Stage {
  private readonly distance: number;
  private readonly direction: number;
  private block: number[] = [];
  private start = 0;

  constructor(distance: number, direction: number) {
    this.distance = distance;
    this.direction = direction;
  }

  take(value: number, pass: (value: number) => void): void {
    this.block.push(value);
    const size = 2 * this.distance;
    if (this.block.length < size) return;
    const block = this.block;
    const ascending = (this.start & this.direction) === 0;
    for (let low = 0; low < this.distance; low += 1) {
      const high = low + this.distance;
      const [a = 0, b = 0] = [block[low], block[high]];
      if (a > b === ascending) {
        block[low] = b;
        block[high] = a;
      }
    }
    this.block = [];
    this.start += size;
    for (const sorted of block) pass(sorted);
  }
}

function stagesFor(count: number): () => Stage[] {
  return () => {
    const stages: Stage[] = [];
    for (let direction = 2; direction <= count; direction *= 2) {
      for (let distance = direction / 2; distance >= 1; distance /= 2) {
        stages.push(new ComparatorStage(distance, direction));
      }
    }
    return stages;
  };
}

const countOf = (scale: number): number => 2 ** Math.max(3, Math.round(12 + Math.log2(scale)));

/** A deep static sorting network with one actor per column, seventy-eight at scale 1. */
export const bitonicsort: Workload = {
  name: 'bitonicsort',
  unit: 'values',
  note: 'one actor per column of the network; values below 2^53 instead of 2^60',
  prepare(system, scale) {
    const count = countOf(scale);
    return actorPipeline(system, stagesFor(count), seededValues(count, valueMax));
  },
  plain(scale) {
    const count = countOf(scale);
    const [stages, input] = [stagesFor(count), seededValues(count, valueMax)];
    return () => runPipelineWithoutActors(stages, input);
  },
};
