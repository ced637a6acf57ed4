import { type Outcome, scaled, type Workload } from '../../workload.js';
import { type MasterWorkerTask, masterWorker, runWithoutActors } from '../master-worker.js';

const workers = 100;
const from = 1;
const to = 5;

function height(x: number): number {
  return (1 / (x + 1)) * Math.sqrt(1 + Math.exp(Math.sqrt(2 * x))) * Math.sin(x ** 3 - 1);
}

export interface Strip {
  readonly first: number;
  readonly count: number;
}

export interface Integral {
  area: number;
  pieces: number;
}

export function strips(pieces: number): Strip[] {
  const each = Math.floor(pieces / workers);
  return Array.from({ length: workers }, (_, index) => ({
    first: index * each,
    count: index === workers - 1 ? pieces - index * each : each,
  }));
}

export function taskOf(pieces: number, sum: Integral): MasterWorkerTask<Strip, Integral> {
  const width = (to - from) / pieces;
  return {
    workers,
    work({ first, count }) {
      let area = 0;
      for (let index = first; index < first + count; index += 1) {
        const left = from + index * width;
        area += ((height(left) + height(left + width)) / 2) * width;
      }
      return { area, pieces: count };
    },
    collect({ area, pieces: done }) {
      sum.area += area;
      sum.pieces += done;
    },
  };
}

/** Simpson's rule as an independent check: it converges much faster than trapezoids. */
export function simpson(points: number): number {
  const width = (to - from) / points;
  let sum = height(from) + height(to);
  for (let index = 1; index < points; index += 1)
    sum += height(from + index * width) * (index % 2 === 0 ? 2 : 4);
  return (sum * width) / 3;
}

export function outcomeOf(pieces: number, sum: Integral, expected: number): Outcome {
  // The error of the trapezoids falls with the square of their number.
  const tolerance = 1e-9 + 1e4 / pieces ** 2;
  return { attempted: pieces, completed: sum.pieces, oracle: Math.abs(sum.area - expected) < tolerance };
}

/** The integral of a function, divided into strips. */
export const trapezoid: Workload = {
  name: 'trapezoid',
  unit: 'pieces',
  prepare(system, scale) {
    const pieces = scaled(10_000_000, scale, 10_000);
    const sum: Integral = { area: 0, pieces: 0 };
    const run = masterWorker(system, taskOf(pieces, sum));
    const expected = simpson(200_000);
    return async () => {
      sum.area = 0;
      sum.pieces = 0;
      await run(strips(pieces));
      return outcomeOf(pieces, sum, expected);
    };
  },
  plain(scale) {
    const pieces = scaled(10_000_000, scale, 10_000);
    const sum: Integral = { area: 0, pieces: 0 };
    const task = taskOf(pieces, sum);
    const expected = simpson(200_000);
    return () => {
      sum.area = 0;
      sum.pieces = 0;
      runWithoutActors(task, strips(pieces));
      return outcomeOf(pieces, sum, expected);
    };
  },
};
