// A file as a disk sees it: durable bytes, and writes that are not synced.

import type { SeededRandom } from '@troupe/core/testing';

/**
 * The effect of a power cut on writes that were not synced.
 *
 * - drop: none is on the disk
 * - keep: all are
 * - subset: a random part is
 * - reorder: later ones are, earlier ones are not
 * - tear: one write stopped between two sectors
 * - garbage: sectors that were being written have random content
 */
export type PersistenceModel = 'drop' | 'keep' | 'subset' | 'reorder' | 'tear' | 'garbage';

export const PERSISTENCE_MODELS: readonly PersistenceModel[] = [
  'drop',
  'keep',
  'subset',
  'reorder',
  'tear',
  'garbage',
];

const SECTOR_BYTES = 512;

type Change =
  | { readonly kind: 'write'; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly bytes: number };

export class SimulatedFile {
  /** The present content for readers. */
  content: Buffer;
  private durable: Buffer;
  private unsynced: Change[] = [];
  /** `content` and `durable` are copied at their first change: most files of a test are only read. */
  private isContentOwn = false;
  private isDurableOwn = false;

  /** The caller does not change `content` afterwards. */
  constructor(content: Buffer = Buffer.alloc(0)) {
    this.content = content;
    this.durable = content;
  }

  get isSynced(): boolean {
    return this.unsynced.length === 0;
  }

  write(bytes: Uint8Array, offset: number): void {
    this.change({ kind: 'write', offset, bytes: Buffer.from(bytes) });
  }

  truncate(bytes: number): void {
    this.change({ kind: 'truncate', bytes });
  }

  sync(): void {
    if (this.unsynced.length === 0) return;
    if (!this.isDurableOwn) this.durable = Buffer.from(this.durable);
    this.isDurableOwn = true;
    for (const change of this.unsynced) this.durable = applied(this.durable, change);
    this.unsynced = [];
  }

  /** The kernel reports a failed sync once and then marks the pages clean: readable, but not on the disk. */
  failSync(): void {
    this.unsynced = [];
  }

  /** The file as found after a power cut. */
  afterCrash(model: PersistenceModel, random: SeededRandom): SimulatedFile {
    // A copy: this file's durable bytes change with its next sync.
    let left: Buffer = Buffer.from(this.durable);
    const count = this.unsynced.length;
    const split = random.below(count + 1);
    for (const [index, change] of this.unsynced.entries()) {
      if (!survives(model, index, split, count, random)) continue;
      if (change.kind === 'truncate' || model === 'drop' || model === 'keep' || model === 'subset') {
        left = applied(left, change);
      } else {
        for (const part of damaged(model, change, left.length, index === split, random))
          left = applied(left, part);
      }
    }
    return new SimulatedFile(left);
  }

  private change(change: Change): void {
    if (!this.isContentOwn) this.content = Buffer.from(this.content);
    this.isContentOwn = true;
    this.content = applied(this.content, change);
    this.unsynced.push(change);
  }
}

function survives(
  model: PersistenceModel,
  index: number,
  split: number,
  count: number,
  random: SeededRandom,
): boolean {
  switch (model) {
    case 'drop':
      return false;
    case 'keep':
      return true;
    case 'subset':
      return random.chance(0.5);
    case 'reorder':
      return index >= Math.min(split, count - 1);
    case 'tear':
      return index <= split;
    case 'garbage':
      return random.chance(0.8);
    default:
      return model satisfies never;
  }
}

type Write = Extract<Change, { kind: 'write' }>;

/** The sectors of a write as they reached the disk. */
function damaged(
  model: 'reorder' | 'tear' | 'garbage',
  write: Write,
  fileBytes: number,
  isLast: boolean,
  random: SeededRandom,
): Write[] {
  const sectors: Write[] = [];
  const stop = model === 'tear' && isLast ? random.below(write.bytes.length + 1) : write.bytes.length;
  for (let from = 0; from < write.bytes.length; from += SECTOR_BYTES) {
    const bytes = Buffer.from(write.bytes.subarray(from, from + SECTOR_BYTES));
    const offset = write.offset + from;
    if (model === 'tear' && from + bytes.length > stop) break;
    // A disk with a write cache reorders sectors within one write, too.
    if (model === 'reorder' && random.chance(0.3)) continue;
    if (model === 'garbage' && random.chance(0.5)) {
      if (random.chance(0.5) && offset + bytes.length <= fileBytes) continue;
      for (let index = 0; index < bytes.length; index += 1) bytes[index] = random.below(256);
    }
    sectors.push({ kind: 'write', offset, bytes });
  }
  return sectors;
}

function applied(content: Buffer, change: Change): Buffer {
  if (change.kind === 'truncate') {
    const cut = Buffer.alloc(change.bytes);
    content.copy(cut);
    return cut;
  }
  const end = change.offset + change.bytes.length;
  let grown = content;
  if (end > content.length) {
    grown = Buffer.alloc(end);
    content.copy(grown);
  }
  change.bytes.copy(grown, change.offset);
  return grown;
}
