import { createSystem } from '@troupe/core';
import { threads } from '@troupe/threads';
import type { Case, Measurement } from '../../runner/suite.js';
import {
  type ParallelName,
  type ParallelProblem,
  ParallelWorker,
  parallelProblems,
} from './parallel-worker.js';

const WORKERS_PER_THREAD = 4;

interface Worker {
  readonly ask: { work(batch: readonly unknown[]): Promise<{ results: unknown[]; more: unknown[] }> };
}

/** Each worker has one batch at a time; items that a batch makes are batches of their own. */
async function solve({ batches, collect }: ParallelProblem, workers: readonly Worker[]): Promise<void> {
  const open = [...batches];
  let atWork = 0;
  await new Promise<void>((done, failed) => {
    const idle: Worker[] = [...workers];
    const assign = (): void => {
      while (open.length > 0 && idle.length > 0) {
        const worker = idle.pop() as Worker;
        atWork += 1;
        worker.ask.work(open.shift() as readonly unknown[]).then(({ results, more }) => {
          for (const result of results) collect(result);
          for (const item of more) open.push([item]);
          idle.push(worker);
          atWork -= 1;
          if (atWork === 0 && open.length === 0) done();
          else assign();
        }, failed);
      }
    };
    assign();
  });
}

function caseOf(name: ParallelName): Case {
  return {
    benchmark: `parallel-${name}`,
    group: 'parallel group of Savina, actors on two threads',
    unit: 'units of work',
    note: 'CPU-bound; one-thread: the same actors on one thread beside the main one',
    systems: ['troupe', 'one-thread'],
    async prepare({ system: measured, scale }) {
      const count = measured === 'one-thread' ? 1 : 2;
      const system = createSystem({ threads: threads({ count }), askWithinMs: 120_000, warn: false });
      const problem = parallelProblems[name].prepare(scale);
      const workers = Array.from({ length: count * WORKERS_PER_THREAD }, () =>
        system.spawn(ParallelWorker, { args: { name, scale, memory: problem.memory }, on: 'any-thread' }),
      );
      return {
        async run(): Promise<Measurement> {
          problem.begin();
          const startedAt = performance.now();
          await solve(problem, workers);
          const seconds = (performance.now() - startedAt) / 1_000;
          const { attempted, completed, oracle } = problem.outcome();
          if (!oracle) throw new Error(`${name}: the result is wrong`);
          return { attempted, completed, seconds };
        },
        close: async () => void (await system.shutdown()),
      };
    },
  };
}

export const parallelCases: readonly Case[] = (Object.keys(parallelProblems) as ParallelName[]).map(caseOf);
