import type { Case, Repeat } from './suite.js';

/** One benchmark process of the plan. */
export interface PlannedProcess {
  readonly case: Case;
  readonly system: string;
  readonly round: number;
}

const defaults: Repeat = { warmups: 2, iterations: 5, budgetMs: 1_500 };

export function repeatOf(benchmark: Case): Repeat {
  return { ...defaults, ...benchmark.repeat };
}

/**
 * The processes of one benchmark in their order: every system once per round, rotated by one each round, so
 * that a slow minute of the machine affects all systems alike.
 */
export function planRounds(benchmark: Case, systems: readonly string[], count: number): PlannedProcess[] {
  const processes: PlannedProcess[] = [];
  for (let round = 0; round < count; round += 1) {
    const first = systems.length === 0 ? 0 : round % systems.length;
    for (const system of [...systems.slice(first), ...systems.slice(0, first)]) {
      processes.push({ case: benchmark, system, round });
    }
  }
  return processes;
}
