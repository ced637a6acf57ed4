import {
  openLog,
  REFUSED,
  WalClosedError,
  WalDiskFullError,
  type WalError,
  WalFencedError,
  WalIoError,
  WalLockedError,
  WalNetworkError,
  WalOptionError,
} from '@troupe/wal';
import { FaultyStorage, ManualWalHost } from '@troupe/wal/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LogHarness, textOf } from '../log-harness.js';

const lifecycle = suite('log lifecycle');

lifecycle('after a clean shutdown records are replayed in order and LSNs continue', () => {
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

lifecycle('a directory that is open cannot be opened again (exit 73)', () => {
  const harness = new LogHarness();
  harness.open();
  const refused = harness.tryOpen();
  assert.instance(refused, WalLockedError);
  assert.is((refused as WalLockedError).exitCode, 73);
});

lifecycle('a log whose directory another process has opened acknowledges nothing and exits with 73', () => {
  const harness = new LogHarness();
  const log = harness.open();
  log.append(Buffer.from('x'));
  harness.settle();
  new LogHarness({ disk: harness.storage.disk, ignoresLock: true, seed: 2 }).open();
  let answer: Error | null | undefined;
  log.append(Buffer.from('y'), (error) => {
    answer = error;
  });
  harness.settle();
  assert.equal(harness.host.exits, [73]);
  assert.instance(answer, WalFencedError);
  assert.is(log.append(Buffer.from('z')), REFUSED);
  assert.instance(log.refusal(), WalFencedError);
});

lifecycle('a log that appends nothing finds at a look that another process has opened its directory', () => {
  const harness = new LogHarness();
  const log = harness.open();
  assert.ok(log.isOwner());
  new LogHarness({ disk: harness.storage.disk, ignoresLock: true, seed: 2 }).open();
  assert.not(log.isOwner());
  assert.equal(harness.host.exits, [73]);
  assert.instance(log.refusal(), WalFencedError);
  assert.not(log.isOwner());
});

lifecycle('a directory on a network file system is refused (exit 73) unless it is allowed', () => {
  const harness = new LogHarness();
  harness.storage.networkName = 'nfs';
  const refused = harness.tryOpen();
  assert.instance(refused, WalNetworkError);
  assert.is((refused as WalNetworkError).exitCode, 73);
  assert.match((refused as Error).message, /nfs/);
  assert.equal(harness.events, []);
  harness.open({ allowNetworkFs: true });
  assert.equal(harness.events, [{ kind: 'network-file-system', fileSystem: 'nfs' }]);
});

lifecycle(
  'a full disk at the opening is reported as such (exit 75), and the log opens once there is space',
  () => {
    const harness = new LogHarness();
    const log = harness.open();
    log.append(Buffer.from('x'));
    harness.settle();
    harness.storage.killProcess();
    harness.host.killProcess();
    const { disk } = harness.storage;
    disk.capacityBytes = disk.usedBytes;
    const refused = harness.tryOpen();
    assert.instance(refused, WalDiskFullError);
    assert.is((refused as WalDiskFullError).exitCode, 75);
    assert.match((refused as Error).message, /free at least \d+ bytes/);
    disk.capacityBytes = Number.POSITIVE_INFINITY;
    assert.is(harness.open().durableLsn, 1);
  },
);

lifecycle('a failed sync calls `onFatal`, exits with 74 and acknowledges no record', () => {
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
  const results: (Error | null)[] = [];
  log.append(Buffer.from('x'), (error) => void results.push(error));
  harness.settle();
  assert.equal(order, ['onFatal', 'exit 74']);
  assert.instance(failure, WalIoError);
  assert.is(results.length, 1);
  assert.instance(results[0], WalIoError);
  assert.is(log.append(Buffer.from('y')), REFUSED);
  armed = false;
  harness.wait<void>((done) => log.close(done));
  assert.is(harness.open().durableLsn <= 1, true, 'the directory can be opened again');
});

lifecycle('on a full disk appends are refused with ERR_WAL_DISK_LOW until there is space again', () => {
  const harness = new LogHarness();
  const log = harness.open();
  const disks: string[] = [];
  log.watchCondition(({ disk }) => {
    if (disk !== disks.at(-1)) disks.push(disk);
  });
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
  assert.equal(disks.slice(-2), ['low', 'ok']);
});

lifecycle(
  'below `freeBytesSoft` only essential appends are accepted, until 1.5 times as much is free',
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
    assert.is(log.refusal()?.code, 'ERR_WAL_DISK_LOW', 'not before 1.5 times the limit is free');
    harness.storage.disk.capacityBytes = harness.storage.disk.usedBytes + 310_000;
    harness.advance(6_000);
    assert.is(log.refusal(), undefined);
  },
);

lifecycle('a closed log refuses appends with ERR_WAL_CLOSED', () => {
  const harness = new LogHarness();
  const log = harness.open();
  log.append(Buffer.from('x'));
  harness.wait<void>((done) => log.close(done));
  assert.is(log.durableLsn, 1, 'records appended before the close are written');
  assert.is(log.append(Buffer.from('y')), REFUSED);
  assert.instance(log.refusal(), WalClosedError);
  harness.wait<void>((done) => log.close(done));
});

lifecycle('`trim` drops whole segments and returns the first LSN left', () => {
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

lifecycle('a trimmed segment is reused, with zeros after its header', () => {
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
    [...harness.storage.disk.files().keys()].some((name) => name.startsWith('recycled-')),
    'spare segments are kept',
  );
  fill(4);
  const reused = harness.storage.calls.filter(
    ({ operation, name }) => operation === 'rename' && name.startsWith('recycled-'),
  );
  assert.ok(reused.length > 0, 'a spare segment is reused');
  const names = [...harness.storage.disk.files().keys()].filter((name) => name.endsWith('.seg')).sort();
  const ready = harness.storage.disk.file(names.at(-1) ?? '')?.content;
  assert.ok(ready?.subarray(4_096).every((byte) => byte === 0));
  harness.wait<void>((done) => log.close(done));
  assert.ok(harness.replay(harness.open(options)).length >= 4);
});

lifecycle('an error thrown by the visitor ends the replay and is passed to its callback', () => {
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

lifecycle('an invalid option is refused with its name', () => {
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

lifecycle('record types and ranges outside of their bounds are refused', () => {
  const harness = new LogHarness();
  const log = harness.open();
  for (const type of [-1, 256, 1.5])
    assert.throws(
      () => log.append(Buffer.from('x'), undefined, { type }),
      (error: unknown) => error instanceof WalOptionError && error.message.includes('type'),
    );
  for (const range of [{ from: -1 }, { to: Number.NaN }]) {
    let refused: Error | null | undefined;
    log.replay(
      range,
      () => undefined,
      (error) => {
        refused = error;
      },
    );
    harness.settle();
    assert.instance(refused, WalOptionError);
  }
});

lifecycle.run();
