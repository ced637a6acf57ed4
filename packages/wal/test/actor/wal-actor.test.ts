// timeout: 60s
import { nodeHost as coreHost, createSystem, defineActor, type Host } from '@troupe/core';
import {
  type DurableWrite,
  type Log,
  type LogCondition,
  openLog,
  openWal,
  type SnapshotBuilder,
  WalActor,
  type WalError,
  WalIoError,
} from '@troupe/wal';
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

/** Collects the answers to writes. */
const Writer = defineActor('writer', {
  state: () => ({ answers: [] as DurableWrite[] }),
  handlers: {
    durable(ctx, written: DurableWrite) {
      ctx.state.answers.push(written);
    },
    answers: (ctx) => ctx.state.answers,
  },
});

actor(
  'writes of several records are answered in order with the LSN of their first, and none is lost',
  async () => {
    await using directory = await tempDirectory();
    await using system = createSystem({ name: 'test' });
    // Small batches: the records of most writes wait for space in the buffer.
    const small = { batchBytesMax: 65_536, inlineBytesMax: 16_384, segmentBytes: 1_048_576 };
    const args = { dir: directory.path, freeBytesSoft: 0, ...small };
    const log = system.spawn(WalActor, { args });
    const writer = system.spawn(Writer);
    const blob = await log.ask.putBlob(Buffer.alloc(100_000, 7));
    const record = (text: string): Uint8Array => Buffer.from(text.padEnd(10_000, '.'));
    for (let i = 0; i < 20; i += 1) {
      const records = [record(`${i} a`), record(`${i} b`), record(`${i} c`)];
      log.tell.write({ records, blobs: i === 3 ? new Map([[1, blob]]) : undefined, to: writer });
    }
    await log.ask.close();
    const answers = await writer.ask.answers();
    assert.equal(
      answers,
      Array.from({ length: 20 }, (_, i) => ({ error: null, firstLsn: 1 + 3 * i })),
    );
    await using again = await openWal(args);
    const seen: string[] = [];
    await again.replay((lsn, payload, _type, ref) =>
      seen.push(`${lsn} ${payload.toString().split('.')[0]} ${ref?.sha256 === blob.sha256}`),
    );
    assert.is(seen.length, 60);
    assert.equal(seen.slice(9, 12), ['10 3 a false', '11 3 b true', '12 3 c false']);
  },
);

actor(
  'a write with a record that does not fit into a batch is refused as a whole, and makes no blob',
  async () => {
    await using directory = await tempDirectory();
    await using system = createSystem({ name: 'test' });
    const log = system.spawn(WalActor, { args: { dir: directory.path, ...SMALL } });
    const writer = system.spawn(Writer);
    log.tell.write({ records: [Buffer.from('fits'), Buffer.alloc(2_049)], to: writer });
    log.tell.write({ records: [Buffer.from('next')], to: writer });
    await log.ask.close();
    const answers = await writer.ask.answers();
    assert.equal(
      answers.map(({ error, firstLsn }) => [(error as WalError | null)?.code, firstLsn]),
      [
        ['ERR_WAL_RECORD_TOO_LARGE', 0],
        [undefined, 1],
      ],
    );
  },
);

actor('a write that fails is answered with its error, and so is every write behind it', async () => {
  let armed = false;
  const storage = new FaultyStorage({
    fault: ({ operation }) => (armed && operation === 'sync' ? { kind: 'error', errno: 'EIO' } : undefined),
    schedule: (complete) => setImmediate(complete),
  });
  const log = await new Promise<Log>((resolve, reject) => {
    openLog({ storage, host: { ...nodeWalHost, exit: () => undefined }, ...SMALL }, (error, opened) =>
      error === null ? resolve(opened) : reject(error),
    );
  });
  await using system = createSystem({ name: 'test', host: quietHost });
  const ref = system.spawn(WalActor, { args: { log } });
  const writer = system.spawn(Writer);
  armed = true;
  for (let i = 0; i < 3; i += 1) ref.tell.write({ records: [Buffer.from('x')], to: writer });
  let answers: readonly DurableWrite[] = [];
  while (answers.length < 3) {
    answers = await writer.ask.answers();
    if (answers.length === 1) ref.tell.write({ records: [Buffer.from('late')], to: writer });
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const { error, firstLsn } of answers) {
    assert.instance(error, WalIoError);
    assert.is(firstLsn, 0);
  }
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

actor('a watcher is told the condition of the log at once and at every change, by messages', async () => {
  await using directory = await tempDirectory();
  await using system = createSystem({ name: 'test' });
  const told: string[] = [];
  let onTold = (): void => undefined;
  const Watcher = defineActor('watcher', {
    state: () => ({}),
    handlers: {
      logChanged(_ctx, { disk, failedSnapshots }: LogCondition) {
        told.push(`${disk} ${failedSnapshots}`);
        onTold();
      },
    },
  });
  const nextTold = (): Promise<void> =>
    new Promise((resolve) => {
      onTold = () => resolve();
    });
  const snapshotBuilder: SnapshotBuilder = {
    build: (_request, done) => done(new Error('no snapshot'), undefined as never),
  };
  const args = { dir: directory.path, freeBytesSoft: 0, snapshotBuilder };
  const first = nextTold();
  const log = system.spawn(WalActor, { args });
  log.tell.watch(system.spawn(Watcher));
  await first;
  assert.equal(told, ['ok 0']);
  await log.ask.append(Buffer.from('one'));
  const second = nextTold();
  await log.ask.snapshot().catch(() => undefined);
  await second;
  assert.is(told.at(-1), 'ok 1');
});

actor('a watcher is told why the disk is low', async () => {
  await using directory = await tempDirectory();
  await using system = createSystem({ name: 'test' });
  const reasons: (string | undefined)[] = [];
  const Watcher = defineActor('watcher', {
    state: () => ({}),
    handlers: {
      logChanged: (_ctx, { disk, reason }: LogCondition) => void (disk === 'low' && reasons.push(reason)),
    },
  });
  const log = system.spawn(WalActor, {
    args: { dir: directory.path, freeBytesSoft: 2 ** 50, freeBytesHard: 1 },
  });
  log.tell.watch(system.spawn(Watcher));
  for (let turn = 0; turn < 2_000 && reasons.length === 0; turn += 1)
    await new Promise((resolve) => setTimeout(resolve, 5));
  assert.match(reasons[0] ?? '', /^\d+ bytes free, 1125899906842624 needed$/);
});

actor.run();
