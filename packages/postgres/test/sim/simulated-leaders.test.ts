// timeout: 120s
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedLeaders } from './simulated-leaders.js';

const leaders = suite('two leaders on a simulated database');

/** 20, or `--seeds n`, from `--from n` on. */
const SEEDS = argument('--seeds') ?? 20;
const FROM = argument('--from') ?? 1;

function argument(name: string): number | undefined {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : Number(process.argv[at + 1]);
}

leaders('late and lost answers and kills lose and double nothing', async () => {
  let takeOvers = 0;
  let durable = 0;
  for (let seed = FROM; seed < FROM + SEEDS; seed += 1) {
    const report = await new SimulatedLeaders(seed).run();
    assert.equal(report.problems, [], `seed ${seed}`);
    takeOvers += report.takeOvers;
    durable += report.durable;
  }
  process.stdout.write(`  ${takeOvers} take-overs, ${durable} entries\n`);
  assert.ok(takeOvers > 2 * SEEDS && durable > 100 * SEEDS);
});

leaders.run();
