// timeout: 120s, needs: postgresql
import { connectClient, defineJob } from '@troupe/jobs';
import { freePort, PostgresServer } from '@troupe/postgres/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { anything } from './plain-schema.js';
import { RoleProcess } from './role-process.js';

const takeOvers = suite('take-over by a standby');
const Echo = defineJob('sample.echo', { input: anything, output: anything });
const Wait = defineJob('sample.wait', { input: anything, output: anything });
const KILLS = 5;
const HAND_OVERS = 6;
/** On a busy machine; alone it is a fifth of that. Delays that grow with each hand-over are above it. */
const HAND_OVER_MS_MAX = 1_000;
const TAKE_OVER_MS_MAX = 5_000;

takeOvers('a killed leader is replaced, its jobs go on, and nothing acknowledged is lost', async () => {
  await using server = await PostgresServer.start();
  const ports = [await freePort(), await freePort()];
  const leader = (at: number): RoleProcess =>
    new RoleProcess('leader', server.url, 'troupe', String(ports[at]), `leader-${at}`);
  const leaders = [leader(0), leader(1)];
  await using worker = new RoleProcess('worker', ports.join(','));
  try {
    await using client = await connectClient({
      address: ports.map((port) => ({ port })),
      name: 'c',
      withinMs: 30_000,
    });
    await worker.event('ready');
    const results: number[] = [];
    for (let round = 0; round < KILLS; round += 1) {
      const leading = leaders.findIndex(({ events }) => events.some(({ kind }) => kind === 'leading'));
      // The time of a take-over is not that of the start of a process.
      await leaders[1 - leading]?.event('standby');
      const pending = Array.from({ length: 50 }, (_, i) => client.run(Echo, round * 100 + i));
      leaders[leading]?.signal('SIGKILL');
      const killedAt = performance.now();
      await client.run(Echo, -1);
      const tookMs = performance.now() - killedAt;
      assert.ok(tookMs < TAKE_OVER_MS_MAX, `round ${round}: the next job was done after ${tookMs} ms`);
      results.push(...((await Promise.all(pending)) as number[]));
      leaders[leading] = leader(leading);
    }
    assert.equal(results.length, KILLS * 50);
    assert.equal(new Set(results).size, KILLS * 50);
    client.close();
  } finally {
    for (const process of leaders) await process[Symbol.asyncDispose]();
  }
});

takeOvers('a leader that ends on purpose hands over without waiting for its lease', async () => {
  await using server = await PostgresServer.start();
  await using first = new RoleProcess('leader', server.url, 'troupe', String(await freePort()), 'first');
  await first.event('leading');
  await using second = new RoleProcess('leader', server.url, 'troupe', String(await freePort()), 'second');
  assert.is((await second.event('standby'))['of'], 'first');
  first.signal('SIGTERM');
  assert.is(await first.exited, 0);
  const endedAt = performance.now();
  await second.event('leading');
  const tookMs = performance.now() - endedAt;
  assert.ok(tookMs < 1_000, `it led after ${tookMs} ms`);
});

takeOvers('hand-overs in a row are soon over, refuse no submit and wait for no running job', async () => {
  await using server = await PostgresServer.start();
  const ports = [await freePort(), await freePort()];
  const leader = (at: number): RoleProcess =>
    new RoleProcess('leader', server.url, 'troupe', String(ports[at]), `leader-${at}`);
  const leaders = [leader(0), leader(1)];
  await using worker = new RoleProcess('worker', ports.join(','));
  const address = ports.map((port) => ({ port }));
  await using client = await connectClient({ address, name: 'c', withinMs: 30_000 });
  await worker.event('ready');
  const long = await client.submit(Wait, HAND_OVERS * 1_000);
  let isOver = false;
  let gapMs = 0;
  const load = (async () => {
    // A refused submit rejects.
    for (let last = performance.now(); !isOver; last = performance.now()) {
      await client.run(Echo, 1);
      gapMs = Math.max(gapMs, performance.now() - last);
    }
  })();
  const gaps: number[] = [];
  try {
    for (let round = 0; round < HAND_OVERS; round += 1) {
      const leading = leaders.findIndex(({ events }) => events.some(({ kind }) => kind === 'leading'));
      await leaders[1 - leading]?.event('standby');
      gapMs = 0;
      leaders[leading]?.signal('SIGTERM');
      assert.is(await leaders[leading]?.exited, 0);
      await client.run(Echo, round);
      gaps.push(Math.round(gapMs));
      leaders[leading] = leader(leading);
    }
    isOver = true;
    await load;
    assert.ok(Math.max(...gaps) < HAND_OVER_MS_MAX, `without a result for ${gaps.join(', ')} ms`);
    assert.is(await long.result({ withinMs: 30_000 }), 1, 'its attempt went on');
  } finally {
    isOver = true;
    for (const process of leaders) await process[Symbol.asyncDispose]();
  }
});

takeOvers('a leader that was stopped beyond its lease answers nothing more and ends', async () => {
  await using server = await PostgresServer.start();
  await using first = new RoleProcess('leader', server.url, 'troupe', String(await freePort()), 'first');
  await first.event('leading');
  await using second = new RoleProcess('leader', server.url, 'troupe', String(await freePort()), 'second');
  await second.event('standby');
  first.signal('SIGSTOP');
  await second.event('leading');
  first.signal('SIGCONT');
  assert.is((await first.event('fatal'))['code'], 'ERR_JOURNAL_DEPOSED');
  assert.is(await first.exited, 75);
});

takeOvers.run();
