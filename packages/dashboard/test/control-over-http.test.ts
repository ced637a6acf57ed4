import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { GatewayRig } from './gateway-rig.js';

const control = suite('control over HTTP');
interface Answer {
  readonly [name: string]: unknown;
}
const bodyOf = async (answer: Response): Promise<Answer> => (await answer.json()) as Answer;

control('jobs are found by fields, page by page', async () => {
  await using rig = await GatewayRig.start();
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) ids.push(await rig.submit('later.job', n, `?runAfter=1h&key=k${n}`));
  await rig.submit('other.job', 1, '?runAfter=1h');
  const page = await bodyOf(await rig.get('/api/search?exec=later.job&max=3'));
  assert.equal(
    (page['jobs'] as Answer[]).map(({ id }) => id),
    ids.slice(0, 3),
  );
  const next = await bodyOf(await rig.get(`/api/search?exec=later.job&max=3&after=${page['next']}`));
  assert.is((next['jobs'] as Answer[]).length, 2);
  const byKey = await bodyOf(await rig.get('/api/search?key=k4&state=queued'));
  assert.is((byKey['jobs'] as Answer[])[0]?.['id'], ids[4]);
  assert.is((await rig.get('/api/search?state=lost')).status, 400);
});

control('the overview has the segments, the disk and the commit times of the log', async () => {
  await using rig = await GatewayRig.start();
  await rig.submit('later.job', 1, '?runAfter=1h');
  const { log, clockStepMs } = await bodyOf(await rig.get('/api/overview'));
  const { segments, freeBytes, commitMs } = log as {
    segments: number;
    freeBytes: number;
    commitMs: { p50: number; p99: number };
  };
  assert.ok(segments >= 1 && freeBytes > 0, `${segments} segments, ${freeBytes} free`);
  assert.ok(commitMs.p50 > 0 && commitMs.p99 >= commitMs.p50, JSON.stringify(commitMs));
  assert.ok(Math.abs(Number(clockStepMs)) < 5_000);
});

control('a queue is paused and resumed, and a job explained', async () => {
  await using rig = await GatewayRig.start();
  assert.is((await bodyOf(await rig.post('/api/queues/sample.echo/pause', undefined)))['mode'], 'paused');
  const id = await rig.submit('sample.echo', 1);
  const { state, reasons } = await bodyOf(await rig.get(`/api/jobs/${id}/explain`));
  assert.is(state, 'queued');
  assert.ok((reasons as Answer[]).some(({ kind }) => kind === 'paused'));
  const { queues } = await bodyOf(await rig.get('/api/queues'));
  assert.equal(
    (queues as Answer[]).map(({ queue, mode }) => [queue, mode]),
    [['sample/sample.echo', 'paused']],
  );
  assert.is(
    (await bodyOf(await rig.post('/api/queues/sample%2Fsample.echo/resume', undefined)))['mode'],
    'open',
  );
  assert.is((await bodyOf(await rig.get(`/api/jobs/${id}/result?within=10s`)))['output'], 1);
  assert.is((await rig.post('/api/queues/no%20queue/pause', undefined)).status, 400);
  assert.is((await rig.get('/api/jobs/other-1/explain')).status, 404);
});

control('dead letters are grouped, counted and driven by filter, and the audit has it', async () => {
  await using rig = await GatewayRig.start();
  for (let n = 0; n < 3; n += 1)
    await rig.get(`/api/jobs/${await rig.submit('sample.fail', n)}/result?within=10s`);
  const { groups } = await bodyOf(await rig.get('/api/dead-letters/groups'));
  const [group] = groups as Answer[];
  assert.equal([group?.['count'], (group?.['ids'] as string[] | undefined)?.length], [3, 3]);
  const where = (body: object): Promise<Response> => rig.post('/api/dead-letters/redrive-where', body);
  const filter = { fingerprint: group?.['fingerprint'] };
  assert.equal(await bodyOf(await where({ filter })), { matched: 3, redriven: 0 });
  assert.equal(await bodyOf(await where({ filter, dryRun: false })), { matched: 3, redriven: 3 });
  assert.is((await where({ filter: {} })).status, 400);
  assert.is((await where({ filter: { color: 'red' } })).status, 400);
  const { entries } = await bodyOf(await rig.get('/api/audit?max=10'));
  assert.ok((entries as Answer[]).some(({ action }) => action === 'redrive'));
});

control('a dead letter is queued again with another input, which its schema checks', async () => {
  await using rig = await GatewayRig.start();
  const id = await rig.submit('sample.fail', 'broken');
  await rig.get(`/api/jobs/${id}/result?within=10s`);
  const redrive = (job: string, body: object): Promise<Response> =>
    rig.post(`/api/dead-letters/${job}/redrive`, body);
  assert.is((await redrive(id, {})).status, 400);
  assert.equal(await bodyOf(await redrive(id, { input: 'mended' })), { count: 1 });
  assert.is((await bodyOf(await rig.get(`/api/jobs/${id}/result?within=10s`)))['output'], 'mended');
  const again = await redrive(id, { input: 'mended' });
  assert.equal([again.status, (await bodyOf(again))['title']], [409, 'ERR_JOB_NOT_DEAD']);
  assert.is((await redrive('other-1', { input: 1 })).status, 404);
  const shout = await rig.submit('text.shout', 'hello');
  const wrong = await redrive(shout, { input: 5 });
  assert.equal([wrong.status, (await bodyOf(wrong))['title']], [400, 'ERR_JOB_SCHEMA']);
  const { entries } = await bodyOf(await rig.get('/api/audit?max=10'));
  assert.ok((entries as Answer[]).some(({ action, target }) => action === 'redrive-edited' && target === id));
});

control('jobs of a search are counted, then cancelled, no more than the count', async () => {
  await using rig = await GatewayRig.start();
  const submit = (n: number): Promise<string> => rig.submit('later.job', n, '?runAfter=1h');
  for (let n = 0; n < 3; n += 1) await submit(n);
  const where = (body: object): Promise<Response> => rig.post('/api/jobs/cancel-where', body);
  const filter = { exec: 'later.job' };
  assert.equal(await bodyOf(await where({ filter })), { matched: 3, cancelled: 0 });
  const late = await submit(4);
  const answer = await where({ filter, dryRun: false, max: 3, reason: 'wrong list' });
  assert.equal(await bodyOf(answer), { matched: 3, cancelled: 3 });
  assert.is((await bodyOf(await rig.get(`/api/jobs/${late}`)))['state'], 'queued');
  assert.is((await where({ filter: {} })).status, 400);
  assert.is((await where({ filter: { state: 'dead' } })).status, 400);
  const { entries } = await bodyOf(await rig.get('/api/audit?max=10'));
  assert.ok((entries as Answer[]).some(({ action, target }) => action === 'cancel' && target === '3 jobs'));
});

control('a worker is made quiet and resumed; clients are listed', async () => {
  await using rig = await GatewayRig.start();
  assert.equal(await bodyOf(await rig.post('/api/workers/embedded/quiet', undefined)), { processes: 1 });
  assert.equal(await bodyOf(await rig.post('/api/workers/embedded/resume', undefined)), { processes: 1 });
  assert.is((await rig.post('/api/workers/nowhere/stop', undefined)).status, 404);
  const { clients } = await bodyOf(await rig.get('/api/clients'));
  assert.is((clients as Answer[])[0]?.['client'], 'gateway');
});

control.run();
