import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const bars = suite('draw-bars');
const root = new URL('../../../', import.meta.url);
const script = fileURLToPath(new URL('docs/images/draw-bars.mjs', root));
const recorded = fileURLToPath(new URL('bench/results/core-2026-11-18.json', root));

bars('the script of the charts draws a bar for each system of a recorded row', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-bars-'));
  try {
    const svg = join(folder, 'bars.svg');
    await promisify(execFile)(process.execPath, [script, recorded, svg, 'timers']);
    const drawn = await readFile(svg, 'utf8');
    for (const system of ['troupe', 'floor', 'erlang', 'go'])
      assert.ok(drawn.includes(`<text class="name"`) && drawn.includes(`>${system}</text>`), system);
  } finally {
    await rm(folder, { recursive: true });
  }
});

bars.run();
