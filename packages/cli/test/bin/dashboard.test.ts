import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { folder, inProcess, Running, stage, workerOf } from './troupe.js';

const http = suite('jobs over HTTP by the command');
const TOKEN = 'a-long-enough-token';

http('`troupe dashboard` beside a leader serves its jobs, and ends at a signal', async () => {
  await using s = await stage();
  await using worker = await workerOf(s.at, s.dir);
  assert.ok(worker);
  await using dashboard = new Running(['dashboard', '--leader', s.at, '--port', '0']);
  const { url } = (await dashboard.first) as { url: string };
  const submitted = await fetch(`${url}/api/execs/math.add/jobs`, { method: 'POST', body: '[1,2]' });
  const { id } = (await submitted.json()) as { id: string };
  const result = await fetch(`${url}/api/jobs/${id}/result?within=10s`);
  assert.equal(await result.json(), { id, state: 'done', output: 3 });
  assert.is(await dashboard.end('SIGTERM'), 0);
});

http('`troupe leader --http` serves both, and a token file keeps strangers out', async () => {
  await using f = await folder();
  const tokens = join(f.dir, 'tokens.json');
  await writeFile(tokens, JSON.stringify([{ name: 'ci', token: TOKEN, roles: ['read'] }]), { mode: 0o600 });
  const words = ['leader', '--port', '0', '--dir', join(f.dir, 'state'), '--http', '0', '--tokens', tokens];
  await using leader = new Running(words);
  await leader.said(/"kind":"http"/);
  const url = /"url":"([^"]+)"/.exec(leader.printed)?.[1] as string;
  assert.is((await fetch(`${url}/api/overview`)).status, 401);
  const headers = { authorization: `Bearer ${TOKEN}` };
  assert.is((await fetch(`${url}/api/overview`, { headers })).status, 200);
  assert.is(await leader.end('SIGTERM'), 0);
  await chmod(tokens, 0o644);
  const refused = await inProcess(words);
  assert.is(refused.code, 78);
  assert.match(refused.err, /tokens\.json: others may read it; run: chmod 600/);
});

http.run();
