// timeout: 120s
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedLeaders } from './simulated-leaders.js';

const leaders = suite('two leaders on a simulated database');

leaders('late and lost answers and kills lose and double nothing', async () => {
  let takeOvers = 0;
  let durable = 0;
  for (let seed = 1; seed <= 20; seed += 1) {
    const report = await new SimulatedLeaders(seed).run();
    assert.equal(report.problems, [], `seed ${seed}`);
    takeOvers += report.takeOvers;
    durable += report.durable;
  }
  process.stdout.write(`  ${takeOvers} take-overs, ${durable} entries\n`);
  assert.ok(takeOvers > 40 && durable > 2_000);
});

leaders.run();
