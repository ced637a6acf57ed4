import { type Outcome, scaled, type Workload } from '../../workload.js';
import { assembleCrew, type Crew, workAlone } from '../master-worker.js';

const workers = 100;
const from = 1;
const to = 5;

function height(x: number): number {
  return (1 / (x + 1)) * Math.sqrt(1 + Math.exp(Math.sqrt(2 * x))) * Math.sin(x ** 3 - 1);
}

interface Strip {
  readonly first: number;
  readonly count: number;
}

interface Integral {
  area: number;
  pieces: number;
}

function strips(pieces: number): Strip[] {
  const each = Math.floor(pieces / workers);
  return Array.from({ length: workers }, (_, index) => ({
    first: index * each,
    count: index === workers - 1 ? pieces - index * each : each,
  }));
}

function crewFor(pieces: number, sum: Integral): Crew<Strip, Integral> {
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

/** Simpson's rule with few points converges far faster than the trapezoids: an independent check. */
function simpson(points: number): number {
  const width = (to - from) / points;
  let sum = height(from) + height(to);
  for (let index = 1; index < points; index += 1)
    sum += height(from + index * width) * (index % 2 === 0 ? 2 : 4);
  return (sum * width) / 3;
}

function outcomeOf(pieces: number, sum: Integral, expected: number): Outcome {
  // The error of the trapezoids falls with the square of their number.
  const tolerance = 1e-9 + 1e4 / pieces ** 2;
  return { attempted: pieces, completed: sum.pieces, oracle: Math.abs(sum.area - expected) < tolerance };
}

/** The integral of a function, cut into strips. */
export const trapezoid: Workload = {
  name: 'trapezoid',
  unit: 'pieces',
  prepare(system, scale) {
    const pieces = scaled(10_000_000, scale, 10_000);
    const sum: Integral = { area: 0, pieces: 0 };
    const run = assembleCrew(system, crewFor(pieces, sum));
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
    const crew = crewFor(pieces, sum);
    const expected = simpson(200_000);
    return () => {
      sum.area = 0;
      sum.pieces = 0;
      workAlone(crew, strips(pieces));
      return outcomeOf(pieces, sum, expected);
    };
  },
};
