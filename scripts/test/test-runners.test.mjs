import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { testRunners, tryTestRunner } from '../runtimes/test-runners.mjs';
import { root } from '../workspace.mjs';

const runners = suite('test runners');

for (const name of /** @type {const} */ (['uvu', 'node:test'])) {
  runners(`${name}: an ask that no turn serves ends with a hint, and the other test passes`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'troupe-runner-'));
    try {
      mkdirSync(join(folder, 'node_modules'));
      symlinkSync(join(root, 'docs/examples/node_modules/@troupe'), join(folder, 'node_modules/@troupe'));
      const { code, output } = await tryTestRunner(testRunners[name], root, folder);
      assert.is(code, 0, output);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

runners.run();
