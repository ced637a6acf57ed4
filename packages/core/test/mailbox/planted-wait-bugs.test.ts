// timeout: 120s
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runCampaign } from './wait-histories/history-campaign.js';
import { plant, plantedBugs } from './wait-histories/planted-bugs.js';

const planted = suite('planted wait bugs');

/** A bug that is not found in this many seeds might not be found by the ordinary run either. */
const SEEDS_MAX = 500;

// A test of the checker: it must find every one of these bugs.
for (const bug of plantedBugs) {
  planted(`the checker of histories finds a planted bug: ${bug.name}`, async () => {
    const remove = plant(bug);
    try {
      const { failure, histories } = await runCampaign(Array.from({ length: SEEDS_MAX }, (_, at) => at + 1));
      assert.ok(failure !== undefined, `not found in ${SEEDS_MAX} seeds`);
      process.stdout.write(`${bug.name}: seed ${histories}\n${failure}\n`);
    } finally {
      remove();
    }
  });
}

planted.run();
