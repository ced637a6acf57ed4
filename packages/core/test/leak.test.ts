// timeout: 120s, alone
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const leak = suite('leak');
const load = fileURLToPath(new URL('./leak-load.js', import.meta.url));

leak('after a million actors and ten million messages the heap is where it was', async () => {
  const args = ['--expose-gc', load, '1000000', '10000000'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 20 });
  const { before, after, living, queued, timers } = JSON.parse(stdout) as Record<string, number>;
  assert.equal([living, queued, timers], [2, 0, 1]);
  const growth = (after as number) / (before as number) - 1;
  assert.ok(
    growth < 0.05,
    `the heap grew by ${(100 * growth).toFixed(1)} %, from ${before} to ${after} bytes`,
  );
});

leak.run();
