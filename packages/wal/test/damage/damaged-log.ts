// A log of random size with and without snapshots, its acknowledged state, and the check of opening a damaged
// copy of it.

import { SeededRandom } from '@troupe/core/testing';
import {
  type BlobRef,
  type CodecName,
  inlineSnapshotBuilder,
  type Log,
  WalBlobError,
  WalCorruptError,
  type WalOptions,
  WalVersionError,
} from '@troupe/wal';
import { SimulatedDisk } from '@troupe/wal/testing';
import { type DigestState, digestFold } from '../digest-fold.js';
import { LogHarness } from '../log-harness.js';

const SIZES: WalOptions = {
  segmentBytes: 65_536,
  firstSegmentBytes: 49_152,
  batchBytesMax: 16_384,
  inlineBytesMax: 4_096,
  snapshotEveryBytes: 0,
};

export type Files = Map<string, Buffer>;

/** A directory as it was left, 60 ms after the last acknowledgement. */
export interface LogImage {
  readonly files: Files;
  readonly state: DigestState;
  readonly blob: BlobRef;
  /** The segment that was written last, and the end of its last batch. */
  readonly open: { readonly name: string; readonly end: number };
  readonly snapshots: number;
  readonly codec: CodecName;
}

export function makeLogImage(seed: number): LogImage {
  const random = new SeededRandom(seed);
  const harness = new LogHarness({ seed });
  const codec = CODECS[seed % CODECS.length] as CodecName;
  let log = openIn(harness, codec);
  const blob = harness.wait<BlobRef>((done) => log.putBlob(Buffer.alloc(500, seed), done));
  log.append(Buffer.from('with a blob'), undefined, { blob });
  const wanted = random.below(4);
  for (let part = 0; part <= wanted; part += 1) {
    appendBatches(harness, log, random, { batches: 4 + random.below(30), codec });
    if (part < wanted) harness.wait<unknown>((done) => log.makeSnapshot(done));
    if (random.chance(0.3)) log = reopened(harness, log, random.chance(0.5), codec);
  }
  appendBatches(harness, log, random, { batches: 5, codec });
  harness.advance(60);
  const state = harness.wait<DigestState>((done) => log.restore(digestFold, done));
  if (random.chance(0.3)) harness.wait<void>((done) => log.close(done));
  const files = withoutTemporary(harness.storage.disk.files());
  return { files, state, blob, open: openSegmentOf(files), snapshots: Math.min(wanted, 2), codec };
}

const CODECS: readonly CodecName[] = ['binary', 'jsonl'];

function openIn(harness: LogHarness, codec: CodecName): Log {
  const snapshotBuilder = inlineSnapshotBuilder(harness.storage, digestFold);
  return harness.open({ ...SIZES, codec, snapshotBuilder });
}

function appendBatches(
  harness: LogHarness,
  log: Log,
  random: SeededRandom,
  { batches, codec }: { readonly batches: number; readonly codec: CodecName },
): void {
  for (let batch = 0; batch < batches; batch += 1) {
    for (let count = random.below(4); count >= 0; count -= 1) {
      const bytes = Buffer.alloc(1 + random.below(3_000), batch + count);
      log.append(
        codec === 'binary' ? bytes : Buffer.from(JSON.stringify({ text: bytes.toString('latin1', 0, 500) })),
      );
    }
    harness.settle();
  }
}

function reopened(harness: LogHarness, log: Log, isClean: boolean, codec: CodecName): Log {
  if (isClean) harness.wait<void>((done) => log.close(done));
  else {
    harness.storage.killProcess();
    harness.host.killProcess();
  }
  return openIn(harness, codec);
}

function withoutTemporary(files: Files): Files {
  return new Map([...files].filter(([name]) => !name.endsWith('.tmp')));
}

function openSegmentOf(files: Files): { name: string; end: number } {
  const names = [...files.keys()].filter((name) => name.endsWith('.seg')).sort();
  for (const name of names.toReversed()) {
    const bytes = files.get(name) ?? Buffer.alloc(0);
    const last = bytes.subarray(4_096).findLastIndex((byte) => byte !== 0);
    if (last >= 0) return { name, end: Math.ceil((4_096 + last + 1) / 4_096) * 4_096 };
  }
  throw new Error('no segment has a batch');
}

export type Verdict = 'recovered-all' | 'refused' | 'blob-refused' | 'silent-loss';

/** Opens these files and compares the state with the acknowledged one. */
export function openDamaged(image: LogImage, files: Files): { verdict: Verdict; why: string } {
  const harness = new LogHarness({ disk: SimulatedDisk.withFiles(files), seed: 3 });
  const snapshotBuilder = inlineSnapshotBuilder(harness.storage, digestFold);
  const opened = harness.tryOpen({ ...SIZES, snapshotBuilder });
  if (opened instanceof WalCorruptError || opened instanceof WalVersionError)
    return { verdict: 'refused', why: opened.message };
  if (opened === undefined || opened instanceof Error)
    return { verdict: 'silent-loss', why: `neither opened nor refused: ${String(opened)}` };
  let state: DigestState;
  try {
    state = harness.wait<DigestState>((done) => opened.restore(digestFold, done));
  } catch (error) {
    return { verdict: 'refused', why: String(error) };
  }
  if (state.count !== image.state.count || state.digest !== image.state.digest)
    return { verdict: 'silent-loss', why: `${state.count} of ${image.state.count} records` };
  return { verdict: isBlobWhole(harness, opened, image.blob) ? 'recovered-all' : 'blob-refused', why: '' };
}

function isBlobWhole(harness: LogHarness, log: Log, blob: BlobRef): boolean {
  try {
    harness.wait<Buffer>((done) => log.readBlob(blob, done));
    return true;
  } catch (error) {
    if (error instanceof WalBlobError) return false;
    throw error;
  }
}
