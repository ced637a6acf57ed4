// A directory tree as a disk sees it: names too are durable only once their directory was synced.

import { SeededRandom } from '@troupe/core/testing';
import { type PersistenceModel, SimulatedFile } from './simulated-file.js';

interface NameChange {
  readonly directory: string;
  readonly removed: string | undefined;
  readonly added: string | undefined;
  readonly file: SimulatedFile | undefined;
}

export class SimulatedDisk {
  /** Capacity for all files together. */
  capacityBytes = Number.POSITIVE_INFINITY;
  isLocked = false;
  private readonly names = new Map<string, SimulatedFile>();
  private readonly durableNames = new Map<string, SimulatedFile>();
  private unsynced: NameChange[] = [];

  /** A disk with these files, durable. A file is copied when the disk changes it; the caller leaves it. */
  static withFiles(files: ReadonlyMap<string, Uint8Array>): SimulatedDisk {
    const disk = new SimulatedDisk();
    for (const [name, bytes] of files) {
      const file = new SimulatedFile(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      disk.names.set(name, file);
      disk.durableNames.set(name, file);
    }
    return disk;
  }

  /** Copies of all files with their present content. */
  files(): Map<string, Buffer> {
    return new Map([...this.names].map(([name, file]) => [name, Buffer.from(file.content)]));
  }

  /** Flips the bits of `mask` in one byte, durably, as bit rot does. */
  flipBits(name: string, offset: number, mask: number): void {
    const file = this.names.get(name);
    if (file === undefined || offset >= file.content.length)
      throw new RangeError(`no byte ${offset} in ${name}`);
    const byte = Buffer.from([(file.content[offset] ?? 0) ^ mask]);
    file.write(byte, offset);
    file.sync();
  }

  get usedBytes(): number {
    let bytes = 0;
    for (const file of this.names.values()) bytes += file.content.length;
    return bytes;
  }

  file(name: string): SimulatedFile | undefined {
    return this.names.get(name);
  }

  list(directory: string): string[] {
    const prefix = directory === '.' ? '' : `${directory}/`;
    const inside = [...this.names.keys()]
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length));
    return [...new Set(inside.map((name) => name.split('/')[0] as string))]; // split always gives one part
  }

  create(name: string): SimulatedFile {
    const file = new SimulatedFile();
    this.change({ directory: directoryOf(name), removed: undefined, added: name, file });
    return file;
  }

  rename(from: string, to: string): void {
    this.change({ directory: directoryOf(to), removed: from, added: to, file: this.names.get(from) });
  }

  unlink(name: string): void {
    this.change({ directory: directoryOf(name), removed: name, added: undefined, file: undefined });
  }

  syncDir(directory: string): void {
    const waiting: NameChange[] = [];
    for (const change of this.unsynced) {
      if (change.directory === directory) applyName(this.durableNames, change);
      else waiting.push(change);
    }
    this.unsynced = waiting;
  }

  /** Name changes that a power cut may still undo. */
  unsyncedNames(): readonly { readonly removed: string | undefined; readonly added: string | undefined }[] {
    return this.unsynced;
  }

  /** The disk as found after a power cut now. This disk is not changed. */
  afterCrash(model: PersistenceModel, seed: number): SimulatedDisk {
    const random = new SeededRandom(seed);
    const left = new SimulatedDisk();
    left.capacityBytes = this.capacityBytes;
    const names = new Map(this.durableNames);
    const split = random.below(this.unsynced.length + 1);
    for (const [index, change] of this.unsynced.entries()) {
      if (nameSurvives(model, index, split, random)) applyName(names, change);
    }
    const copies = new Map<SimulatedFile, SimulatedFile>();
    for (const [name, file] of names) {
      const copy = copies.get(file) ?? file.afterCrash(model, random);
      copies.set(file, copy);
      left.names.set(name, copy);
      left.durableNames.set(name, copy);
    }
    return left;
  }

  private change(change: NameChange): void {
    applyName(this.names, change);
    this.unsynced.push(change);
  }
}

function nameSurvives(model: PersistenceModel, index: number, split: number, random: SeededRandom): boolean {
  if (model === 'drop') return false;
  if (model === 'keep') return true;
  if (model === 'tear') return index < split;
  if (model === 'reorder') return index >= split;
  return random.chance(0.5);
}

function applyName(names: Map<string, SimulatedFile>, change: NameChange): void {
  if (change.removed !== undefined) names.delete(change.removed);
  if (change.added !== undefined && change.file !== undefined) names.set(change.added, change.file);
}

function directoryOf(name: string): string {
  const slash = name.lastIndexOf('/');
  return slash < 0 ? '.' : name.slice(0, slash);
}
