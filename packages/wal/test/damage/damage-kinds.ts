// Every kind of damage: one change of the files of a directory that no process has open.

import type { SeededRandom } from '@troupe/core/testing';
import type { Files, LogImage } from './damaged-log.js';

/** Changes the files; false if this directory has nothing to damage in this way. */
export type Damage = (files: Files, image: LogImage, random: SeededRandom) => boolean;

const PAGE = 4_096;
const BATCHES_OF_THREE = 3 * PAGE;

export const DAMAGE_KINDS: Readonly<Record<string, Damage>> = {
  'flipped bit in a sealed segment': (files, image, random) =>
    changed(files, pick(sealedOf(files, image), random), (bytes) =>
      flip(bytes, random.below(bytes.length), random),
    ),
  'flipped bit in the open segment': (files, { open }, random) =>
    changed(files, open.name, (bytes) => flip(bytes, PAGE + random.below(open.end - PAGE), random)),
  'flipped bit in the last batch': (files, { open }, random) =>
    changed(files, open.name, (bytes) => flip(bytes, open.end - PAGE + random.below(PAGE), random)),
  'flipped bit in a segment header': (files, { open }, random) =>
    changed(files, open.name, (bytes) => flip(bytes, random.below(PAGE), random)),
  'flipped bit in the zeros after the end': (files, { open }, random) =>
    changed(files, open.name, (bytes) =>
      open.end < bytes.length
        ? flip(bytes, open.end + random.below(bytes.length - open.end), random)
        : undefined,
    ),
  'garbage after the end': (files, { open }, random) =>
    changed(files, open.name, (bytes) =>
      open.end < bytes.length ? fillRandom(bytes, open.end, bytes.length, random) : undefined,
    ),
  'open segment truncated': (files, { open }, random) =>
    changed(files, open.name, (bytes) => bytes.subarray(0, random.below(bytes.length))),
  'open segment truncated by one byte': (files, { open }) =>
    changed(files, open.name, (bytes) => bytes.subarray(0, -1)),
  'sealed segment truncated': (files, image, random) =>
    changed(files, pick(sealedOf(files, image), random), (bytes) =>
      bytes.subarray(0, random.below(bytes.length)),
    ),
  'open segment truncated and extended': (files, { open }, random) =>
    changed(files, open.name, (bytes) => bytes.fill(0, PAGE + random.below(open.end - PAGE))),
  'newest segment removed': (files) => removed(files, segmentsOf(files).at(-1)),
  'open segment removed': (files, { open }) => removed(files, open.name),
  'oldest segment removed': (files) => removed(files, segmentsOf(files)[0]),
  'pages of the open segment zeroed': (files, { open }, random) =>
    changed(files, open.name, (bytes) => {
      const from = PAGE * (1 + random.below((open.end - PAGE) / PAGE));
      return bytes.fill(0, from, Math.min(bytes.length, from + 2 * PAGE));
    }),
  'last three pages zeroed': (files, { open }) =>
    changed(files, open.name, (bytes) => bytes.fill(0, Math.max(PAGE, open.end - BATCHES_OF_THREE))),
  'all batches of the open segment zeroed': (files, { open }) =>
    changed(files, open.name, (bytes) => bytes.fill(0, PAGE)),
  'page copied over another': (files, { open }, random) =>
    changed(files, open.name, (bytes) => {
      const pages = open.end / PAGE;
      bytes.copy(
        bytes,
        PAGE * random.below(pages),
        PAGE * random.below(pages),
        PAGE * (1 + random.below(pages)),
      );
      return bytes;
    }),
  'newest snapshot damaged': (files, _image, random) =>
    changed(files, snapshotsOf(files).at(-1), (bytes) => flip(bytes, random.below(bytes.length), random)),
  'newest snapshot removed': (files) => removed(files, snapshotsOf(files).at(-1)),
  'newest snapshot truncated': (files, _image, random) =>
    changed(files, snapshotsOf(files).at(-1), (bytes) => bytes.subarray(0, random.below(bytes.length))),
  'all snapshots damaged': (files, _image, random) => {
    const names = snapshotsOf(files);
    for (const name of names)
      changed(files, name, (bytes) => flip(bytes, random.below(bytes.length), random));
    return names.length > 0;
  },
  'flipped bit in a blob': (files, { blob }, random) =>
    changed(files, `blobs/${blob.sha256}`, (bytes) => flip(bytes, random.below(bytes.length), random)),
  'blob removed': (files, { blob }) => removed(files, `blobs/${blob.sha256}`),
  'CURRENT and STORE removed': (files) => removed(files, 'CURRENT') && removed(files, 'STORE'),
  ...Object.fromEntries(['CURRENT', 'STORE', 'EPOCH', 'MARK'].flatMap((name) => smallFileKinds(name))),
};

function smallFileKinds(name: string): readonly (readonly [string, Damage])[] {
  return [
    [`${name} removed`, (files) => removed(files, name)],
    [`${name} emptied`, (files) => changed(files, name, () => Buffer.alloc(0))],
    [`${name} zeroed`, (files) => changed(files, name, (bytes) => bytes.fill(0))],
    [
      `flipped bit in ${name}`,
      (files, _image, random) =>
        changed(files, name, (bytes) => flip(bytes, random.below(bytes.length), random)),
    ],
    [
      `${name} truncated`,
      (files, _image, random) =>
        changed(files, name, (bytes) => bytes.subarray(0, random.below(bytes.length))),
    ],
  ];
}

function changed(
  files: Files,
  name: string | undefined,
  change: (bytes: Buffer) => Buffer | undefined,
): boolean {
  const bytes = name === undefined ? undefined : files.get(name);
  const after = bytes === undefined ? undefined : change(Buffer.from(bytes));
  if (name === undefined || after === undefined) return false;
  files.set(name, after);
  return true;
}

function removed(files: Files, name: string | undefined): boolean {
  return name !== undefined && files.delete(name);
}

function flip(bytes: Buffer, offset: number, random: SeededRandom): Buffer {
  bytes[offset] = (bytes[offset] ?? 0) ^ (1 << random.below(8));
  return bytes;
}

function fillRandom(bytes: Buffer, from: number, to: number, random: SeededRandom): Buffer {
  for (let offset = from; offset < to; offset += 1) bytes[offset] = random.below(256);
  return bytes;
}

function pick(names: readonly string[], random: SeededRandom): string | undefined {
  return names[random.below(Math.max(1, names.length))];
}

function segmentsOf(files: Files): string[] {
  return [...files.keys()].filter((name) => name.endsWith('.seg')).sort();
}

function sealedOf(files: Files, { open }: LogImage): string[] {
  return segmentsOf(files).filter((name) => name < open.name);
}

function snapshotsOf(files: Files): string[] {
  const lsnOf = (name: string): number => Number.parseInt(name.slice('snap-'.length), 10);
  return [...files.keys()].filter((name) => name.endsWith('.snap')).sort((a, b) => lsnOf(a) - lsnOf(b));
}
