// timeout: 300s
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { plantedVersionBugs } from './planted-version-bugs.js';
import { SimulatedCluster } from './simulated-cluster.js';

const planted = suite('planted version bugs');
const SEEDS_MAX = 200;
for (const bug of plantedVersionBugs) {
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
planted.run();
