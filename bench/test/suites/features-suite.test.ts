// timeout: 120s
// Every feature can still be left out: the cuts fit the compiled core, and what is left does all its work.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { buildWithout, featureNames } from '#src/suites/features/build-without-feature.js';
import { suite as measured } from '#src/suites/features.suite.js';

const features = suite('features');

for (const system of ['troupe', ...featureNames]) {
  features(`${system} does all its work`, async () => {
    for (const benchmark of measured.cases) {
      const trial = await benchmark.prepare({ system, scale: 0.1, round: 0, adapters: {} });
      const { attempted, completed } = await trial.run();
      await trial.close?.();
      assert.is(completed, attempted);
      assert.ok(attempted > 0);
    }
  });
}

features('a build is another copy of the core', async () => {
  const [one, other] = [await buildWithout(undefined), await buildWithout('without-counts')];
  const [{ createSystem: first }, { createSystem: second }] = [
    await import(one.url),
    await import(other.url),
  ];
  assert.is.not(first, second);
  await Promise.all([one.remove(), other.remove()]);
});

features.run();
