import type { JobStream } from './job-stream.js';
import type { SpillPart } from './spilled-parts.js';

/** A part is at least so large for the bounds: its place in memory counts, too. */
const PART_BYTES_MIN = 1_024;

interface SpillFile {
  readonly number: number;
  bytes: number;
  /** Parts in use, by stream. */
  readonly parts: Map<JobStream, number>;
  isSealed: boolean;
}

export interface SpillBounds {
  readonly spillBytesMax: number;
  readonly spillBytesPerIdentityMax: number;
}

/** The files of the spill, their sizes, and the streams that have parts in them. */
export class SpillFiles {
  /** Bytes of all files, parts that are not used any more included. */
  bytes = 0;
  private readonly bounds: SpillBounds;
  private readonly files = new Map<number, SpillFile>();
  /** Bytes of parts in use, by identity. */
  private readonly usage = new Map<string, number>();
  private readonly unused = new Set<number>();

  constructor(bounds: SpillBounds) {
    this.bounds = bounds;
  }

  has(number: number): boolean {
    return this.files.has(number);
  }

  open(number: number): void {
    this.files.set(number, { number, bytes: 0, parts: new Map(), isSealed: false });
  }

  /** It is written no more. */
  seal(number: number): void {
    const file = this.files.get(number);
    if (file === undefined) return;
    file.isSealed = true;
    if (file.parts.size === 0) this.unused.add(number);
  }

  /** Bytes were written to it. */
  grow(number: number, bytes: number): void {
    const file = this.files.get(number);
    if (file === undefined) return;
    file.bytes += bytes;
    this.bytes += bytes;
  }

  use(stream: JobStream, { file: number, bytes }: SpillPart): void {
    const parts = this.files.get(number)?.parts;
    parts?.set(stream, (parts.get(stream) ?? 0) + 1);
    const { identity } = stream;
    this.usage.set(identity, (this.usage.get(identity) ?? 0) + Math.max(bytes, PART_BYTES_MIN));
  }

  /** The stream has dropped a part. */
  release(stream: JobStream, { file: number, bytes }: SpillPart): void {
    const { identity } = stream;
    const used = (this.usage.get(identity) ?? 0) - Math.max(bytes, PART_BYTES_MIN);
    if (used <= 0) this.usage.delete(identity);
    else this.usage.set(identity, used);
    const file = this.files.get(number);
    if (file === undefined) return;
    const left = (file.parts.get(stream) ?? 0) - 1;
    if (left > 0) file.parts.set(stream, left);
    else file.parts.delete(stream);
    if (file.isSealed && file.parts.size === 0) this.unused.add(number);
  }

  /** Whether the files may hold so much more. Makes room where a stream would rather lose parts. */
  hasRoomFor(stream: JobStream, bytes: number): boolean {
    const counted = Math.max(bytes, PART_BYTES_MIN);
    const { spillBytesMax, spillBytesPerIdentityMax } = this.bounds;
    while (stream.parts.bytes + counted > stream.policy.spillBytes) {
      const part = stream.takeDroppablePart();
      if (part === undefined) return false;
      this.release(stream, part);
    }
    if ((this.usage.get(stream.identity) ?? 0) + counted > spillBytesPerIdentityMax) return false;
    while (this.bytes + counted > spillBytesMax) if (!this.evictOldest()) return false;
    return true;
  }

  /** Files without a part in use. Each is taken once. */
  takeUnused(): number[] {
    const numbers = [...this.unused];
    this.unused.clear();
    for (const number of numbers) {
      this.bytes -= this.files.get(number)?.bytes ?? 0;
      this.files.delete(number);
    }
    return numbers;
  }

  /** The oldest file whose streams have ended, or drop their oldest chunks rather than wait. */
  private evictOldest(): boolean {
    for (const file of this.files.values()) {
      const isKept = [...file.parts.keys()].some((stream) => !stream.mayLoseParts);
      if (!file.isSealed || isKept || this.unused.has(file.number)) continue;
      for (const stream of [...file.parts.keys()])
        for (const part of stream.parts.removeFile(file.number)) this.release(stream, part);
      this.bytes -= file.bytes;
      file.bytes = 0;
      return true;
    }
    return this.dropUnusedBytes();
  }

  /** Files that wait for their record to be removed take no room. */
  private dropUnusedBytes(): boolean {
    let dropped = 0;
    for (const number of this.unused) {
      const file = this.files.get(number);
      if (file === undefined) continue;
      dropped += file.bytes;
      file.bytes = 0;
    }
    this.bytes -= dropped;
    return dropped > 0;
  }
}
