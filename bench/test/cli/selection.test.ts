import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { labelsOnRuntimes, loadAdapters, selectCases, selectSystems } from '#src/cli/selection.js';
import type { Suite } from '#src/runner/suite.js';
import { UsageError } from '#src/runner/usage-error.js';
import { caseWith } from '../case-builders.js';

const selection = suite('selection');
const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../test/fixtures/${name}`, import.meta.url));

const sample: Suite = {
  name: 'sample',
  title: 'a suite',
  systems: ['troupe', 'nact', 'erlang'],
  cases: [
    caseWith({ benchmark: 'one', group: 'micro' }),
    caseWith({ benchmark: 'two', group: 'micro' }),
    caseWith({ benchmark: 'three', systems: ['troupe', '*'] }),
  ],
  missing: (system) => (system === 'troupe' ? undefined : `${system} is not installed`),
};

async function usageError(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return '';
}

selection('benchmarks are chosen by name or group, in the order of the suite', () => {
  const names = (only?: string[]): string[] => selectCases(sample, only).map((one) => one.benchmark);
  assert.equal(names(), ['one', 'two', 'three']);
  assert.equal(names(['three', 'one']), ['one', 'three']);
  assert.equal(names(['micro']), ['one', 'two']);
});

selection('an unknown benchmark is a usage error', async () => {
  assert.match(
    await usageError(() => selectCases(sample, ['four'])),
    "no benchmark 'four': there are one, two",
  );
});

selection('a missing peer of the default list is skipped with its reason', async () => {
  const { labels, skipped } = await selectSystems(sample, undefined, {});
  assert.equal(labels, ['troupe']);
  assert.equal(skipped[0], { benchmark: '*', system: 'nact', reason: 'nact is not installed' });
});

selection('a missing peer named on the command line is a usage error', async () => {
  assert.match(
    await usageError(() => selectSystems(sample, ['troupe', 'nact'], {})),
    'nact is not installed',
  );
});

selection('a missing Erlang is skipped even if named, unless no other system is left', async () => {
  const { labels, skipped } = await selectSystems(sample, ['troupe', 'erlang'], {});
  assert.equal(labels, ['troupe']);
  assert.is(skipped.length, 1);
  assert.match(await usageError(() => selectSystems(sample, ['erlang'], {})), /no system to run/);
});

selection('an unknown system is a usage error, and the wildcard is not listed as a system', async () => {
  const text = await usageError(() => selectSystems(sample, ['akka'], {}));
  assert.match(text, "unknown system 'akka': there are troupe, nact, erlang");
  assert.not.match(text, '*');
});

selection('an adapter has the name that its file exports', async () => {
  const adapters = await loadAdapters([fixture('lossy.mjs')]);
  assert.equal(Object.keys(adapters), ['lossy']);
  const { labels } = await selectSystems(sample, ['troupe', 'lossy'], adapters);
  assert.equal(labels, ['troupe', 'lossy']);
});

selection('a missing adapter file, or one without the exports, is a usage error', async () => {
  assert.match(await usageError(() => loadAdapters(['/no/such/file.mjs'])), /no such file/);
  assert.match(await usageError(() => loadAdapters([fixture('nameless.mjs')])), /exports 'name'/);
});

selection('labels on Node have no runtime suffix', () => {
  assert.equal(labelsOnRuntimes(['troupe', 'erlang'], ['node']), ['troupe', 'erlang']);
});

selection.run();
