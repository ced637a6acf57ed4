import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { GatewayRig } from './gateway-rig.js';

const streams = suite('streams over HTTP');

streams('the items of a stream are lines of JSON', async () => {
  await using rig = await GatewayRig.start();
  const id = await rig.submit('sample.count', 3, '?streaming=response');
  const text = await (await rig.get(`/api/jobs/${id}/stream`)).text();
  const items = text.split('\n').filter((line) => line !== '');
  assert.equal(
    items
      .map((line) => JSON.parse(line) as { kind: string; chunk?: unknown; next?: string })
      .map(({ kind, chunk, next }) => [kind, chunk, next]),
    [
      ['data', 1, '1:1'],
      ['data', 2, '1:2'],
      ['data', 3, '1:3'],
      ['end', undefined, undefined],
    ],
  );
});

streams('Server-Sent Events go on behind Last-Event-ID', async () => {
  await using rig = await GatewayRig.start();
  const id = await rig.submit('sample.count', 4, '?streaming=response');
  const accept = 'text/event-stream';
  const whole = await (await rig.get(`/api/jobs/${id}/stream`, { accept })).text();
  assert.match(whole, /event: data\nid: 1:1\ndata: \{"attempt":1,"offset":0,"chunk":1\}\n\n/);
  const rest = await (await rig.get(`/api/jobs/${id}/stream`, { accept, 'last-event-id': '1:3' })).text();
  assert.match(rest, /^event: data\nid: 1:4\ndata: .*"chunk":4/);
  assert.match(rest, /event: end\ndata: \{"outcome":"done"/);
});

streams('lines of JSON go on behind Last-Event-ID too', async () => {
  await using rig = await GatewayRig.start();
  const id = await rig.submit('sample.count', 4, '?streaming=response');
  const text = await (await rig.get(`/api/jobs/${id}/stream`, { 'last-event-id': '1:3' })).text();
  const [first] = text.split('\n').filter((line) => line !== '');
  const { kind, chunk } = JSON.parse(first ?? '{}') as { kind?: string; chunk?: unknown };
  assert.equal([kind, chunk], ['data', 4]);
});

streams('a job without streaming and a bad position are refused before the first byte', async () => {
  await using rig = await GatewayRig.start();
  const plain = await rig.submit('sample.echo', 1);
  assert.is((await rig.get(`/api/jobs/${plain}/stream`)).status, 412);
  assert.is((await rig.get(`/api/jobs/${plain}/stream?from=later`)).status, 400);
});

streams.run();
