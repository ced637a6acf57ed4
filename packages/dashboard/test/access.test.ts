import { request as httpRequest } from 'node:http';
import { serveDashboard } from '@troupe/dashboard';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FailedTokens } from '#src/access/failed-tokens.js';
import { GatewayRig, Shout } from './gateway-rig.js';

const access = suite('access over HTTP');
const READ = 'r'.repeat(20);
const OPERATE = 'o'.repeat(20);
const SUBMIT = 's'.repeat(20);
const tokens = [
  { name: 'reader', token: READ, roles: ['read'] as const },
  { name: 'operator', token: OPERATE, roles: ['operate'] as const },
  { name: 'app', token: SUBMIT, roles: ['submit'] as const },
];
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
interface Act {
  readonly by: string;
  readonly action: string;
}
const titleOf = async (answer: Response): Promise<string> =>
  ((await answer.json()) as { title: string }).title;

access('each role may do its part and nothing else', async () => {
  await using rig = await GatewayRig.start({ tokens });
  assert.is((await rig.get('/api/overview')).status, 401);
  assert.is((await rig.get('/api/health')).status, 200, 'a probe needs no token');
  for (const token of [READ, OPERATE, SUBMIT])
    assert.is((await rig.get('/api/overview', bearer(token))).status, 200);
  const submit = (token: string): Promise<Response> =>
    rig.post('/api/execs/sample.endless/jobs', 1, bearer(token));
  assert.is((await submit(READ)).status, 403);
  assert.is((await submit(OPERATE)).status, 403);
  const { id } = (await (await submit(SUBMIT)).json()) as { id: string };
  const cancel = (token: string): Promise<Response> => rig.post(`/api/jobs/${id}/cancel`, {}, bearer(token));
  assert.is((await cancel(SUBMIT)).status, 403);
  assert.is((await cancel(OPERATE)).status, 200);
});

access('an act over HTTP is in the audit with the name of its token, by bearer and by session', async () => {
  await using rig = await GatewayRig.start({ tokens });
  const session = await rig.post('/api/session', { token: OPERATE });
  const cookie = (session.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const { csrf } = (await session.json()) as { csrf: string };
  const id = await rig.client.submit(Shout, 'later', { runAfterMs: 60_000 }).then((job) => job.id);
  const acts = [`/api/jobs/${id}/cancel`, '/api/queues/idle.job/pause', '/api/workers/embedded/quiet'];
  for (const path of acts) assert.is((await rig.post(path, {}, bearer(OPERATE))).status, 200, path);
  await rig.post(
    '/api/schedules/nightly',
    { exec: 'text.shout', input: 'x', cron: '@daily' },
    bearer(OPERATE),
  );
  await rig.post('/api/queues/idle.job/resume', undefined, { cookie, 'x-csrf-token': csrf });
  await rig.client.queue('idle.job').pause();
  const { entries } = (await (await rig.get('/api/audit', bearer(READ))).json()) as { entries: Act[] };
  assert.equal(
    entries.map(({ by, action }) => `${by} ${action}`),
    [
      'gateway/operator cancel',
      'gateway/operator queue-paused',
      'gateway/operator worker-quiet',
      'gateway/operator schedule-set',
      'gateway/operator queue-open',
      'gateway queue-paused',
    ],
  );
});

access('a token whose name could not stand in an audit is refused', async () => {
  const named = { name: 'ann or bob', token: READ, roles: ['read'] as const };
  await using rig = await GatewayRig.start();
  const served = serveDashboard({ client: rig.client, port: 0, tokens: [named] });
  const error = await served.catch((reason: Error) => reason);
  assert.match(String(error), /letters, digits/);
});

access('an answer is followed with the right that its route needs, and no other route is', async () => {
  await using rig = await GatewayRig.start({ tokens });
  const followed = async (path: string, token: string): Promise<string> => {
    const answer = await rig.get(`/api/live?look=${encodeURIComponent(path)}`, bearer(token));
    if (answer.body === null || answer.status !== 200) return titleOf(answer);
    let text = '';
    for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
      text += part;
      if (/event: look\n.*\n\n/.test(text)) break;
    }
    return text;
  };
  assert.match(await followed('/api/actors', READ), /"path":"\/api\/actors","status":403/);
  assert.match(await followed('/api/actors', OPERATE), /"path":"\/api\/actors","status":200,"isWhole":true/);
  assert.match(await followed('/api/queues', READ), /"status":200/);
  assert.match(await followed('/api/jobs/no-such', READ), /"status":404.*ERR_JOB_FOREIGN/);
  for (const path of ['/api/jobs/x-1/input', '/api/live', '/', '/api/queues?x=1', '/api/jobs/%'])
    assert.is(await followed(path, OPERATE), 'ERR_HTTP_INPUT', path);
});

access('an address with ten wrong tokens waits, with the right one too', async () => {
  await using rig = await GatewayRig.start({ tokens });
  for (let tries = 0; tries < 10; tries += 1)
    assert.is(await titleOf(await rig.get('/api/overview', bearer('wrong'))), 'ERR_HTTP_TOKEN');
  const refused = await rig.get('/api/overview', bearer(READ));
  assert.is(refused.status, 429);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
});

access('after a minute an address that sent wrong tokens may try again; another one did not wait', () => {
  let now = 0;
  const failed = new FailedTokens({ now: () => now });
  for (let tries = 0; tries < 10; tries += 1) failed.add('10.0.0.1');
  assert.is(failed.waitMs('10.0.0.1'), 60_000);
  assert.is(failed.waitMs('10.0.0.2'), 0);
  now = 60_000;
  assert.is(failed.waitMs('10.0.0.1'), 0);
});

access('a page trades its token for a cookie, and its changes need the csrf token', async () => {
  await using rig = await GatewayRig.start({ tokens });
  const opened = await rig.post('/api/session', { token: OPERATE });
  assert.is(opened.status, 201);
  const { csrf } = (await opened.json()) as { csrf: string };
  const set = opened.headers.get('set-cookie') ?? '';
  assert.match(set, /HttpOnly; SameSite=Strict/);
  const cookie = set.split(';')[0] as string;
  assert.is((await rig.get('/api/overview', { cookie })).status, 200);
  const purge = (headers: Record<string, string>): Promise<Response> =>
    rig.post('/api/dead-letters/purge', { ids: ['x'] }, headers);
  assert.is(await titleOf(await purge({ cookie })), 'ERR_HTTP_CROSS_SITE');
  // As many characters as the right one has, in as many bytes and in more.
  for (const wrong of ['x'.repeat(csrf.length), 'é'.repeat(csrf.length)])
    assert.is(await titleOf(await purge({ cookie, 'x-csrf-token': wrong })), 'ERR_HTTP_CROSS_SITE');
  assert.is.not(await titleOf(await purge({ cookie, 'x-csrf-token': csrf })), 'ERR_HTTP_CROSS_SITE');
  await fetch(`${rig.url}/api/session`, { method: 'DELETE', headers: { cookie } });
  assert.is((await rig.get('/api/overview', { cookie })).status, 401);
});

access('another host name is refused, and so is a change by a page of another site', async () => {
  await using rig = await GatewayRig.start();
  assert.is(await statusWithHost(rig.url, 'evil.example'), 421);
  assert.is(await statusWithHost(rig.url, 'localhost:7420'), 200);
  for (const headers of [{ origin: 'http://evil.example' }, { 'sec-fetch-site': 'cross-site' }])
    assert.is((await rig.post('/api/execs/sample.echo/jobs', 1, headers)).status, 403);
  const own = await rig.post('/api/execs/sample.echo/jobs', 1, { 'sec-fetch-site': 'same-origin' });
  assert.is(own.status, 201);
});

access('every answer forbids scripts of documents and other sites', async () => {
  await using rig = await GatewayRig.start();
  const { headers } = await rig.get('/api/health');
  assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'; script-src 'self'/);
  assert.is(headers.get('x-content-type-options'), 'nosniff');
});

access('an address beyond loopback needs tokens, and TLS or a word', async () => {
  await using rig = await GatewayRig.start();
  const { client } = rig;
  const refused = async (options: object, problem: RegExp): Promise<void> => {
    try {
      await serveDashboard({ client, port: 0, address: '0.0.0.0', ...options });
    } catch (error) {
      return assert.match((error as Error).message, problem);
    }
    assert.unreachable('it was accepted');
  };
  await refused({}, /tokens: needed on 0\.0\.0\.0/);
  await refused({ tokens }, /tls: needed on 0\.0\.0\.0, or insecure: true/);
  await refused(
    { insecure: true, tokens: [{ name: 'x', token: 'short', roles: [] }] },
    /at least 16 characters/,
  );
});

/** `fetch` does not let a program set the header Host. */
function statusWithHost(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(`${url}/api/health`, { headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    outgoing.on('error', reject).end();
  });
}

access.run();
