// timeout: 120s
// Every actor workload at a small scale on Troupe and on the floor: the work is complete and
// the oracles hold.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Case, Suite } from '#src/runner/suite.js';
import { suite as core } from '#src/suites/core.suite.js';
import { suite as fairness } from '#src/suites/fairness.suite.js';
import { suite as savina } from '#src/suites/savina.suite.js';
import { slope } from '#src/workloads/fairness/leak-slope.js';

const workloads = suite('workloads');
const scale = 0.003;

async function runOnce(benchmark: Case, system: string) {
  const trial = await benchmark.prepare({ system, scale, round: 0, adapters: {} });
  const measured = await trial.run();
  await trial.close?.();
  return measured;
}

/** Cases that need --expose-gc or seconds of probing are excluded. */
const inProcess = (benchmark: Case): boolean =>
  benchmark.repeat?.warmups !== 0 && benchmark.headline === undefined;

function testEach(tested: Suite, system: string): void {
  for (const benchmark of tested.cases.filter(inProcess)) {
    if (!benchmark.systems.includes(system) || benchmark.benchmark === 'saturated') continue;
    workloads(`${tested.name} ${benchmark.benchmark} completes its work on ${system}`, async () => {
      const { attempted, completed, seconds, oracle } = await runOnce(benchmark, system);
      assert.is(completed, attempted);
      assert.ok(attempted > 0 && seconds > 0);
      if (tested === savina) assert.is(oracle, true);
    });
  }
}

testEach(core, 'troupe');
testEach(core, 'floor');
testEach(savina, 'troupe');
testEach(savina, 'floor');
testEach(savina, 'plain');
testEach(fairness, 'troupe');

workloads('the Savina suite has thirty benchmarks and chat', () => {
  const count = (group: string): number => savina.cases.filter((one) => one.group === group).length;
  assert.equal([count('micro'), count('concurrency'), count('parallel'), count('chat')], [8, 8, 14, 1]);
  assert.is(new Set(savina.cases.map((one) => one.benchmark)).size, 31);
});

workloads('every parallel benchmark has a plain version', () => {
  for (const one of savina.cases.filter(({ group }) => group === 'parallel')) {
    assert.ok(one.systems.includes('plain'), one.benchmark);
  }
});

workloads('`slope` is the slope of the least-squares line', () => {
  assert.is(slope([1, 3, 5, 7]), 2);
  assert.is(slope([4, 4, 4]), 0);
});

workloads.run();
