/** Chunks of one attempt with consecutive numbers, in a file of the spill. */
export interface SpillPart {
  readonly file: number;
  readonly position: number;
  /** Bytes in the file. */
  readonly bytes: number;
  readonly first: number;
  readonly count: number;
}

/** The parts of one attempt, by the number of their first chunk. They do not overlap; holes are gaps. */
export class SpilledParts {
  bytes = 0;
  private parts: SpillPart[] = [];

  get isEmpty(): boolean {
    return this.parts.length === 0;
  }

  /** The number behind the last chunk; 0: none. */
  get end(): number {
    const last = this.parts.at(-1);
    return last === undefined ? 0 : last.first + last.count;
  }

  get oldest(): SpillPart | undefined {
    return this.parts[0];
  }

  /** In the order of their numbers. */
  add(part: SpillPart): void {
    this.parts.push(part);
    this.bytes += part.bytes;
  }

  /** The part that holds a chunk, or else the next one behind it. */
  at(offset: number): SpillPart | undefined {
    let low = 0;
    let high = this.parts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const part = this.parts[middle] as SpillPart; // middle < length
      if (part.first + part.count <= offset) low = middle + 1;
      else high = middle;
    }
    return this.parts[low];
  }

  removeOldest(): SpillPart | undefined {
    const part = this.parts.shift();
    if (part !== undefined) this.bytes -= part.bytes;
    return part;
  }

  remove(part: SpillPart): boolean {
    const index = this.parts.indexOf(part);
    if (index < 0) return false;
    this.parts.splice(index, 1);
    this.bytes -= part.bytes;
    return true;
  }

  /** All parts in one file. */
  removeFile(file: number): readonly SpillPart[] {
    const removed = this.parts.filter((part) => part.file === file);
    this.parts = this.parts.filter((part) => part.file !== file);
    for (const { bytes } of removed) this.bytes -= bytes;
    return removed;
  }

  clear(): readonly SpillPart[] {
    const { parts } = this;
    this.parts = [];
    this.bytes = 0;
    return parts;
  }
}
