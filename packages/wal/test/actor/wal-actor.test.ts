// timeout: 60s
import { nodeHost as coreHost, createSystem, defineActor, type Host } from '@troupe/core';
import { openWal, WalActor, WalIoError } from '@troupe/wal';
import { FaultyStorage } from '@troupe/wal/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeWalHost } from '#src/host/node-wal-host.js';
import { SMALL } from '../log-harness.js';
import { tempDirectory } from '../temp-directory.js';

const actor = suite('wal actor');
/** Drops the log lines of the failures that these tests cause. */
const quietHost: Host = { ...coreHost, log: () => undefined };

actor(
  'an append is answered with its LSN once durable, and its record survives a restart of the actor',
  async () => {
    await using directory = await tempDirectory();
    await using system = createSystem({ name: 'test' });
    const log = system.spawn(WalActor, { args: { dir: directory.path, freeBytesSoft: 0 }, name: 'log' });
    assert.is(await log.ask.append(Buffer.from('one')), 1);
    assert.is(await log.ask.append({ record: [Buffer.from('two'), Buffer.from('three')], type: 5 }), 3);
    const ref = await log.ask.putBlob(Buffer.alloc(3_000_000, 1));
    assert.is(await log.ask.append({ record: Buffer.from('with a blob'), blob: ref }), 4);
    assert.is((await log.ask.readBlob(ref)).length, 3_000_000);
    const status = await log.ask.status();
    assert.is(status.durableLsn, 4);
    assert.is(await log.ask.trim(1), 1);
    await system.stop(log);

    const again = system.spawn(WalActor, { args: { dir: directory.path, freeBytesSoft: 0 } });
    const seen: string[] = [];
    await again.ask.replay({
      visit: (lsn, payload, type) => seen.push(`${lsn} ${type} ${payload.toString()}`),
    });
    assert.equal(seen, ['1 0 one', '2 5 two', '3 5 three', '4 0 with a blob']);
  },
);

actor('appends of many actors share batches and are answered in the order of each actor', async () => {
  await using directory = await tempDirectory();
  await using system = createSystem({ name: 'test' });
  const log = system.spawn(WalActor, { args: { dir: directory.path, freeBytesSoft: 0 } });
  const Client = defineActor('client', {
    state: (args: { id: number }) => args,
    handlers: {
      async work(ctx, count: number) {
        const lsns: number[] = [];
        for (let index = 0; index < count; index += 1)
          lsns.push(await ctx.ask(log).append(Buffer.from(`${ctx.state.id}`)));
        return lsns;
      },
    },
  });
  const clients = Array.from({ length: 50 }, (_, id) => system.spawn(Client, { args: { id } }));
  const lsns = await Promise.all(clients.map((client) => client.ask.work(20)));
  for (const own of lsns)
    assert.equal(
      own,
      [...own].sort((a, b) => a - b),
    );
  assert.equal(
    lsns.flat().sort((a, b) => a - b),
    Array.from({ length: 1_000 }, (_, index) => index + 1),
  );
  const { batches } = await log.ask.status();
  assert.ok(batches < 300, `${batches} syncs for 1,000 records`);
});

actor('a directory that cannot be opened stops the system with the reason', async () => {
  await using directory = await tempDirectory();
  await using owner = await openWal({ dir: directory.path, freeBytesSoft: 0 });
  const system = createSystem({ name: 'test', host: quietHost });
  system.spawn(WalActor, { args: { dir: directory.path, freeBytesSoft: 0 } });
  const { cause } = await system.whenStopped;
  assert.match(cause?.message ?? '', /LOCK: the directory is held by this process/);
  assert.is(owner.status().state, 'open');
});

actor('without `process.exit` a failed disk fails the actor, and a restart recovers the log', async () => {
  let armed = false;
  const storage = new FaultyStorage({
    fault: ({ operation }) => (armed && operation === 'sync' ? { kind: 'error', errno: 'EIO' } : undefined),
    schedule: (complete) => setImmediate(complete),
  });
  const exits: number[] = [];
  const host = { ...nodeWalHost, exit: (code: number) => void exits.push(code) };
  await using system = createSystem({ name: 'test', host: quietHost });
  const Parent = defineActor('parent', {
    state: () => ({ log: undefined as ReturnType<typeof system.spawn<typeof WalActor>> | undefined }),
    started(ctx) {
      ctx.state.log = ctx.spawn(WalActor, { args: { storage, host, ...SMALL } });
    },
    handlers: { log: (ctx) => ctx.state.log },
    supervise: {
      strategy: 'one-for-one',
      restarts: 5,
      withinMs: 10_000,
      backoff: { fromMs: 1, toMs: 5, jitter: 0 },
    },
  });
  const log = await system.spawn(Parent).ask.log();
  assert.ok(log !== undefined);
  assert.is(await log.ask.append(Buffer.from('safe')), 1);
  armed = true;
  const lost = await log.ask.append(Buffer.from('not safe')).then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.instance(lost, WalIoError);
  assert.equal(exits, [74]);
  armed = false;
  await log.ask.append(Buffer.from('fails the actor')).then(
    () => undefined,
    () => undefined,
  );
  const seen: string[] = [];
  await system
    .ask(log, { withinMs: 5_000 })
    .replay({ visit: (_lsn, payload) => seen.push(payload.toString()) });
  assert.is(seen[0], 'safe');
});

actor('an actor that is killed while its log opens closes the log', async () => {
  const held: (() => void)[] = [];
  let isHolding = true;
  const storage = new FaultyStorage({
    schedule: (complete) => {
      if (isHolding) held.push(complete);
      else setImmediate(complete);
    },
  });
  await using system = createSystem({ name: 'test', host: quietHost });
  const log = system.spawn(WalActor, { args: { storage, ...SMALL } });
  while (held.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await system.kill(log);
  isHolding = false;
  for (const complete of held) complete();
  for (let turn = 0; turn < 1_000 && storage.disk.isLocked; turn += 1)
    await new Promise((resolve) => setImmediate(resolve));
  assert.not.ok(storage.disk.isLocked, 'the log is closed');
  const again = system.spawn(WalActor, { args: { storage, ...SMALL } });
  assert.is(await again.ask.append(Buffer.from('one')), 1);
});

actor.run();
