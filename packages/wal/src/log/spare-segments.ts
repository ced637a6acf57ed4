// Segments that are no longer needed, kept for their blocks. They are drafts by name, so a crash forgets them.

import { segmentName, segmentSeqOf } from '../format/segment-header.js';
import { call, type Procedure } from '../storage/procedure.js';
import type { Storage } from '../storage/storage.js';

const SPARES_MAX = 2;

export class SpareSegments {
  readonly #storage: Storage;
  readonly #bytes: number;
  readonly #names: string[] = [];

  /** Only files of exactly so many bytes are kept. */
  constructor(storage: Storage, bytes: number) {
    this.#storage = storage;
    this.#bytes = bytes;
  }

  /** False if the file is of no use here. */
  *keep(name: string): Procedure<boolean> {
    const seq = segmentSeqOf(name);
    if (seq === undefined || this.#names.length >= SPARES_MAX) return false;
    const bytes = yield* call<number | undefined>((done) => this.#storage.size(name, done));
    if (bytes !== this.#bytes) return false;
    const spare = `spare-${segmentName(seq)}.tmp`;
    yield* call<void>((done) => this.#storage.rename(name, spare, done));
    this.#names.push(spare);
    return true;
  }

  take(): string | undefined {
    return this.#names.shift();
  }
}
