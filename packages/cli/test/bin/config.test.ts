import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { folder, inProcess, lines, start } from './troupe.js';

const config = suite('settings by the command');

config('`troupe config` shows how it would connect, and where each setting comes from', async () => {
  const shown = await inProcess(['config', '--connect-within', '1s']);
  assert.is(shown.code, 0);
  assert.match(shown.out, /--leader +127\.0\.0\.1:7419 +default/);
  assert.match(shown.out, /--connect-within +1000 +flag/);
  const child = start(['config', '--json'], undefined, { TROUPE_LEADER: 'elsewhere:1' });
  let out = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  await new Promise((resolve) => child.once('close', resolve));
  assert.match(out, '{"name":"--leader","value":"elsewhere:1","from":"TROUPE_LEADER"}');
});

config(
  '`troupe config <file>` shows every limit of a leader, and refuses what the leader would',
  async () => {
    await using f = await folder();
    const file = join(f.dir, 'leader.json');
    await writeFile(file, JSON.stringify({ dir: './x', limits: { jobsMax: 7 } }));
    const rows = lines(await inProcess(['config', file, '--json']));
    const rowOf = (name: string) => rows.find((row) => row['name'] === name);
    assert.equal(rowOf('dir'), { name: 'dir', value: './x', from: file });
    assert.equal(rowOf('limits.jobsMax'), { name: 'limits.jobsMax', value: 7, from: file });
    assert.is(rowOf('limits.resultsMax')?.['from'], 'default');
    assert.is(rowOf('times.resumeGraceMs')?.['from'], 'default');
    await writeFile(file, JSON.stringify({ limits: { jobsMax: -1 } }));
    const refused = await inProcess(['config', file]);
    assert.is(refused.code, 64);
    assert.match(refused.err, /startLeader\.limits\.jobsMax: needed/);
    assert.is((await inProcess(['config', join(f.dir, 'missing.json')])).code, 66);
  },
);

config.run();
