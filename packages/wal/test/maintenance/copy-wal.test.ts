// timeout: 120s
// Copies of a log that appends, rotates, makes snapshots and trims meanwhile.
//
// Arguments: --seeds N (default 160).

import { SeededRandom } from '@troupe/core/testing';
import { copyWal, verifyWal } from '@troupe/wal';
import { FaultyStorage } from '@troupe/wal/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type CopyReport, copy } from '#src/maintenance/copy-wal.js';
import { runCoroutine } from '#src/storage/coroutine.js';
import { assertAppendable, assertNothingLost, recover } from '../crash/recovery-checks.js';
import { Workload } from '../crash/workload.js';

const copies = suite('copy of a log in use');
const at = process.argv.indexOf('--seeds');
const SEEDS = at < 0 ? 160 : Number(process.argv[at + 1]);
/** The log is busy for so many calls of the copy: far more than one try needs. */
const BUSY_ROUNDS = 600;
const PAGE_BYTES = 4_096;

interface Copied {
  readonly target: FaultyStorage;
  readonly report: CopyReport;
  /** Records acknowledged when the copy began. */
  readonly acknowledged: number;
}

/** A random operation of the log, and some storage calls. With `drops` also those that drop files. */
function randomStep(workload: Workload, random: SeededRandom, drops = true): void {
  const what = random.below(20);
  if (what < 5) workload.append(1 + random.below(8));
  else if (what === 5) workload.appendBlob(2_500 + random.below(1_000));
  else if (what === 6 && drops) workload.snapshot();
  else if (what === 7 && drops) workload.trim();
  workload.harness.storage.run(random.below(6));
  workload.harness.host.runDeferred();
}

/** The copy reads a page at a time, and between two reads the log does a random number of steps. */
function copyDuringWrites(workload: Workload, random: SeededRandom, drops: boolean): Copied {
  const reads: (() => void)[] = [];
  const { disk } = workload.harness.storage;
  const source = new FaultyStorage({ disk, schedule: (complete) => void reads.push(complete) });
  const target = new FaultyStorage({ schedule: (complete) => complete() });
  const { acknowledged } = workload;
  let report: CopyReport | Error | undefined;
  runCoroutine(copy(source, target, { chunkBytes: PAGE_BYTES }), (error, value) => {
    report = error ?? value;
  });
  const pause = 1 + random.below(8);
  const busyRounds = drops ? BUSY_ROUNDS / 5 : BUSY_ROUNDS;
  for (let round = 0; report === undefined && round < busyRounds; round += 1) {
    for (let i = random.below(pause); i > 0; i -= 1) randomStep(workload, random, drops);
    reads.shift()?.();
  }
  for (let read = reads.shift(); read !== undefined; read = reads.shift()) read();
  workload.harness.settle();
  if (report instanceof Error) throw report;
  if (report === undefined) throw new Error('the copy did not end');
  return { target, report, acknowledged };
}

copies(`${SEEDS} copies open with all records acknowledged when they began`, () => {
  let retries = 0;
  let beyond = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = new SeededRandom(seed);
    const workload = new Workload({ seed, shuffle: new SeededRandom(seed + 7_000) });
    // Short segments end often; long ones have batches before and after the one being read.
    const segmentBytes = seed % 2 === 0 ? 16_384 : 131_072;
    workload.open(seed % 3 === 0 ? 'jsonl' : 'binary', { segmentBytes, firstSegmentBytes: segmentBytes });
    for (let round = random.below(40); round > 0; round -= 1) randomStep(workload, random);
    const { target, report, acknowledged } = copyDuringWrites(workload, random, seed % 4 < 2);
    const recovered = recover(target.disk);
    assertNothingLost(recovered.state, { digests: workload.digests, acknowledged }, `seed ${seed}`);
    for (const blob of recovered.state.blobs.values())
      recovered.harness.wait<Buffer>((done) => recovered.log.readBlob(blob, done));
    assertAppendable(recovered, `seed ${seed}`);
    retries += report.retries;
    if (recovered.state.count > acknowledged) beyond += 1;
  }
  // The hard cases must occur: files removed and records appended during the copy.
  assert.ok(retries > SEEDS / 20, `${retries} retries`);
  assert.ok(beyond > SEEDS / 20, `${beyond} copies with later records`);
});

copies('the copy of an idle log verifies without damage', async () => {
  const workload = new Workload();
  workload.run();
  workload.close();
  workload.harness.settle();
  const from = new FaultyStorage({ disk: workload.harness.storage.disk, schedule: (complete) => complete() });
  const to = new FaultyStorage({ schedule: (complete) => complete() });
  const report = await copyWal(from, to);
  assert.is(report.retries, 0);
  const verified = await verifyWal(to);
  assert.equal([verified.ok, verified.lastLsn], [true, workload.appended]);
});

copies('a directory without a log is refused', async () => {
  const empty = new FaultyStorage({ schedule: (complete) => complete() });
  const to = new FaultyStorage({ schedule: (complete) => complete() });
  const code = await copyWal(empty, to).then(
    () => 'copied',
    (error: { code?: string }) => error.code,
  );
  assert.is(code, 'ERR_WAL_CORRUPT');
});

copies.run();
