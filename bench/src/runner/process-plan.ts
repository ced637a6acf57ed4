import type { Case, Repeat } from './suite.js';

/** One process to start. */
export interface Job {
  readonly case: Case;
  readonly system: string;
  readonly round: number;
}

const defaults: Repeat = { warmups: 2, iterations: 5, budgetMs: 1_500 };

export function repeatOf(benchmark: Case): Repeat {
  return { ...defaults, ...benchmark.repeat };
}

/**
 * The order of the processes of one benchmark: every system once per round, the order rotated by one each
 * round, so that a slow minute of the machine and the warmth left by a neighbour hit everybody alike.
 */
export function rounds(benchmark: Case, systems: readonly string[], count: number): Job[] {
  const jobs: Job[] = [];
  for (let round = 0; round < count; round += 1) {
    const first = systems.length === 0 ? 0 : round % systems.length;
    for (const system of [...systems.slice(first), ...systems.slice(0, first)]) {
      jobs.push({ case: benchmark, system, round });
    }
  }
  return jobs;
}
