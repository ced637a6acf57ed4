// timeout: 300s
// Every feature can be switched off: the cuts fit the compiled core, and the reduced build
// completes its work.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { buildWithout } from '#src/suites/features/build-without-feature.js';
import { suite as measured } from '#src/suites/features.suite.js';

const features = suite('features');

for (const system of measured.systems) {
  features(`${system} completes its work`, async () => {
    for (const benchmark of measured.cases.filter(({ systems }) => systems.includes(system))) {
      const trial = await benchmark.prepare({ system, scale: 0.02, round: 0, adapters: {} });
      const { attempted, completed } = await trial.run();
      await trial.close?.();
      assert.is(completed, attempted);
      assert.ok(attempted > 0);
    }
  });
}

features('a build is a separate copy of the core', async () => {
  const [one, other] = [await buildWithout(undefined), await buildWithout('without-counts')];
  const [{ createSystem: first }, { createSystem: second }] = [
    await import(one.url),
    await import(other.url),
  ];
  assert.is.not(first, second);
  await Promise.all([one.remove(), other.remove()]);
});

features.run();
