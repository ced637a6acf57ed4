import type { Outcome, Workload } from '../../workload.js';
import { type MasterWorkerTask, masterWorker, runWithoutActors } from '../master-worker.js';

const workers = 20;
const threshold = 4;
/** Solutions of the puzzle by board size. */
export const known: readonly number[] = [
  1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2_680, 14_200, 73_712, 365_596, 2_279_184,
];

/** Bit masks of the attacked columns and diagonals in the next row. */
interface Board {
  readonly row: number;
  readonly columns: number;
  readonly left: number;
  readonly right: number;
}

function count(all: number, columns: number, left: number, right: number): number {
  if (columns === all) return 1;
  let solutions = 0;
  for (let free = all & ~(columns | left | right); free !== 0; free &= free - 1) {
    const queen = free & -free;
    solutions += count(all, columns | queen, ((left | queen) << 1) & all, (right | queen) >> 1);
  }
  return solutions;
}

export function taskOf(size: number): {
  task: MasterWorkerTask<Board, number>;
  sum: () => number;
  reset: () => void;
} {
  const all = 2 ** size - 1;
  let solutions = 0;
  const task: MasterWorkerTask<Board, number> = {
    workers,
    work({ row, columns, left, right }, more) {
      if (row >= threshold) return count(all, columns, left, right);
      for (let free = all & ~(columns | left | right); free !== 0; free &= free - 1) {
        const queen = free & -free;
        more({
          row: row + 1,
          columns: columns | queen,
          left: ((left | queen) << 1) & all,
          right: (right | queen) >> 1,
        });
      }
      return 0;
    },
    collect(found) {
      solutions += found;
    },
  };
  return {
    task,
    sum: () => solutions,
    reset: () => {
      solutions = 0;
    },
  };
}

export const empty: readonly Board[] = [{ row: 0, columns: 0, left: 0, right: 0 }];
export const sizeOf = (scale: number): number =>
  Math.min(known.length - 1, Math.max(6, Math.round(12 + Math.log(scale) / Math.log(6))));

/**
 * The queens puzzle: the first four rows of a board are distributed, the others are counted in one work item.
 */
export const nqueenk: Workload = {
  name: 'nqueenk',
  unit: 'solutions',
  note: 'boards are bit masks; the adapter has no priorities',
  prepare(system, scale) {
    const size = sizeOf(scale);
    const { task, sum, reset } = taskOf(size);
    const run = masterWorker(system, task);
    return async (): Promise<Outcome> => {
      reset();
      await run(empty);
      return { attempted: known[size] ?? 0, completed: sum(), oracle: sum() === known[size] };
    };
  },
  plain(scale) {
    const size = sizeOf(scale);
    const { task, sum, reset } = taskOf(size);
    return () => {
      reset();
      runWithoutActors(task, empty);
      return { attempted: known[size] ?? 0, completed: sum(), oracle: sum() === known[size] };
    };
  },
};
