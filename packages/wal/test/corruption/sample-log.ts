// A small data directory as bytes, with every kind of file, and the check of opening a damaged copy of it.

import { inlineSnapshotBuilder, type Log, WalBlobError, WalCorruptError, WalVersionError } from '@troupe/wal';
import { SimulatedDisk } from '@troupe/wal/testing';
import * as assert from 'uvu/assert';
import { type DigestState, digestFold } from '../digest-fold.js';
import { LogHarness } from '../log-harness.js';

/** How the process that wrote the log ended. */
export type Ending = 'clean' | 'sealed' | 'unsealed';

export interface SampleLog {
  readonly ending: Ending;
  readonly files: ReadonlyMap<string, Buffer>;
  readonly count: number;
  readonly digest: string;
  /** The extent of the last batch: the only bytes whose damage may look like a torn write. */
  readonly lastBatch: {
    readonly file: string;
    readonly from: number;
    readonly to: number;
    readonly records: number;
  };
  readonly digestWithoutLastBatch: string;
}

const TINY = { segmentBytes: 12_288, firstSegmentBytes: 8_192, batchBytesMax: 8_192, inlineBytesMax: 2_000 };

/** A sealed segment, a snapshot of it, a blob, an open segment with batches, and an empty segment. */
export function makeSampleLog(ending: Ending): SampleLog {
  const harness = new LogHarness();
  const log = openOn(harness);
  harness.wait<unknown>((done) => log.putBlob(Buffer.alloc(300, 7), done));
  append(harness, log, ['one', 'two', 'three']);
  harness.wait<unknown>((done) => log.makeSnapshot(done));
  append(harness, log, ['four', 'five']);
  if (ending === 'unsealed') {
    const before = restore(harness, log);
    const from = 8_192;
    append(harness, log, ['six', 'seven']);
    return describe(harness, log, ending, { from, records: 2, digestWithoutLastBatch: before.digest });
  }
  if (ending === 'sealed') harness.advance(60);
  const whole = restore(harness, log);
  const sample = { from: 8_192, records: 0, digestWithoutLastBatch: whole.digest };
  if (ending === 'sealed') return describe(harness, log, ending, sample);
  const state = restore(harness, log);
  harness.wait<void>((done) => log.close(done));
  return { ...describe(harness, log, ending, sample, state) };
}

function describe(
  harness: LogHarness,
  log: Log,
  ending: Ending,
  last: { from: number; records: number; digestWithoutLastBatch: string },
  state: DigestState = restore(harness, log),
): SampleLog {
  const files = harness.storage.disk.files();
  const file = [...files.keys()].filter((name) => name.endsWith('.seg')).sort()[1];
  if (file === undefined) throw new Error('the sample has no second segment');
  const bytes = files.get(file);
  if (bytes === undefined || bytes[last.from] === 0) throw new Error('no batch where the last one should be');
  const lastBatch = { file, from: last.from, to: last.from + 4_096, records: last.records };
  const { count, digest } = state;
  return { ending, files, count, digest, lastBatch, digestWithoutLastBatch: last.digestWithoutLastBatch };
}

export type Verdict =
  | 'recovered-all'
  | 'refused'
  | 'last-batch-cut'
  | 'last-batch-cut-silently'
  | 'something-else';

/** Opens these files and compares the state with that of the sample. */
export function openDamaged(
  sample: SampleLog,
  files: ReadonlyMap<string, Buffer>,
): { readonly verdict: Verdict; readonly why: string } {
  const harness = new LogHarness({ disk: SimulatedDisk.withFiles(files), seed: 3 });
  const opened = harness.tryOpen({
    ...TINY,
    snapshotBuilder: inlineSnapshotBuilder(harness.storage, digestFold),
  });
  if (opened instanceof WalCorruptError || opened instanceof WalVersionError) {
    assert.is(opened.exitCode, 65);
    return { verdict: 'refused', why: opened.message };
  }
  if (opened === undefined || opened instanceof Error)
    return { verdict: 'something-else', why: String(opened) };
  const state = restore(harness, opened);
  if (state.count === sample.count && state.digest === sample.digest)
    return { verdict: 'recovered-all', why: '' };
  const torn = harness.events.some(({ kind }) => kind === 'torn-tail');
  const cut =
    state.count === sample.count - sample.lastBatch.records && state.digest === sample.digestWithoutLastBatch;
  const why = `${state.count} of ${sample.count} records, ${torn ? 'reported' : 'silent'}`;
  if (!cut) return { verdict: 'something-else', why };
  return { verdict: torn ? 'last-batch-cut' : 'last-batch-cut-silently', why };
}

/** A damaged blob does not keep the log from opening, but must be reported to its reader. */
export function isBlobDamageReported(
  files: ReadonlyMap<string, Buffer>,
  name: string,
  bytes: number,
): boolean {
  const harness = new LogHarness({ disk: SimulatedDisk.withFiles(files), seed: 3 });
  const log = openOn(harness);
  let refused = false;
  log.readBlob({ sha256: name.slice('blobs/'.length), bytes }, (error) => {
    refused = error instanceof WalBlobError;
  });
  harness.settle();
  return refused;
}

function openOn(harness: LogHarness): Log {
  return harness.open({
    ...TINY,
    snapshotBuilder: inlineSnapshotBuilder(harness.storage, digestFold),
    snapshotEveryBytes: 0,
  });
}

function append(harness: LogHarness, log: Log, texts: readonly string[]): void {
  for (const text of texts) assert.ok(log.append(Buffer.from(text)) > 0);
  harness.settle();
}

function restore(harness: LogHarness, log: Log): DigestState {
  return harness.wait<DigestState>((done) => log.restore(digestFold, done));
}

/** One offset in so many of a long run of zeros. */
const PADDING_STEP = process.argv.includes('--all-bytes') ? 1 : 16;
const PADDING_START = Math.floor(Math.random() * PADDING_STEP);

/**
 * The offsets at which a file is damaged: every byte of its content and the 16 bytes around it, and a part of
 * the padding, which is nine tenths of all bytes. The part differs from run to run.
 */
export function damageOffsets(content: Buffer): readonly number[] {
  const near = new Uint8Array(content.length);
  for (const [offset, byte] of content.entries()) {
    if (byte !== 0) near.fill(1, Math.max(0, offset - 16), offset + 17);
  }
  return [...near.keys()].filter((offset) => near[offset] === 1 || offset % PADDING_STEP === PADDING_START);
}

export function withFile(sample: SampleLog, name: string, content: Buffer | undefined): Map<string, Buffer> {
  const files = new Map(sample.files);
  if (content === undefined) files.delete(name);
  else files.set(name, content);
  return files;
}

/** True for the only bytes whose damage may look like a torn write. */
export function isInLastBatch(sample: SampleLog, name: string, offset: number): boolean {
  return (
    sample.ending === 'unsealed' &&
    name === sample.lastBatch.file &&
    offset >= sample.lastBatch.from &&
    offset < sample.lastBatch.to
  );
}
