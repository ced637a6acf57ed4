import { defineActor } from '@troupe/core';
import type { MasterWorkerTask } from '../../workloads/savina/master-worker.js';
import * as queens from '../../workloads/savina/parallel/nqueenk.js';
import * as pi from '../../workloads/savina/parallel/piprecision.js';
import * as matrices from '../../workloads/savina/parallel/recmatmul.js';
import * as trapezoids from '../../workloads/savina/parallel/trapezoid.js';
import { type Outcome, scaled } from '../../workloads/workload.js';

/** Memory that the threads of a problem share. */
export type SharedResult = SharedArrayBuffer | undefined;

/** A problem of Savina's parallel group, divided for workers on threads. */
export interface ParallelProblem {
  /** Items of one batch are worked on one after the other. */
  readonly batches: readonly (readonly unknown[])[];
  readonly memory: SharedResult;
  begin(): void;
  collect(result: unknown): void;
  outcome(): Outcome;
}

/** The work of a problem, as a thread makes it anew from its name. */
type WorkOf = (
  scale: number,
  memory: SharedResult,
) => (item: never, more: (item: unknown) => void) => unknown;

interface NamedProblem {
  readonly work: WorkOf;
  prepare(scale: number): ParallelProblem;
}

const BLOCK = 128;
const TERMS_PER_BATCH = 32;

function each<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  );
}

const trapezoid: NamedProblem = {
  work: (scale) => trapezoids.taskOf(scaled(10_000_000, scale, 10_000), { area: 0, pieces: 0 }).work,
  prepare(scale) {
    const pieces = scaled(10_000_000, scale, 10_000);
    const sum: trapezoids.Integral = { area: 0, pieces: 0 };
    const expected = trapezoids.simpson(200_000);
    return {
      batches: each(trapezoids.strips(pieces), 1),
      memory: undefined,
      begin: () => Object.assign(sum, { area: 0, pieces: 0 }),
      collect: trapezoids.taskOf(pieces, sum).collect as ParallelProblem['collect'],
      outcome: () => trapezoids.outcomeOf(pieces, sum, expected),
    };
  },
};

const nqueenk: NamedProblem = {
  work: (scale) => queens.taskOf(queens.sizeOf(scale)).task.work,
  prepare(scale) {
    const size = queens.sizeOf(scale);
    const { task, sum, reset } = queens.taskOf(size);
    return {
      batches: each(queens.empty, 1),
      memory: undefined,
      begin: reset,
      collect: task.collect as ParallelProblem['collect'],
      outcome: () => ({
        attempted: queens.known[size] ?? 0,
        completed: sum(),
        oracle: sum() === queens.known[size],
      }),
    };
  },
};

const piprecision: NamedProblem = {
  work: (scale) => pi.taskFor(scale).work.work,
  prepare(scale) {
    const { terms, work, reset, outcome } = pi.taskFor(scale);
    return {
      batches: each(terms, TERMS_PER_BATCH),
      memory: undefined,
      begin: reset,
      collect: work.collect as ParallelProblem['collect'],
      outcome,
    };
  },
};

/** One block of the product is written by one batch: threads do not add to the same elements. */
const recmatmul: NamedProblem = {
  work: (scale, memory) => matrices.taskOf(new matrices.Product(matrices.sizeOf(scale), memory)).work,
  prepare(scale) {
    const size = matrices.sizeOf(scale);
    const memory = new SharedArrayBuffer(8 * size * size);
    const product = new matrices.Product(size, memory);
    const block = Math.min(BLOCK, size);
    const places = Array.from({ length: size / block }, (_, i) => i * block);
    return {
      batches: places.flatMap((rowA) =>
        places.map((columnB) => places.map((columnA) => ({ size: block, rowA, columnA, columnB }))),
      ),
      memory,
      begin: () => product.reset(),
      collect: matrices.taskOf(product).collect as ParallelProblem['collect'],
      outcome: () => matrices.outcomeOf(product),
    };
  },
};

export const parallelProblems = { trapezoid, nqueenk, piprecision, recmatmul } as const;
export type ParallelName = keyof typeof parallelProblems;

interface WorkerArgs {
  readonly name: ParallelName;
  readonly scale: number;
  readonly memory: SharedResult;
}

/** A worker of one problem. A thread imports it. */
export const ParallelWorker = defineActor('parallel worker', {
  state: ({ name, scale, memory }: WorkerArgs) =>
    parallelProblems[name].work(scale, memory) as MasterWorkerTask<unknown, unknown>['work'],
  handlers: {
    work(ctx, batch: readonly unknown[]) {
      const more: unknown[] = [];
      const results = batch.map((item) => ctx.state(item, (one) => more.push(one)));
      return { results, more };
    },
  },
});
