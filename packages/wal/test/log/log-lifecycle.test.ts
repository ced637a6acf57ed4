// B1, B10, B22, B27, B28: opening ends before anything is served, one writer a directory, a fenced writer
// stops, a full disk degrades.
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
import { FaultyStorage, ManualWalHost } from '@troupe/wal/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeManifest, encodeManifest } from '#src/format/manifest.js';
import { LogHarness, textOf } from '../log-harness.js';

const life = suite('life of a log');

life('records come back in order after a clean shutdown, and numbering goes on', () => {
  const harness = new LogHarness();
  const log = harness.open();
  for (let index = 0; index < 60; index += 1) {
    log.append(Buffer.from(textOf(index)), undefined, { type: index % 5 });
    if (index % 7 === 0) harness.settle();
  }
  harness.wait<void>((done) => log.close(done));
  const again = harness.open({ codec: 'jsonl' });
  assert.equal(
    harness.replay(again),
    Array.from({ length: 60 }, (_, index) => ({ lsn: index + 1, text: textOf(index), type: index % 5 })),
  );
  assert.is(again.append(Buffer.from('next')), 61);
  harness.settle();
  assert.equal(
    harness.replay(again, { from: 60, to: 61 }).map(({ text }) => text),
    [textOf(59), 'next'],
  );
});

life('a second process is refused while the first one lives', () => {
  const harness = new LogHarness();
  harness.open();
  const refused = harness.tryOpen();
  assert.instance(refused, WalLockedError);
  assert.is((refused as WalLockedError).exitCode, 73);
});

life('a process that was fenced off stops at its next step and acknowledges nothing more', () => {
  const harness = new LogHarness();
  const log = harness.open();
  log.append(Buffer.from('x'));
  harness.settle();
  const current = harness.storage.disk.file('CURRENT');
  assert.ok(current !== undefined);
  const manifest = decodeManifest(current.content);
  current.content = encodeManifest({ ...manifest, epoch: manifest.epoch + 1 });
  let acked = 0;
  for (let index = 0; index < 200 && harness.host.exits.length === 0; index += 1) {
    log.append(Buffer.alloc(1_500), (error) => {
      if (error === null) acked += 1;
    });
    harness.settle();
  }
  assert.equal(harness.host.exits, [73]);
  assert.is(log.append(Buffer.from('y')), REFUSED);
  assert.instance(log.refusal(), WalFencedError);
  assert.ok(acked < 20, 'it ended at the first change of segments');
});

life('a failed sync ends the log at once: onFatal first, then exit 74, and nothing is acknowledged', () => {
  let armed = false;
  const harness = new LogHarness({
    fault: ({ operation }) => (armed && operation === 'sync' ? { kind: 'error', errno: 'EIO' } : undefined),
  });
  const order: string[] = [];
  let failure: WalError | undefined;
  harness.host.exit = (code) => void order.push(`exit ${code}`);
  const log = harness.open({
    onFatal: (error) => {
      failure = error;
      order.push('onFatal');
    },
  });
  armed = true;
  const told: (Error | null)[] = [];
  log.append(Buffer.from('x'), (error) => void told.push(error));
  harness.settle();
  assert.equal(order, ['onFatal', 'exit 74']);
  assert.instance(failure, WalIoError);
  assert.is(told.length, 1);
  assert.instance(told[0], WalIoError);
  assert.is(log.append(Buffer.from('y')), REFUSED);
  armed = false;
  harness.wait<void>((done) => log.close(done));
  assert.is(harness.open().durableLsn <= 1, true, 'the directory can be opened again');
});

life(
  'a full disk degrades: what fits is taken, the rest is refused as retryable, and space brings it back',
  () => {
    const harness = new LogHarness();
    const log = harness.open();
    harness.settle();
    harness.storage.disk.capacityBytes = harness.storage.disk.usedBytes + 2_000;
    let acked = 0;
    let refused = 0;
    for (let index = 0; index < 40; index += 1) {
      const lsn = log.append(Buffer.alloc(1_800), (error) => {
        if (error === null) acked += 1;
      });
      if (lsn === REFUSED) refused += 1;
      harness.settle();
    }
    assert.equal(harness.host.exits, []);
    assert.ok(acked >= 2 && refused > 5, `${acked} acknowledged, ${refused} refused`);
    assert.is(log.refusal()?.code, 'ERR_WAL_DISK_LOW');
    assert.is(log.status().disk, 'low');
    harness.storage.disk.capacityBytes = Number.POSITIVE_INFINITY;
    harness.advance(6_000);
    assert.is(log.refusal(), undefined);
    assert.ok(log.append(Buffer.from('again')) > 0);
    harness.settle();
    assert.equal(
      harness.events.map(({ kind }) => kind),
      ['disk-low', 'disk-ok'],
    );
  },
);

life(
  'below the soft mark only what is essential is taken; above one and a half times it everything is',
  () => {
    const harness = new LogHarness();
    harness.storage.disk.capacityBytes = 400_000;
    const log = harness.open({ freeBytesSoft: 200_000, freeBytesHard: 1_000 });
    assert.is(log.refusal(), undefined);
    harness.storage.disk.capacityBytes = harness.storage.disk.usedBytes + 100_000;
    for (let index = 0; index < 8; index += 1) {
      log.append(Buffer.alloc(1_800));
      harness.settle();
    }
    assert.is(log.refusal()?.code, 'ERR_WAL_DISK_LOW');
    assert.is(log.refusal({ essential: true }), undefined);
    harness.storage.disk.capacityBytes = harness.storage.disk.usedBytes + 250_000;
    harness.advance(6_000);
    assert.is(log.refusal()?.code, 'ERR_WAL_DISK_LOW', 'not before there is room to spare');
    harness.storage.disk.capacityBytes = harness.storage.disk.usedBytes + 310_000;
    harness.advance(6_000);
    assert.is(log.refusal(), undefined);
  },
);

life('a closed log takes nothing and says why', () => {
  const harness = new LogHarness();
  const log = harness.open();
  log.append(Buffer.from('x'));
  harness.wait<void>((done) => log.close(done));
  assert.is(log.durableLsn, 1, 'what was appended before is written');
  assert.is(log.append(Buffer.from('y')), REFUSED);
  assert.instance(log.refusal(), WalClosedError);
  harness.wait<void>((done) => log.close(done));
});

life('trim forgets whole segments and says where the log now begins', () => {
  const harness = new LogHarness();
  const log = harness.open();
  for (let index = 0; index < 40; index += 1) {
    log.append(Buffer.alloc(1_500));
    harness.settle();
  }
  const first = harness.wait<number>((done) => log.trim(30, done));
  assert.ok(first > 10 && first <= 31, `begins at ${first}`);
  assert.is(log.firstLsn, first);
  assert.throws(
    () => harness.replay(log, { from: 1 }),
    (error: WalError) => error.code === 'ERR_WAL_TRIMMED',
  );
  harness.wait<void>((done) => log.close(done));
  const again = harness.open();
  assert.is(harness.replay(again).length, 40 - first + 1);
});

life('a trimmed segment is used again, and is all zeros behind its header when it is listed', () => {
  const harness = new LogHarness();
  const options = {
    segmentBytes: 2_097_152,
    firstSegmentBytes: 2_097_152,
    batchBytesMax: 1_048_576,
    inlineBytesMax: 700_000,
  };
  const log = harness.open(options);
  const fill = (count: number): void => {
    for (let index = 0; index < count; index += 1) {
      assert.ok(log.append(Buffer.alloc(690_000, 0xee)) > 0);
      harness.settle();
    }
  };
  fill(8);
  harness.wait<number>((done) => log.trim(log.durableLsn, done));
  assert.ok(
    [...harness.storage.disk.files().keys()].some((name) => name.startsWith('spare-')),
    'kept for its blocks',
  );
  fill(4);
  const reused = harness.storage.calls.filter(
    ({ operation, name }) => operation === 'rename' && name.startsWith('spare-'),
  );
  assert.ok(reused.length > 0, 'and used again');
  const names = [...harness.storage.disk.files().keys()].filter((name) => name.endsWith('.seg')).sort();
  const ready = harness.storage.disk.file(names.at(-1) ?? '')?.content;
  assert.ok(ready?.subarray(4_096).every((byte) => byte === 0));
  harness.wait<void>((done) => log.close(done));
  assert.ok(harness.replay(harness.open(options)).length >= 4);
});

life('what a visitor throws ends the replay and is passed on', () => {
  const harness = new LogHarness();
  const log = harness.open();
  log.append(Buffer.from('x'));
  harness.settle();
  const failed = (): unknown =>
    harness.wait<void>((done) =>
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
    openLog({ storage, host: new ManualWalHost(), ...options }, (error) => {
      assert.instance(error, WalOptionError);
      assert.match(error?.message ?? '', Object.keys(options)[0] ?? '');
    });
  }
  openLog({}, (error) => assert.instance(error, WalOptionError));
});

life.run();
