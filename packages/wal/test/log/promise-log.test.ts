// timeout: 120s
// The promise API on the real file system.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dumpWal, openWal, repairWal, verifyWal, type WalError } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tempDirectory } from '../temp-directory.js';

const promises = suite('promise log');

promises('inline records, groups and blobs are replayed in the order of their appends', async () => {
  await using directory = await tempDirectory();
  const options = { dir: directory.path, segmentBytes: 1_048_576, inlineBytesMax: 10_000, freeBytesSoft: 0 };
  const wal = await openWal(options);
  const order: number[] = [];
  const large = Buffer.alloc(5_000_000, 3);
  const lsns = await Promise.all([
    wal.append(Buffer.from('small')).finally(() => order.push(1)),
    wal.append(large, { type: 9 }).finally(() => order.push(2)),
    wal.append([Buffer.from('two'), Buffer.from('three')]).finally(() => order.push(3)),
    wal.append(Buffer.alloc(20_000, 4)).finally(() => order.push(4)),
    wal.append(Buffer.from('last')).finally(() => order.push(5)),
  ]);
  assert.equal(lsns, [1, 2, 4, 5, 6], 'a large payload does not overtake and is not overtaken');
  assert.equal(order, [1, 2, 3, 4, 5]);
  await wal.close();

  await using again = await openWal(options);
  const seen: string[] = [];
  const blobs: { sha256: string; bytes: number }[] = [];
  await again.replay((lsn, payload, type, blob) => {
    if (blob !== undefined) blobs.push(blob);
    seen.push(`${lsn} ${type} ${blob?.bytes ?? payload.toString()}`);
  });
  assert.equal(seen, ['1 0 small', '2 9 5000000', '3 0 two', '4 0 three', '5 0 20000', '6 0 last']);
  const [first] = blobs;
  assert.ok(first !== undefined && large.equals(await again.readBlob(first)));
});

promises('appends beyond the buffer size wait and keep their order', async () => {
  await using directory = await tempDirectory();
  await using wal = await openWal({
    dir: directory.path,
    segmentBytes: 65_536,
    batchBytesMax: 16_384,
    freeBytesSoft: 0,
  });
  const lsns = await Promise.all(
    Array.from({ length: 500 }, (_, index) => wal.append(Buffer.alloc(3_000, index))),
  );
  assert.equal(
    lsns,
    Array.from({ length: 500 }, (_, index) => index + 1),
  );
});

promises('`dumpWal` returns records of both codecs, and `verifyWal` detects a flipped bit', async () => {
  await using directory = await tempDirectory();
  const options = { dir: directory.path, segmentBytes: 65_536, freeBytesSoft: 0 };
  const events = [
    { type: 'enqueue', job: 1 },
    { type: 'assign', job: 1, attempt: 1 },
  ];
  for (const codec of ['binary', 'jsonl'] as const) {
    await using wal = await openWal({ ...options, codec });
    for (const event of events) await wal.append(Buffer.from(JSON.stringify(event)), { type: 4 });
    await wal.append(Buffer.from([0xff, 0, 1]));
  }
  const dumped: string[] = [];
  await dumpWal(directory.path, (entry) => {
    if (entry.kind === 'record')
      dumped.push(`${entry.lsn} ${entry.codec} ${entry.payload.toString('latin1')}`);
  });
  const contents = [...events.map((event) => JSON.stringify(event)), '\xff\0\x01'];
  assert.equal(dumped, [
    ...contents.map((content, index) => `${index + 1} binary ${content}`),
    ...contents.map((content, index) => `${index + 4} jsonl ${content}`),
  ]);
  const jsonl = (await readFile(join(directory.path, 'wal-0000000003.seg'))).toString('latin1');
  assert.match(jsonl, /\{"lsn":4,"type":4,"event":\{"type":"enqueue","job":1\}\}\n/);

  const sound = await verifyWal(directory.path);
  assert.ok(sound.ok && sound.wasClean);
  assert.is(sound.lastLsn, 6);
  const path = join(directory.path, 'wal-0000000003.seg');
  const bytes = await readFile(path);
  bytes[4_200] = (bytes[4_200] ?? 0) ^ 1;
  await writeFile(path, bytes);
  const damaged = await verifyWal(directory.path);
  assert.not.ok(damaged.ok);
  assert.is(damaged.damage[0]?.file, 'wal-0000000003.seg');
  const refused = await openWal(options).then(
    () => undefined,
    (error: WalError) => error,
  );
  assert.is(refused?.code, 'ERR_WAL_CORRUPT');
  assert.is((await repairWal(directory.path, { acceptLoss: true })).applied, true);
  await (await openWal(options)).close();
});

promises('`scrub` reports damage of a sealed segment while the log is open', async () => {
  await using directory = await tempDirectory();
  const kinds: string[] = [];
  const options = { dir: directory.path, segmentBytes: 65_536, firstSegmentBytes: 65_536, freeBytesSoft: 0 };
  await using wal = await openWal({ ...options, onEvent: ({ kind }) => kinds.push(kind) });
  for (let index = 0; index < 40; index += 1) await wal.append(Buffer.alloc(4_000, index));
  assert.equal((await wal.scrub()).damage, []);
  const path = join(directory.path, 'wal-0000000001.seg');
  const bytes = await readFile(path);
  bytes[9_000] = (bytes[9_000] ?? 0) ^ 1;
  await writeFile(path, bytes);
  const report = await wal.scrub();
  assert.is(report.damage[0]?.file, 'wal-0000000001.seg');
  assert.ok(kinds.includes('scrub-damage'));
});

promises('a directory is locked while its owner lives, and taken over from a dead one', async () => {
  await using directory = await tempDirectory();
  const wal = await openWal({ dir: directory.path, freeBytesSoft: 0 });
  const refused = await openWal({ dir: directory.path, freeBytesSoft: 0 }).then(
    () => undefined,
    (error: WalError) => error,
  );
  assert.is(refused?.code, 'ERR_WAL_LOCKED');
  await wal.close();

  const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
  const pid = child.pid ?? 0;
  await once(child, 'exit');
  const bootId = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '')).trim();
  const lockFiles = [
    JSON.stringify({ pid, bootId, startedAt: '1', nonce: 'a' }),
    JSON.stringify({ pid: process.pid, bootId: 'another boot', startedAt: '1', nonce: 'a' }),
    JSON.stringify({ pid: process.pid, bootId, startedAt: '1', nonce: 'a' }),
    '{"pid":1',
  ];
  for (const lockFile of lockFiles) {
    await writeFile(join(directory.path, 'LOCK'), lockFile);
    const taken = await openWal({ dir: directory.path, freeBytesSoft: 0 });
    await taken.close();
  }
  assert.not.ok((await readdir(directory.path)).some((name) => name.startsWith('LOCK')));
});

promises.run();
