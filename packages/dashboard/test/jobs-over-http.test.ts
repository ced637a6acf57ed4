import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { GatewayRig } from './gateway-rig.js';

const jobs = suite('jobs over HTTP');
interface Answer {
  readonly [name: string]: unknown;
}
const bodyOf = async (answer: Response): Promise<Answer> => (await answer.json()) as Answer;

jobs('a job is submitted, and its output is waited for', async () => {
  await using rig = await GatewayRig.start();
  const submitted = await rig.post('/api/execs/text.shout/jobs?key=once', 'hello');
  assert.is(submitted.status, 201);
  const { id, level, duplicate } = await bodyOf(submitted);
  assert.equal([level, duplicate], ['fsync', false]);
  const again = await bodyOf(await rig.post('/api/execs/text.shout/jobs?key=once', 'hello'));
  assert.equal([again['id'], again['duplicate']], [id, true]);
  const result = await rig.get(`/api/jobs/${id}/result?within=10s`);
  assert.equal(await bodyOf(result), { id, state: 'done', output: 'HELLO' });
  const view = await bodyOf(await rig.get(`/api/jobs/${id}`));
  assert.equal([view['id'], view['exec'], view['state']], [id, 'text.shout', 'done']);
});

jobs('a body without a length is streamed to the leader', async () => {
  await using rig = await GatewayRig.start();
  const input = 'x'.repeat(200_000);
  const body = new Blob([JSON.stringify(input)]).stream();
  const init = { method: 'POST', body, duplex: 'half' } as RequestInit;
  const { id } = await bodyOf(await fetch(`${rig.url}/api/execs/sample.echo/jobs`, init));
  const { output } = await bodyOf(await rig.get(`/api/jobs/${id}/result?within=20s`));
  assert.ok(output === input, 'the output is the input');
});

jobs('a job that has not ended is 202, a failed one 422, a cancelled one 410', async () => {
  await using rig = await GatewayRig.start();
  const endless = await rig.submit('sample.endless', 1);
  const pending = await rig.get(`/api/jobs/${endless}/result?within=50ms`);
  assert.is(pending.status, 202);
  const cancelled = await bodyOf(await rig.post(`/api/jobs/${endless}/cancel`, { reason: 'not needed' }));
  assert.is(cancelled['state'], 'cancelled');
  assert.is((await rig.get(`/api/jobs/${endless}/result?within=5s`)).status, 410);
  const failing = await rig.submit('sample.fail', 1);
  const failed = await rig.get(`/api/jobs/${failing}/result?within=10s`);
  assert.is(failed.status, 422);
  const { code, failure } = await bodyOf(failed);
  assert.is(code, 'ERR_JOB_FAILED');
  assert.match(JSON.stringify(failure), /it never works/);
  const dead = await bodyOf(await rig.get('/api/jobs?state=dead'));
  assert.equal(
    (dead['jobs'] as Answer[]).map((job) => job['id']),
    [failing],
  );
  const redriven = await rig.post('/api/dead-letters/redrive', { ids: [failing] });
  assert.equal(await bodyOf(redriven), { count: 1 });
});

jobs('lists are read page by page', async () => {
  await using rig = await GatewayRig.start();
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) ids.push(await rig.submit('later.job', n, '?runAfter=1h'));
  const found: unknown[] = [];
  for (let after: unknown = 0; after !== undefined; ) {
    const page = await bodyOf(await rig.get(`/api/jobs?state=queued&max=2&after=${after}`));
    found.push(...(page['jobs'] as Answer[]).map((job) => job['id']));
    after = page['next'];
  }
  assert.equal(found, ids);
});

jobs('bad requests are refused with a code, and change nothing', async () => {
  await using rig = await GatewayRig.start({ bodyBytesMax: 1_000 });
  const cases: [Promise<Response>, number, string][] = [
    [rig.get('/api/jobs/no-such'), 404, 'ERR_JOB_FOREIGN'],
    [rig.get('/api/jobs?state=lost'), 400, 'ERR_HTTP_INPUT'],
    [rig.get('/api/jobs?max=0'), 400, 'ERR_HTTP_INPUT'],
    [rig.get('/api/jobs?limit=5'), 400, 'ERR_HTTP_INPUT'],
    [rig.get('/api/nothing'), 404, 'ERR_HTTP_NOT_FOUND'],
    [rig.post('/api/execs/text.shout/jobs', 5), 400, 'ERR_JOB_SCHEMA'],
    [rig.post('/api/execs/text.shout/jobs?runAfter=soon', 'x'), 400, 'ERR_HTTP_INPUT'],
    [rig.post('/api/execs/a..b/jobs', 1), 400, 'ERR_JOB_DEFINITION'],
    [rig.post('/api/execs/sample.echo/jobs', 'x'.repeat(2_000)), 413, 'ERR_HTTP_BODY_TOO_LARGE'],
    [rig.post('/api/dead-letters/purge', { ids: [] }), 400, 'ERR_HTTP_INPUT'],
    [
      fetch(`${rig.url}/api/execs/sample.echo/jobs`, { method: 'POST', body: '{oops' }),
      400,
      'ERR_HTTP_INPUT',
    ],
  ];
  for (const [request, status, code] of cases) {
    const answer = await request;
    const { title } = await bodyOf(answer);
    assert.equal([answer.status, title], [status, code]);
    assert.is(answer.headers.get('content-type'), 'application/problem+json');
  }
  const { counts } = await rig.client.overview();
  assert.is(counts.queued + counts.running + counts.done, 0);
});

jobs.run();
