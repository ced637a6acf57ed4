// B1, B10, B22, B27, B28: opening ends before anything is served, one writer a directory, a fenced writer stops, a full disk degrades.
import {
  openLog,
  REFUSED,
  WalClosedError,
  type WalError,
  WalFencedError,
  WalIoError,
  WalLockedError,
  WalOptionError,
} from '@troupe/wal';
import { FaultyStorage, ManualHost } from '@troupe/wal/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeManifest, encodeManifest } from '#src/format/manifest.js';
import { textOf, World } from '../log-harness.js';

const life = suite('life of a log');

life('records come back in order after a clean shutdown, and numbering goes on', () => {
  const world = new World();
  const log = world.open();
  for (let index = 0; index < 60; index += 1) {
    log.append(Buffer.from(textOf(index)), undefined, { type: index % 5 });
    if (index % 7 === 0) world.settle();
  }
  world.wait<void>((done) => log.close(done));
  const again = world.open({ codec: 'jsonl' });
  assert.equal(
    world.replay(again),
    Array.from({ length: 60 }, (_, index) => ({ lsn: index + 1, text: textOf(index), type: index % 5 })),
  );
  assert.is(again.append(Buffer.from('next')), 61);
  world.settle();
  assert.equal(
    world.replay(again, { from: 60, to: 61 }).map(({ text }) => text),
    [textOf(59), 'next'],
  );
});

life('a second process is refused while the first one lives', () => {
  const world = new World();
  world.open();
  const refused = world.tryOpen();
  assert.instance(refused, WalLockedError);
  assert.is((refused as WalLockedError).exitCode, 73);
});

life('a process that was fenced off stops at its next step and acknowledges nothing more', () => {
  const world = new World();
  const log = world.open();
  log.append(Buffer.from('x'));
  world.settle();
  const current = world.storage.disk.file('CURRENT');
  assert.ok(current !== undefined);
  const manifest = decodeManifest(current.content);
  current.content = encodeManifest({ ...manifest, epoch: manifest.epoch + 1 });
  let acked = 0;
  for (let index = 0; index < 200 && world.host.exits.length === 0; index += 1) {
    log.append(Buffer.alloc(1_500), (error) => {
      if (error === null) acked += 1;
    });
    world.settle();
  }
  assert.equal(world.host.exits, [73]);
  assert.is(log.append(Buffer.from('y')), REFUSED);
  assert.instance(log.refusal(), WalFencedError);
  assert.ok(acked < 20, 'it ended at the first change of segments');
});

life('a failed sync ends the log at once: onFatal first, then exit 74, and nothing is acknowledged', () => {
  let armed = false;
  const world = new World({
    fault: ({ operation }) => (armed && operation === 'sync' ? { kind: 'error', errno: 'EIO' } : undefined),
  });
  const order: string[] = [];
  let failure: WalError | undefined;
  world.host.exit = (code) => void order.push(`exit ${code}`);
  const log = world.open({
    onFatal: (error) => {
      failure = error;
      order.push('onFatal');
    },
  });
  armed = true;
  const told: (Error | null)[] = [];
  log.append(Buffer.from('x'), (error) => void told.push(error));
  world.settle();
  assert.equal(order, ['onFatal', 'exit 74']);
  assert.instance(failure, WalIoError);
  assert.is(told.length, 1);
  assert.instance(told[0], WalIoError);
  assert.is(log.append(Buffer.from('y')), REFUSED);
  armed = false;
  world.wait<void>((done) => log.close(done));
  assert.is(world.open().durableLsn <= 1, true, 'the directory can be opened again');
});

life(
  'a full disk degrades: what fits is taken, the rest is refused as retryable, and space brings it back',
  () => {
    const world = new World();
    const log = world.open();
    world.settle();
    world.storage.disk.capacityBytes = world.storage.disk.usedBytes + 2_000;
    let acked = 0;
    let refused = 0;
    for (let index = 0; index < 40; index += 1) {
      const lsn = log.append(Buffer.alloc(1_800), (error) => {
        if (error === null) acked += 1;
      });
      if (lsn === REFUSED) refused += 1;
      world.settle();
    }
    assert.equal(world.host.exits, []);
    assert.ok(acked >= 2 && refused > 5, `${acked} acknowledged, ${refused} refused`);
    assert.is(log.refusal()?.code, 'ERR_WAL_DISK_LOW');
    assert.is(log.status().disk, 'low');
    world.storage.disk.capacityBytes = Number.POSITIVE_INFINITY;
    world.advance(6_000);
    assert.is(log.refusal(), undefined);
    assert.ok(log.append(Buffer.from('again')) > 0);
    world.settle();
    assert.equal(
      world.events.map(({ kind }) => kind),
      ['disk-low', 'disk-ok'],
    );
  },
);

life(
  'below the soft mark only what is essential is taken; above one and a half times it everything is',
  () => {
    const world = new World();
    world.storage.disk.capacityBytes = 400_000;
    const log = world.open({ freeBytesSoft: 200_000, freeBytesHard: 1_000 });
    assert.is(log.refusal(), undefined);
    world.storage.disk.capacityBytes = world.storage.disk.usedBytes + 100_000;
    for (let index = 0; index < 8; index += 1) {
      log.append(Buffer.alloc(1_800));
      world.settle();
    }
    assert.is(log.refusal()?.code, 'ERR_WAL_DISK_LOW');
    assert.is(log.refusal({ essential: true }), undefined);
    world.storage.disk.capacityBytes = world.storage.disk.usedBytes + 250_000;
    world.advance(6_000);
    assert.is(log.refusal()?.code, 'ERR_WAL_DISK_LOW', 'not before there is room to spare');
    world.storage.disk.capacityBytes = world.storage.disk.usedBytes + 310_000;
    world.advance(6_000);
    assert.is(log.refusal(), undefined);
  },
);

life('a closed log takes nothing and says why', () => {
  const world = new World();
  const log = world.open();
  log.append(Buffer.from('x'));
  world.wait<void>((done) => log.close(done));
  assert.is(log.durableLsn, 1, 'what was appended before is written');
  assert.is(log.append(Buffer.from('y')), REFUSED);
  assert.instance(log.refusal(), WalClosedError);
  world.wait<void>((done) => log.close(done));
});

life('trim forgets whole segments and says where the log now begins', () => {
  const world = new World();
  const log = world.open();
  for (let index = 0; index < 40; index += 1) {
    log.append(Buffer.alloc(1_500));
    world.settle();
  }
  const first = world.wait<number>((done) => log.trim(30, done));
  assert.ok(first > 10 && first <= 31, `begins at ${first}`);
  assert.is(log.firstLsn, first);
  assert.throws(
    () => world.replay(log, { from: 1 }),
    (error: WalError) => error.code === 'ERR_WAL_TRIMMED',
  );
  world.wait<void>((done) => log.close(done));
  const again = world.open();
  assert.is(world.replay(again).length, 40 - first + 1);
});

life('a trimmed segment is used again, and is all zeros behind its header when it is listed', () => {
  const world = new World();
  const options = {
    segmentBytes: 2_097_152,
    firstSegmentBytes: 2_097_152,
    batchBytesMax: 1_048_576,
    inlineBytesMax: 700_000,
  };
  const log = world.open(options);
  const fill = (count: number): void => {
    for (let index = 0; index < count; index += 1) {
      assert.ok(log.append(Buffer.alloc(690_000, 0xee)) > 0);
      world.settle();
    }
  };
  fill(8);
  world.wait<number>((done) => log.trim(log.durableLsn, done));
  assert.ok(
    [...world.storage.disk.files().keys()].some((name) => name.startsWith('spare-')),
    'kept for its blocks',
  );
  fill(4);
  const reused = world.storage.calls.filter(
    ({ operation, name }) => operation === 'rename' && name.startsWith('spare-'),
  );
  assert.ok(reused.length > 0, 'and used again');
  const names = [...world.storage.disk.files().keys()].filter((name) => name.endsWith('.seg')).sort();
  const ready = world.storage.disk.file(names.at(-1) ?? '')?.content;
  assert.ok(ready?.subarray(4_096).every((byte) => byte === 0));
  world.wait<void>((done) => log.close(done));
  assert.ok(world.replay(world.open(options)).length >= 4);
});

life('what a visitor throws ends the replay and is passed on', () => {
  const world = new World();
  const log = world.open();
  log.append(Buffer.from('x'));
  world.settle();
  const failed = (): unknown =>
    world.wait<void>((done) =>
      log.replay(
        {},
        () => {
          throw new Error('enough');
        },
        done,
      ),
    );
  assert.throws(failed, /^enough$/);
});

life('wrong options are refused with the value and what was needed', () => {
  const storage = new FaultyStorage();
  const wrong = [
    { segmentBytes: 4_096 },
    { segmentBytes: Number.NaN },
    { batchBytesMax: 1 },
    { inlineBytesMax: -1 },
    { sealDelayMs: 0.5 },
  ];
  for (const options of wrong) {
    openLog({ storage, host: new ManualHost(), ...options }, (error) => {
      assert.instance(error, WalOptionError);
      assert.match(error?.message ?? '', Object.keys(options)[0] ?? '');
    });
  }
  openLog({}, (error) => assert.instance(error, WalOptionError));
});

life.run();
