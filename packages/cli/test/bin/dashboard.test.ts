import { chmod, writeFile } from 'node:fs/promises';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { CertificateAuthority } from '@troupe/transport/testing';
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

http('with a certificate it serves HTTPS alone, and the cookie of a session is for HTTPS', async () => {
  await using s = await stage();
  const path = (name: string): string => join(s.dir, name);
  const authority = new CertificateAuthority('own');
  const { cert, key } = authority.issue({ name: 'gateway', hosts: ['localhost', '127.0.0.1'] });
  const tokens = JSON.stringify([{ name: 'ann', token: TOKEN, roles: ['read'] }]);
  for (const [name, text] of Object.entries({ 'cert.pem': cert, 'key.pem': key, 'tokens.json': tokens }))
    await writeFile(path(name), text, { mode: 0o600 });
  const words = ['dashboard', '--leader', s.at, '--port', '0', '--tokens', path('tokens.json')];
  const half = await inProcess([...words, '--http-tls-cert', path('cert.pem')]);
  assert.match(half.err, /--http-tls-cert and --http-tls-key go together/);
  const tls = ['--http-tls-cert', path('cert.pem'), '--http-tls-key', path('key.pem')];
  await using dashboard = new Running([...words, ...tls]);
  const { url } = (await dashboard.first) as { url: string };
  assert.match(url, /^https:/);
  const { status, cookie } = await openSession(url, authority.cert);
  assert.is(status, 201);
  assert.match(cookie, /HttpOnly; SameSite=Strict; Secure/);
  const plain = await fetch(url.replace('https:', 'http:')).then(
    (answer) => answer.status,
    () => 'no answer',
  );
  assert.is(plain, 'no answer');
});

/** `fetch` takes no authority of its own. */
function openSession(url: string, ca: string): Promise<{ status: number | undefined; cookie: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest(`${url}/api/session`, { method: 'POST', ca }, (answer) => {
      answer.resume();
      resolve({ status: answer.statusCode, cookie: String(answer.headers['set-cookie']) });
    });
    outgoing.on('error', reject).end(JSON.stringify({ token: TOKEN }));
  });
}

http.run();
