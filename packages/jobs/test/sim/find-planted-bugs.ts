import type { Test } from 'uvu';
import * as assert from 'uvu/assert';
import { LATEST_SEEDS } from './planted-bug-seeds.js';
import type { PlantedBug } from './planted-bugs.js';
import { SimulatedCluster } from './simulated-cluster.js';

/** A bug that is not found in this many seeds would not be found by the ordinary run either. */
const SEEDS_MAX = 200;

/** Tests of the checker: it must find every one of these bugs. */
export function findPlantedBugs(planted: Test, bugs: readonly PlantedBug[]): void {
  for (const bug of bugs) {
    planted(`the checker finds a planted bug: ${bug.name}`, async () => {
      const restore = bug.plant();
      try {
        const { seed, problem } = await firstProblem(bug);
        assert.ok(problem !== '', `not found in ${SEEDS_MAX} seeds`);
        process.stdout.write(`  seed ${seed}: ${bug.name}: ${problem}\n`);
      } finally {
        restore();
      }
    });
  }
}

/** The seed that showed it last comes first: it mostly does so again, and the search is short. */
async function firstProblem(bug: PlantedBug): Promise<{ readonly seed: number; readonly problem: string }> {
  const latest = LATEST_SEEDS[bug.name];
  const all = Array.from({ length: SEEDS_MAX }, (_, i) => i + 1);
  for (const seed of latest === undefined ? all : [latest, ...all]) {
    const { problems } = await new SimulatedCluster(seed, bug.leaderFaults).run();
    if (problems[0] !== undefined) return { seed, problem: problems[0] };
  }
  return { seed: SEEDS_MAX, problem: '' };
}
