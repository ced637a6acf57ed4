import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Redaction } from '#src/redaction/redaction.js';
import { GatewayRig } from './gateway-rig.js';

const inputs = suite('inputs over HTTP');
interface Answer {
  readonly [name: string]: unknown;
}
const bodyOf = async (answer: Response): Promise<Answer> => (await answer.json()) as Answer;

inputs('the input of a job is shown up to a size, and downloaded whole', async () => {
  await using rig = await GatewayRig.start();
  const value = { user: 'ann', notes: 'x'.repeat(300_000) };
  const id = await rig.submit('later.job', value, '?runAfter=1h');
  const whole = JSON.stringify(value);
  const head = await bodyOf(await rig.get(`/api/jobs/${id}/input?max=20`));
  assert.equal([head['isCut'], head['bytes'], head['text']], [true, whole.length, whole.slice(0, 20)]);
  const all = await bodyOf(await rig.get(`/api/jobs/${id}/input?max=1000000`));
  assert.equal(all['value'], value);
  const file = await rig.get(`/api/jobs/${id}/input/file`);
  assert.match(file.headers.get('content-disposition') ?? '', /^attachment; filename="[\w-]+\.json"$/);
  assert.is(await file.text(), whole);
});

inputs('the input of a job that is done is gone', async () => {
  await using rig = await GatewayRig.start();
  const id = await rig.submit('sample.echo', 1);
  await rig.get(`/api/jobs/${id}/result?within=10s`);
  for (const path of ['input', 'input/file']) {
    const answer = await rig.get(`/api/jobs/${id}/${path}`);
    assert.equal([answer.status, (await bodyOf(answer))['title']], [410, 'ERR_HTTP_INPUT_GONE']);
  }
  assert.is((await rig.get('/api/jobs/other-1/input')).status, 404);
});

inputs('a rule hides a field by its name or its path', () => {
  const redaction = new Redaction(['password', 'card.number', 'users.*.email']);
  assert.equal(
    redaction.redact({
      Password: 1,
      deep: [{ password: { a: 1 } }],
      card: { number: '4111', owner: 'ann' },
      number: 7,
      users: [{ email: 'a@b', name: 'ann' }],
    }),
    {
      Password: '[redacted]',
      deep: [{ password: '[redacted]' }],
      card: { number: '[redacted]', owner: 'ann' },
      number: 7,
      users: [{ email: '[redacted]', name: 'ann' }],
    },
  );
  assert.is(new Redaction([]).redact('as it is'), 'as it is');
});

inputs(
  'hidden fields are in no answer: input, file, output, chunks; what cannot be searched is refused',
  async () => {
    await using rig = await GatewayRig.start({ redact: ['secret'] });
    const value = { secret: 'hunter2', open: 'yes' };
    const later = await rig.submit('later.job', value, '?runAfter=1h');
    const done = await rig.submit('sample.echo', value);
    const paths = [
      `${later}/input`,
      `${later}/input/file`,
      `${done}/result?within=10s`,
      `${done}/result/file`,
    ];
    for (const path of paths) {
      const text = await (await rig.get(`/api/jobs/${path}`)).text();
      assert.not.match(text, 'hunter2', path);
      assert.match(text, 'yes', path);
    }
    assert.is((await bodyOf(await rig.get(`/api/jobs/${later}/input`)))['isRedacted'], true);
    const open = await rig.submit('later.job', { open: 'yes' }, '?runAfter=1h');
    assert.is((await bodyOf(await rig.get(`/api/jobs/${open}/input`)))['isRedacted'], false);
    const cut = await rig.get(`/api/jobs/${later}/input?max=5`);
    assert.equal([cut.status, (await bodyOf(cut))['title']], [403, 'ERR_HTTP_REDACTED']);
    for (const mode of ['response', 'internal']) {
      const streamed = await rig.submit('sample.parts', value, `?streaming=${mode}`);
      const items = await (await rig.get(`/api/jobs/${streamed}/stream`)).text();
      assert.not.match(items, 'hunter2', mode);
      assert.match(
        items,
        mode === 'internal' ? '"finalCollected"' : '"metadata":{"secret":"[redacted]"',
        items,
      );
      assert.is(items.match(/yes/g)?.length, mode === 'internal' ? 2 : 1, items);
    }
    const bytes = await rig.submit('sample.bytes', 'hunter2', '?streaming=response');
    assert.match(await (await rig.get(`/api/jobs/${bytes}/stream`)).text(), '"chunk":"[redacted]"');
    for (const path of ['result', 'result/file']) {
      const refused = await rig.get(`/api/jobs/${bytes}/${path}?within=10s`);
      assert.equal([refused.status, (await bodyOf(refused))['title']], [403, 'ERR_HTTP_REDACTED']);
    }
  },
);

inputs('a job is fed item by item, and its feed is ended', async () => {
  await using rig = await GatewayRig.start();
  const id = await rig.submit('sample.chat', 1, '?fed=true');
  const plain = await rig.submit('sample.endless', 1);
  assert.is((await rig.post(`/api/jobs/${id}/feed`, { item: 'one' })).status, 200);
  assert.is((await rig.post(`/api/jobs/${id}/feed`, { item: { n: 2 }, final: true })).status, 200);
  const stream = await (await rig.get(`/api/jobs/${id}/stream`)).text();
  assert.match(stream, 'heard \\"one\\"');
  assert.match(stream, '"outcome":"done"');
  assert.is((await rig.post(`/api/jobs/${id}/feed`, { item: 'late' })).status, 409);
  assert.is((await rig.post(`/api/jobs/${plain}/feed`, { item: 1 })).status, 412);
  assert.is((await rig.post(`/api/jobs/${plain}/feed`, {})).status, 400);
  assert.is((await rig.post(`/api/jobs/${plain}/feed`, { final: 'yes' })).status, 400);
});

inputs('the actors of the leader are shown to operators', async () => {
  const tokens = [
    { name: 'reader', token: 'r'.repeat(20), roles: ['read'] as const },
    { name: 'operator', token: 'o'.repeat(20), roles: ['operate'] as const },
  ];
  await using rig = await GatewayRig.start({ tokens });
  const bearer = (letter: string) => ({ authorization: `Bearer ${letter.repeat(20)}` });
  assert.is((await rig.get('/api/actors', bearer('r'))).status, 403);
  const { root, recent } = await bodyOf(await rig.get('/api/actors', bearer('o')));
  assert.is((root as { path: string }).path, '/');
  assert.ok((recent as string[]).length > 0);
});

inputs.run();
