// timeout: 300s
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { plantedBugs } from './planted-bugs.js';
import { SimulatedCluster } from './simulated-cluster.js';

const planted = suite('planted bugs');

/** A bug that this many seeds do not show would not be found by the ordinary run either. */
const SEEDS_MAX = 200;

// A test of the tester: each of these has happened to somebody; the checker must see every one.
for (const bug of plantedBugs) {
  planted(`the checker finds a leader that ${bug.name}`, async () => {
    const restore = bug.plant();
    try {
      let found = '';
      let seed = 0;
      while (found === '' && seed < SEEDS_MAX) {
        seed += 1;
        const report = await new SimulatedCluster(seed, bug.machine).run();
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
