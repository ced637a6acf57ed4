import { FULL, REFUSED, WalRecordTooLargeError } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LogHarness, SMALL, textOf } from '../log-harness.js';

const commits = suite('group commit');

function writesOf(harness: LogHarness): number {
  return harness.storage.calls.filter(({ operation, name }) => operation === 'write' && name.endsWith('.seg'))
    .length;
}

commits('all records appended during a sync go into one next batch', () => {
  const harness = new LogHarness();
  const log = harness.open();
  const before = writesOf(harness);
  const acked: number[] = [];
  const done = (_error: Error | null, lsn: number): void => void acked.push(lsn);
  log.append(Buffer.from('first'), done);
  harness.host.runDeferred();
  assert.is(writesOf(harness), before + 1, 'the first batch is in flight');
  for (let index = 0; index < 25; index += 1) log.append(Buffer.from(textOf(index)), done);
  harness.host.runDeferred();
  assert.is(writesOf(harness), before + 1, 'no second batch is in flight');
  assert.equal(acked, []);
  harness.settle();
  assert.is(writesOf(harness), before + 2);
  assert.equal(
    acked,
    Array.from({ length: 26 }, (_, index) => index + 1),
    'in the order of the appends',
  );
  assert.is(log.status().batches, 2);
});

commits('appends of one moment share a batch, even when no sync is running', () => {
  const harness = new LogHarness();
  const log = harness.open();
  for (let index = 0; index < 20; index += 1) log.append(Buffer.from('x'));
  harness.settle();
  assert.is(log.status().batches, 1);
  assert.is(log.durableLsn, 20);
});

commits('a callback may append, and one that throws does not stop the others', () => {
  const harness = new LogHarness();
  const log = harness.open();
  const acked: string[] = [];
  log.append(Buffer.from('a'), () => {
    acked.push('a');
    log.append(Buffer.from('c'), () => void acked.push('c'));
    throw new Error('thrown by a callback');
  });
  log.append(Buffer.from('b'), () => void acked.push('b'));
  harness.settle();
  assert.equal(acked, ['a', 'b', 'c']);
  assert.equal(
    harness.events.map(({ kind }) => kind),
    ['callback-threw'],
  );
});

commits('a full buffer returns FULL and calls `onBufferSpace` when it has space again', () => {
  const harness = new LogHarness();
  const log = harness.open();
  const payload = Buffer.alloc(1_000);
  let taken = 0;
  while (log.append(payload) !== FULL) taken += 1;
  assert.ok(
    taken >= 7 && taken <= 8,
    `${taken} records of 1,000 bytes in a buffer of ${SMALL.batchBytesMax}`,
  );
  let called = 0;
  log.onBufferSpace(() => {
    called += 1;
    assert.ok(log.append(payload) > 0);
  });
  harness.settle();
  assert.is(called, 1);
  assert.is(log.durableLsn, taken + 1);
});

commits('`appendAll` puts its records into one batch or refuses them as too large', () => {
  const harness = new LogHarness();
  const log = harness.open();
  const together = Array.from({ length: 5 }, () => Buffer.alloc(1_000));
  log.append(Buffer.alloc(2_000));
  log.append(Buffer.alloc(2_000));
  assert.is(log.appendAll(together), FULL);
  harness.settle();
  assert.is(log.appendAll(together), 7);
  assert.throws(
    () => log.appendAll([...together, ...together]),
    (error: unknown) => error instanceof WalRecordTooLargeError,
  );
  assert.throws(
    () => log.append(Buffer.alloc(3_000)),
    (error: unknown) => error instanceof WalRecordTooLargeError,
  );
});

commits('a burst gets one seal, `sealDelayMs` after its last batch', () => {
  const harness = new LogHarness();
  const log = harness.open();
  log.append(Buffer.from('x'));
  harness.advance(30);
  log.append(Buffer.from('y'));
  harness.advance(40);
  assert.is(log.status().batches, 2, 'no seal during the burst');
  harness.advance(20);
  assert.is(log.status().batches, 3);
  harness.advance(1_000);
  assert.is(log.status().batches, 3, 'no second seal');
});

commits('a slow sync is reported, and after 30 s appends that are not essential are refused', () => {
  const held: (() => void)[] = [];
  let hold = false;
  const harness = new LogHarness({
    schedule: (complete) => {
      if (hold) held.push(complete);
      else queue.push(complete);
    },
  });
  const queue: (() => void)[] = [];
  const pump = (): void => {
    for (;;) {
      const complete = queue.shift();
      if (complete === undefined && !harness.host.runDeferred()) return;
      complete?.();
    }
  };
  harness.settle = pump;
  const log = harness.open();
  hold = true;
  log.append(Buffer.from('x'));
  harness.advance(1_500);
  assert.equal(
    harness.events.map(({ kind }) => kind),
    ['sync-slow'],
  );
  assert.ok(log.append(Buffer.from('y')) > 0);
  harness.advance(31_000);
  assert.is(log.append(Buffer.from('z')), REFUSED);
  assert.is(log.refusal()?.code, 'ERR_WAL_DISK_SLOW');
  assert.ok(log.append(Buffer.from('z'), undefined, { essential: true }) > 0);
  hold = false;
  for (const complete of held) complete();
  pump();
  assert.is(log.refusal(), undefined);
  assert.is(log.durableLsn, 3);
});

commits.run();
