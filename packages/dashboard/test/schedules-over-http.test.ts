import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { GatewayRig } from './gateway-rig.js';

const schedules = suite('schedules over HTTP');
interface Answer {
  readonly [name: string]: unknown;
}
const bodyOf = async (answer: Response): Promise<Answer> => (await answer.json()) as Answer;

schedules('a schedule is set, listed with its next ten times, run, paused, resumed and removed', async () => {
  await using rig = await GatewayRig.start();
  const body = { exec: 'sample.echo', input: 'x', cron: '*/5 * * * *' };
  const set = await rig.post('/api/schedules/five', body);
  assert.is(set.status, 200);
  const next = (await bodyOf(set))['next'] as number[];
  assert.is(next.length, 10);
  assert.ok(next.every((at, i) => i === 0 || at - (next[i - 1] as number) === 300_000));
  const ran = await bodyOf(await rig.post('/api/schedules/five/run', undefined));
  const result = await rig.get(`/api/jobs/${ran['lastJob']}/result?within=10s`);
  assert.is((await bodyOf(result))['output'], 'x');
  assert.is((await bodyOf(await rig.post('/api/schedules/five/pause', undefined)))['paused'], true);
  assert.is((await bodyOf(await rig.post('/api/schedules/five/resume', undefined)))['paused'], false);
  const page = await bodyOf(await rig.get('/api/schedules'));
  assert.is((page['schedules'] as Answer[])[0]?.['name'], 'five');
  const gone = await fetch(`${rig.url}/api/schedules/five`, { method: 'DELETE' });
  assert.is(gone.status, 204);
  assert.is((await rig.post('/api/schedules/five/run', undefined)).status, 404);
});

schedules('a bad schedule is 400 with the reason', async () => {
  await using rig = await GatewayRig.start();
  for (const body of [
    {},
    { exec: 'a.b' },
    { exec: 'a.b', cron: 'no' },
    { exec: 'a.b', everyMs: -1 },
    { exec: 'a.b', x: 1 },
  ]) {
    const answer = await rig.post('/api/schedules/bad', body);
    assert.is(answer.status, 400, JSON.stringify(body));
  }
  assert.equal((await bodyOf(await rig.get('/api/schedules')))['schedules'], []);
});

schedules.run();
