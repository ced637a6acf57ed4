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

jobs('a body of bytes is the input as it is, and an output of bytes is base64 or a file', async () => {
  await using rig = await GatewayRig.start();
  const input = Uint8Array.from({ length: 200_000 }, (_, at) => at % 251);
  for (const bytes of [input.subarray(0, 9), input]) {
    const answer = await fetch(`${rig.url}/api/execs/sample.bytes/jobs?streaming=response`, {
      method: 'POST',
      body: bytes,
      headers: { 'content-type': 'application/octet-stream' },
    });
    const { id } = await bodyOf(answer);
    const file = await rig.get(`/api/jobs/${id}/result/file?within=20s`);
    assert.is(file.headers.get('content-type'), 'application/octet-stream');
    assert.is(file.headers.get('content-disposition'), `attachment; filename="${id}-output.bin"`);
    assert.ok(Buffer.from(await file.arrayBuffer()).equals(bytes), `${bytes.length} bytes come back`);
    const { base64 } = await bodyOf(await rig.get(`/api/jobs/${id}/result`));
    assert.ok(Buffer.from(String(base64), 'base64').equals(bytes));
    const chunks = await (await rig.get(`/api/jobs/${id}/stream`)).text();
    assert.ok(chunks.includes(`"base64":"${String(base64)}"`), chunks.slice(0, 200));
  }
});

jobs('a submit has tags, a priority, an order key, labels, a time to begin within and a trace', async () => {
  await using rig = await GatewayRig.start();
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const query = '?tag=blue&tag=green&priority=7&orderKey=ann&requires=gpu&startWithin=1h&key=once';
  const submitted = await rig.post(`/api/execs/later.job/jobs${query}&runAfter=1h`, 1, { traceparent });
  const { id } = await bodyOf(submitted);
  for (const field of ['tag=blue', 'tag=green', 'orderKey=ann', 'key=once']) {
    const { jobs: found } = await bodyOf(await rig.get(`/api/search?${field}`));
    assert.equal(
      (found as Answer[]).map((job) => job['id']),
      [id],
      field,
    );
  }
  const { execs } = await bodyOf(await rig.get('/api/overview'));
  assert.equal((execs as Answer[])[0]?.['queuedByPriority'], { 7: 1 });
  const { reasons } = await bodyOf(await rig.get(`/api/jobs/${id}/explain`));
  const noWorker = (reasons as Answer[]).find(({ kind }) => kind === 'no-worker');
  assert.equal(noWorker?.['requires'], ['gpu']);
  const now = await rig.submit('sample.trace', 1, '');
  assert.is((await bodyOf(await rig.get(`/api/jobs/${now}/result?within=10s`)))['output'], null);
  const traced = await rig.post('/api/execs/sample.trace/jobs', 1, { traceparent });
  const path = `/api/jobs/${(await bodyOf(traced))['id']}/result?within=10s`;
  assert.is((await bodyOf(await rig.get(path)))['output'], traceparent);
  const refused = await rig.post('/api/execs/sample.trace/jobs', 1, { traceparent: 'no trace' });
  assert.is(refused.status, 400);
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

jobs('a known path with another method is refused with the methods that it takes', async () => {
  await using rig = await GatewayRig.start();
  const id = await rig.submit('later.job', 1, '?runAfter=1h');
  const cases: readonly [method: string, path: string, status: number, allow: string | null][] = [
    ['GET', `/api/jobs/${id}/cancel`, 405, 'POST'],
    ['HEAD', `/api/jobs/${id}/cancel`, 405, 'POST'],
    ['PUT', `/api/jobs/${id}`, 405, 'GET, HEAD'],
    ['DELETE', '/api/jobs/cancel-where', 405, 'GET, HEAD, POST'],
    ['PATCH', '/api/schedules/nightly', 405, 'POST, DELETE'],
    ['POST', '/metrics', 405, 'GET, HEAD'],
    ['POST', '/', 405, 'GET, HEAD'],
    ['OPTIONS', '/api/overview', 405, 'GET, HEAD'],
    ['HEAD', '/api/overview', 200, null],
    ['GET', '/api/openapi-json', 404, null],
    ['DELETE', '/api/nothing', 404, null],
  ];
  for (const [method, path, status, allow] of cases) {
    const answer = await fetch(`${rig.url}${path}`, { method });
    assert.equal([answer.status, answer.headers.get('allow')], [status, allow], `${method} ${path}`);
    if (status === 200) continue;
    assert.is(answer.headers.get('content-type'), 'application/problem+json');
    if (method === 'HEAD') continue;
    const { title } = await bodyOf(answer);
    assert.is(title, status === 405 ? 'ERR_HTTP_METHOD' : 'ERR_HTTP_NOT_FOUND');
  }
  assert.is((await rig.client.overview()).counts.queued, 1);
});

jobs.run();
