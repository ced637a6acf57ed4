// timeout: 120s, needs: curl
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { GatewayRig } from './gateway-rig.js';

const examples = suite('examples with curl');
const guide = new URL('../../../docs/guides/http.md', import.meta.url);
/** The ids of the guide: the first job is submitted by its first line, the second one streams. */
const FIRST = '42xlt-1';
const STREAMED = '42xlt-2';

examples('every line of the guide with curl answers as the guide says', async () => {
  const lines = (await readFile(guide, 'utf8')).split('\n').filter((line) => line.startsWith('curl '));
  assert.ok(lines.length >= 5, 'the guide has examples');
  await using rig = await GatewayRig.start();
  let first = '';
  const streamed = await rig.submit('sample.count', 3, '?streaming=response');
  for (const line of lines) {
    const [command = '', comment = ''] = line.split(/\s+# /);
    const real = command.replace('localhost:7420', rig.url).replace(FIRST, first).replace(STREAMED, streamed);
    const { stdout } = await promisify(execFile)('sh', ['-c', real]);
    assert.not.match(stdout, /"status":/, `${real}: ${stdout}`);
    const chunks = command.includes('Last-Event-ID') ? 1 : 3;
    if (command.includes(`/${STREAMED}/`)) assert.is(stdout.match(/"chunk":\d/g)?.length, chunks, stdout);
    if (!comment.startsWith('{')) continue;
    const { id, ...answer } = JSON.parse(stdout) as { id: string; lsn?: number };
    first = id;
    const { id: _, ...expected } = JSON.parse(comment) as { id: string; lsn?: number };
    assert.equal({ ...answer, lsn: expected.lsn }, { lsn: undefined, ...expected }, real);
  }
  assert.not.equal(first, '');
});

examples.run();
