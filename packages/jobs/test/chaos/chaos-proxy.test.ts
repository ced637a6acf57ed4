// timeout: 120s
import type { Client, LeaderServer, RemoteWorker } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectClient, startLeader, startWorker } from '../checked-processes.js';
import { Echo, sampleHandlers } from '../remote/sample-jobs.js';
import { tempFolder } from '../temp-folder.js';
import { ChaosProxy, type NetworkFault } from './chaos-proxy.js';

const chaos = suite('chaos proxy');

/** A silent network is noticed in half a second instead of thirty. */
const transportLimits = { pingMs: 200, deadMs: 500 };
const backoff = { fromMs: 5, toMs: 20 };

interface Cluster extends AsyncDisposable {
  readonly leader: LeaderServer;
  readonly client: Client;
  readonly worker: RemoteWorker;
  readonly proxy: ChaosProxy;
  readonly started: string[];
}

async function cluster(): Promise<Cluster> {
  const folder = await tempFolder();
  const leader = await startLeader({
    dir: folder.path,
    transportLimits,
    onFatal: (error) => {
      throw error;
    },
  });
  const proxy = await ChaosProxy.before('port' in leader.address ? leader.address.port : 0);
  const address = { port: proxy.port };
  const started: string[] = [];
  const handlers = sampleHandlers('w', (_, input) => started.push(String(input)));
  const worker = await startWorker({ address, name: 'w', handlers, cpuCap: 1, transportLimits, backoff });
  const client = await connectClient({ address, transportLimits, backoff });
  return {
    leader,
    client,
    worker,
    proxy,
    started,
    [Symbol.asyncDispose]: async () => {
      client.close();
      await worker.close({ withinMs: 100 });
      await proxy[Symbol.asyncDispose]();
      await leader.close({ withinMs: 0 });
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Every result belongs to its own input, and the leader counts as many jobs as were submitted. */
async function runsAllOnce(c: Cluster, jobs: number, disturb: (done: number) => void): Promise<void> {
  let done = 0;
  const all = Array.from({ length: jobs }, async (_, i) => {
    assert.is(await c.client.run(Echo, i), i);
    done += 1;
    disturb(done);
  });
  await Promise.all(all);
  const { accepted, counts } = await c.leader.overview();
  assert.is(accepted, jobs);
  assert.is(counts.done, jobs);
}

chaos('connections cut inside frames lose and double nothing', async () => {
  await using c = await cluster();
  await runsAllOnce(c, 1_000, (done) => {
    if (done % 100 === 0) c.proxy.cut();
  });
  assert.is(c.proxy.cuts, 10);
});

chaos('a client whose receipts are lost repeats its submits, and none is accepted twice', async () => {
  await using c = await cluster();
  c.proxy.fault = { kind: 'lost-answers', every: 7 };
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < 300) {
      next += 1;
      const input = next;
      assert.is(await (await c.client.submit(Echo, input)).result(), input);
    }
  };
  await Promise.all(Array.from({ length: 10 }, lane));
  assert.ok(c.proxy.cuts > 10, `${c.proxy.cuts} cuts`);
  const { accepted } = await c.leader.overview();
  assert.is(accepted, next);
});

for (const fault of [
  { kind: 'single-bytes' },
  { kind: 'delay', ms: 40 },
] as const satisfies readonly NetworkFault[]) {
  chaos(`${fault.kind}: all results are right`, async () => {
    await using c = await cluster();
    c.proxy.fault = fault;
    await runsAllOnce(c, 100, () => undefined);
  });
}

chaos('both ends notice a silent network, and reconnect when it is back', async () => {
  await using c = await cluster();
  assert.is(await c.client.run(Echo, 'before'), 'before');
  c.proxy.fault = { kind: 'silence' };
  const during = c.client.run(Echo, 'during');
  // Both ends must close a silent connection.
  while ((await c.leader.connections()) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  c.proxy.fault = { kind: 'none' };
  assert.is(await during, 'during');
  assert.equal(c.started, ['before', 'during']);
});

// With the default limits of a client and of a leader.
chaos('a connection that is dead without a word is noticed within 10 s', async () => {
  await using folder = await tempFolder();
  await using leader = await startLeader({
    dir: folder.path,
    onFatal: (error) => {
      throw error;
    },
  });
  await using proxy = await ChaosProxy.before('port' in leader.address ? leader.address.port : 0);
  let noticed: () => void = () => undefined;
  const lost = new Promise<void>((resolve) => {
    noticed = resolve;
  });
  await using client = await connectClient({
    address: { port: proxy.port },
    onEvent: ({ kind }) => kind === 'lost' && noticed(),
  });
  await client.overview();
  const silentAt = performance.now();
  proxy.fault = { kind: 'silence' };
  await lost;
  const tookMs = performance.now() - silentAt;
  assert.ok(tookMs < 10_000, `noticed after ${Math.round(tookMs)} ms`);
});

chaos.run();
