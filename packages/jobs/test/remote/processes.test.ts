// timeout: 120s
import type { JobFailedError } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectClient } from '../checked-processes.js';
import { tempFolder } from '../temp-folder.js';
import { leaderProcess, workerProcess } from './role-process.js';
import { Echo, Endless, Fail, Nap, Second } from './sample-jobs.js';

const processes = suite('processes');

processes('leader, worker and client in three processes run a job over TCP', async () => {
  await using folder = await tempFolder();
  await using leader = await leaderProcess(folder.path);
  await using _worker = await workerProcess(leader.port, 'w1');
  await using client = await connectClient({ address: { port: leader.port }, name: 'ann' });
  assert.equal(await client.run(Echo, { hello: 'wörld', n: [1, 2, 3] }), { hello: 'wörld', n: [1, 2, 3] });
  const handle = await client.submit(Echo, 'again');
  assert.is(handle.receipt?.level, 'fsync');
  assert.is(await handle.result(), 'again');
  const many = await Promise.all(Array.from({ length: 2_000 }, (_, i) => client.run(Echo, i)));
  assert.equal(
    many,
    Array.from({ length: 2_000 }, (_, i) => i),
  );
  const failed = await client.run(Fail, 0).then(
    () => undefined,
    (error: JobFailedError) => error,
  );
  assert.is(failed?.code, 'ERR_JOB_FAILED');
  assert.is(failed?.failure?.message, 'it never works');
});

processes('all jobs of a killed worker run elsewhere within two seconds', async () => {
  await using folder = await tempFolder();
  await using leader = await leaderProcess(folder.path);
  await using first = await workerProcess(leader.port, 'w1', 4);
  await using client = await connectClient({ address: { port: leader.port } });
  const handles = await Promise.all([0, 1, 2, 3].map((i) => client.submit(Second, i)));
  for (const i of [0, 1, 2, 3])
    await first.event((event) => event.kind === 'started' && event['input'] === i);
  await using second = await workerProcess(leader.port, 'w2', 4);
  const killedAt = performance.now();
  await first.kill();
  for (const i of [0, 1, 2, 3])
    await second.event((event) => event.kind === 'started' && event['input'] === i);
  const tookMs = performance.now() - killedAt;
  assert.ok(tookMs < 2_000, `all started elsewhere after ${Math.round(tookMs)} ms`);
  for (const handle of handles) {
    assert.is(await handle.result(), 'w2');
    const view = await handle.inspect();
    assert.equal([view.attempt, view.crashes], [2, 1]);
  }
});

// A worker is its name and its process, not its connection.
processes('workers and clients reconnect to a killed and restarted leader; nothing runs twice', async () => {
  await using folder = await tempFolder();
  const first = await leaderProcess(folder.path);
  await using worker = await workerProcess(first.port, 'w1');
  await using client = await connectClient({ address: { port: first.port } });
  const napping = await client.submit(Nap, 1_500);
  const finished = await client.submit(Echo, 'before');
  assert.is(await finished.result(), 'before');
  await worker.event((event) => event['exec'] === 'nap');
  await first.kill();
  const during = client.run(Echo, 'sent while the leader was down');
  await using _second = await leaderProcess(folder.path, first.port);
  assert.is(await during, 'sent while the leader was down');
  assert.is(await napping.result(), 'w1');
  assert.is((await napping.inspect()).attempt, 1);
  assert.is(await client.open(Echo, finished.id).result(), 'before');
  const starts = worker.events.filter((event) => event.kind === 'started');
  assert.is(starts.length, 3);
});

processes('a cancel reaches a running job in another process', async () => {
  await using folder = await tempFolder();
  await using leader = await leaderProcess(folder.path);
  await using worker = await workerProcess(leader.port, 'w1', 1);
  await using client = await connectClient({ address: { port: leader.port } });
  const handle = await client.submit(Endless, 0);
  await worker.event((event) => event['exec'] === 'endless');
  assert.is(await handle.cancel('enough'), 'cancelled');
  // Its only slot is free again.
  assert.is(await client.run(Echo, 'next'), 'next');
});

processes('SIGTERM: a worker releases its job uncounted, a leader exits in bounded time', async () => {
  await using folder = await tempFolder();
  await using leader = await leaderProcess(folder.path);
  await using worker = await workerProcess(leader.port, 'w1');
  await using client = await connectClient({ address: { port: leader.port } });
  const handle = await client.submit(Endless, 0);
  await worker.event((event) => event['exec'] === 'endless');
  worker.signal('SIGTERM');
  assert.is(await worker.exited, 0);
  const view = await handle.inspect();
  assert.is(view.state, 'queued');
  assert.is(view.failures + view.crashes, 0);
  const flood = Array.from({ length: 5_000 }, (_, i) =>
    client.submit(Echo, i).then(
      () => 1,
      () => 0,
    ),
  );
  const startedAt = performance.now();
  leader.signal('SIGTERM');
  assert.is(await leader.exited, 0);
  assert.ok(performance.now() - startedAt < 4_000);
  client.close();
  await Promise.all(flood);
});

processes.run();
