import { type Outcome, scaled, type Workload } from '../../workload.js';
import { type MasterWorkerTask, masterWorker, runWithoutActors } from '../master-worker.js';

const workers = 20;
const guard = 10n;

/** One term of the Bailey–Borwein–Plouffe series, in fixed point. */
function term(index: number, unit: bigint): bigint {
  const k = 8n * BigInt(index);
  const sum = (4n * unit) / (k + 1n) - (2n * unit) / (k + 4n) - unit / (k + 5n) - unit / (k + 6n);
  return sum >> (4n * BigInt(index));
}

/** Machin's formula, an independent way to the same digits. */
function machin(unit: bigint): bigint {
  const arctan = (inverse: bigint): bigint => {
    let power = unit / inverse;
    let sum = power;
    for (let odd = 3n, sign = -1n; power !== 0n; odd += 2n, sign = -sign) {
      power /= inverse * inverse;
      sum += (sign * power) / odd;
    }
    return sum;
  };
  return 4n * (4n * arctan(5n) - arctan(239n));
}

interface Pi {
  value: bigint;
  terms: number;
}

interface Task {
  readonly terms: readonly number[];
  readonly work: MasterWorkerTask<number, bigint>;
  outcome(): Outcome;
  reset(): void;
}

export function taskFor(scale: number): Task {
  const digits = scaled(5_000, scale, 50);
  const unit = 10n ** (BigInt(digits) + guard);
  const cut = 10n ** guard;
  const expected = machin(unit) / cut;
  const count = Math.ceil((digits + Number(guard)) / Math.log10(16)) + 1;
  const pi: Pi = { value: 0n, terms: 0 };
  return {
    terms: Array.from({ length: count }, (_, index) => index),
    work: {
      workers,
      work: (index) => term(index, unit),
      collect(value) {
        pi.value += value;
        pi.terms += 1;
      },
    },
    outcome: () => ({ attempted: count, completed: pi.terms, oracle: pi.value / cut === expected }),
    reset() {
      pi.value = 0n;
      pi.terms = 0;
    },
  };
}

/** Digits of pi: uneven work with big numbers. */
export const piprecision: Workload = {
  name: 'piprecision',
  unit: 'terms',
  prepare(system, scale) {
    const task = taskFor(scale);
    const run = masterWorker(system, task.work);
    return async () => {
      task.reset();
      await run(task.terms);
      return task.outcome();
    };
  },
  plain(scale) {
    const task = taskFor(scale);
    return () => {
      task.reset();
      runWithoutActors(task.work, task.terms);
      return task.outcome();
    };
  },
};
