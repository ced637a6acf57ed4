// A small data directory, as bytes, with everything a real one has; and what opening a damaged copy of it must give.

import { inlineSnapshotBuilder, type Log, WalBlobError, WalCorruptError, WalVersionError } from '@troupe/wal';
import { SimulatedDisk } from '@troupe/wal/testing';
import * as assert from 'uvu/assert';
import { type TextState, textFold } from '../digest-fold.js';
import { World } from '../log-harness.js';

/** How the process that wrote it ended. */
export type Ending = 'clean' | 'sealed' | 'unsealed';

export interface Image {
  readonly ending: Ending;
  readonly files: ReadonlyMap<string, Buffer>;
  readonly count: number;
  readonly digest: string;
  /** Where the last batch lies, as the test itself finds it: the one part whose damage may look like tearing. */
  readonly lastBatch: {
    readonly file: string;
    readonly from: number;
    readonly to: number;
    readonly records: number;
  };
  readonly digestWithoutLastBatch: string;
}

const TINY = { segmentBytes: 12_288, firstSegmentBytes: 8_192, batchBytesMax: 8_192, inlineBytesMax: 2_000 };

/** One sealed segment, a snapshot of it, a blob, an open segment with batches, an empty one: three of 8 to 12 KiB. */
export function makeImage(ending: Ending): Image {
  const world = new World();
  const log = openOn(world);
  world.wait<unknown>((done) => log.putBlob(Buffer.alloc(300, 7), done));
  append(world, log, ['one', 'two', 'three']);
  world.wait<unknown>((done) => log.makeSnapshot(done));
  append(world, log, ['four', 'five']);
  if (ending === 'unsealed') {
    const before = restore(world, log);
    const from = 8_192;
    append(world, log, ['six', 'seven']);
    return describe(world, log, ending, { from, records: 2, digestWithoutLastBatch: before.digest });
  }
  if (ending === 'sealed') world.advance(60);
  const whole = restore(world, log);
  const image = { from: 8_192, records: 0, digestWithoutLastBatch: whole.digest };
  if (ending === 'sealed') return describe(world, log, ending, image);
  const state = restore(world, log);
  world.wait<void>((done) => log.close(done));
  return { ...describe(world, log, ending, image, state) };
}

function describe(
  world: World,
  log: Log,
  ending: Ending,
  last: { from: number; records: number; digestWithoutLastBatch: string },
  state: TextState = restore(world, log),
): Image {
  const files = world.storage.disk.files();
  const file = [...files.keys()].filter((name) => name.endsWith('.seg')).sort()[1];
  if (file === undefined) throw new Error('the image has no second segment');
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

/** What opening these files gives, judged against what the image held. */
export function judge(
  image: Image,
  files: ReadonlyMap<string, Buffer>,
): { readonly verdict: Verdict; readonly why: string } {
  const world = new World({ disk: SimulatedDisk.withFiles(files), seed: 3 });
  const opened = world.tryOpen({ ...TINY, snapshotBuilder: inlineSnapshotBuilder(world.storage, textFold) });
  if (opened instanceof WalCorruptError || opened instanceof WalVersionError) {
    assert.is(opened.exitCode, 65);
    return { verdict: 'refused', why: opened.message };
  }
  if (opened === undefined || opened instanceof Error)
    return { verdict: 'something-else', why: String(opened) };
  const state = restore(world, opened);
  if (state.count === image.count && state.digest === image.digest)
    return { verdict: 'recovered-all', why: '' };
  const torn = world.events.some(({ kind }) => kind === 'torn-tail');
  const cut =
    state.count === image.count - image.lastBatch.records && state.digest === image.digestWithoutLastBatch;
  const why = `${state.count} of ${image.count} records, ${torn ? 'reported' : 'silent'}`;
  if (!cut) return { verdict: 'something-else', why };
  return { verdict: torn ? 'last-batch-cut' : 'last-batch-cut-silently', why };
}

/** A damaged blob is no reason to refuse the log, but must be noticed by whoever asks for it. */
export function isBlobRefused(files: ReadonlyMap<string, Buffer>, name: string, bytes: number): boolean {
  const world = new World({ disk: SimulatedDisk.withFiles(files), seed: 3 });
  const log = openOn(world);
  let refused = false;
  log.readBlob({ sha256: name.slice('blobs/'.length), bytes }, (error) => {
    refused = error instanceof WalBlobError;
  });
  world.settle();
  return refused;
}

function openOn(world: World): Log {
  return world.open({
    ...TINY,
    snapshotBuilder: inlineSnapshotBuilder(world.storage, textFold),
    snapshotEveryBytes: 0,
  });
}

function append(world: World, log: Log, texts: readonly string[]): void {
  for (const text of texts) assert.ok(log.append(Buffer.from(text)) > 0);
  world.settle();
}

function restore(world: World, log: Log): TextState {
  return world.wait<TextState>((done) => log.restore(textFold, done));
}

export function withFile(image: Image, name: string, content: Buffer | undefined): Map<string, Buffer> {
  const files = new Map(image.files);
  if (content === undefined) files.delete(name);
  else files.set(name, content);
  return files;
}

/** The one part of an image whose damage may look like tearing. */
export function isInLastBatch(image: Image, name: string, offset: number): boolean {
  return (
    image.ending === 'unsealed' &&
    name === image.lastBatch.file &&
    offset >= image.lastBatch.from &&
    offset < image.lastBatch.to
  );
}
