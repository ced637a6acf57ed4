// timeout: 60s
import { type Client, defineJob, handle, type LeaderServer } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ChaosProxy } from '../chaos/chaos-proxy.js';
import { connectClient, startLeader, startWorker } from '../checked-processes.js';
import { aString } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';
import { Echo, Nap, sampleHandlers } from './sample-jobs.js';

const payloads = suite('payloads');
const MIB = 1024 * 1024;
const Large = defineJob('sample.large', {
  input: aString,
  output: aString,
  limits: { outputBytes: 11 * MIB },
});

async function open(dir: string, compress?: 'gzip' | 'brotli'): Promise<LeaderServer> {
  return startLeader({
    dir,
    limits: { payloadBytesMax: 11 * MIB },
    ...(compress === undefined ? {} : { compress }),
    onFatal: (error) => {
      throw error;
    },
  });
}

for (const compress of [undefined, 'gzip', 'brotli'] as const) {
  payloads(
    `ten megabytes go there and back in pieces, compression ${compress ?? 'off'}, and survive a restart`,
    async () => {
      await using folder = await tempFolder();
      const more = compress === undefined ? {} : { compress };
      const text = Array.from({ length: 10_000 }, (_, i) => `${i}-`.padEnd(1_024, 'ab cd')).join('');
      const first = await open(folder.path, compress);
      const submitter = await connectClient({ address: first.address, ...more });
      const { id } = await submitter.submit(Large, text);
      submitter.close();
      await first.close();
      await using leader = await open(folder.path, compress);
      const { address } = leader;
      await using _worker = await startWorker({
        address,
        name: 'w',
        handlers: [handle(Large, (input) => input)],
        cpuCap: 1,
        ...more,
      });
      await using client = await connectClient({ address, ...more });
      assert.ok((await client.open(Large, id).result()) === text, 'the text came back changed');
      assert.ok((await client.run(Large, text)) === text, 'the text came back changed');
    },
  );
}

payloads('small jobs pass between the pieces of large ones', async () => {
  await using folder = await tempFolder();
  await using leader = await open(folder.path);
  const { address } = leader;
  const handlers = [handle(Large, (input) => input), ...sampleHandlers('w', () => undefined)];
  await using _worker = await startWorker({ address, name: 'w', handlers, cpuCap: 1 });
  await using client = await connectClient({ address });
  let largeDone = 0;
  const large = Array.from({ length: 6 }, async () => {
    await client.run(Large, 'x'.repeat(4 * MIB));
    largeDone += 1;
  });
  assert.is(await client.run(Echo, 'small'), 'small');
  assert.ok(largeDone < 6, 'the small one waited for all of the large ones');
  await Promise.all(large);
});

payloads('a payload over the limit is refused and the connection stays open', async () => {
  await using folder = await tempFolder();
  await using leader = await open(folder.path);
  await using client = await connectClient({ address: leader.address });
  const code = await client.submit(Large, 'x'.repeat(12 * MIB)).then(
    () => 'accepted',
    (error: { code: string }) => error.code,
  );
  assert.is(code, 'ERR_PAYLOAD_TOO_LARGE');
  assert.is((await client.submit(Large, 'y')).receipt?.level, 'fsync');
});

payloads('a client that does not read its results delays no other client', async () => {
  await using folder = await tempFolder();
  await using leader = await open(folder.path);
  const port = 'port' in leader.address ? leader.address.port : 0;
  await using proxy = await ChaosProxy.before(port);
  const handlers = [handle(Large, (input) => input), ...sampleHandlers('w', () => undefined)];
  await using _worker = await startWorker({ address: { port }, name: 'w', handlers, cpuCap: 1 });
  const silent: Client = await connectClient({ address: { port: proxy.port }, name: 'silent' });
  const unread = Array.from({ length: 40 }, () => silent.run(Large, 'z'.repeat(MIB)).catch(() => 'closed'));
  while ((await leader.overview()).accepted < 20) await new Promise((resolve) => setTimeout(resolve, 10));
  proxy.fault = { kind: 'silence' };
  await using client = await connectClient({ address: { port }, name: 'healthy' });
  for (let i = 0; i < 50; i += 1) assert.is(await client.run(Echo, i), i);
  silent.close();
  await Promise.all(unread);
});

payloads('a worker that reconnects within the grace keeps its job', async () => {
  await using folder = await tempFolder();
  await using leader = await open(folder.path);
  const port = 'port' in leader.address ? leader.address.port : 0;
  await using proxy = await ChaosProxy.before(port);
  const started: unknown[] = [];
  const handlers = sampleHandlers('w', (_, input) => started.push(input));
  await using _worker = await startWorker({ address: { port: proxy.port }, name: 'w', handlers, cpuCap: 1 });
  await using client = await connectClient({ address: { port } });
  const napping = await client.submit(Nap, 700);
  while (started.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  proxy.cut();
  assert.is(await napping.result(), 'w');
  assert.is((await napping.inspect()).attempt, 1);
  assert.equal(started, [700]);
});

payloads.run();
