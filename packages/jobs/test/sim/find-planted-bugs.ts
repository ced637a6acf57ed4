import type { Test } from 'uvu';
import * as assert from 'uvu/assert';
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
        let found = '';
        let seed = 0;
        while (found === '' && seed < SEEDS_MAX) {
          seed += 1;
          const report = await new SimulatedCluster(seed, bug.leaderFaults).run();
          found = report.problems[0] ?? '';
        }
        assert.ok(found !== '', `not found in ${SEEDS_MAX} seeds`);
        process.stdout.write(`  seed ${seed}: ${bug.name}: ${found}\n`);
      } finally {
        restore();
      }
    });
  }
}
