// A blob that arrives in pieces. Two blocks of it are in memory, one being filled, one being written, and those behind them as long as
// there is room for blobs that are read soon.

import { createHash } from 'node:crypto';
import type { BlobRef } from '../format/record.js';
import { call, type Procedure, run } from '../storage/coroutine.js';
import { removeIfThere, syncFile, writeFully } from '../storage/file-operations.js';
import type { Done, Storage, StorageFile } from '../storage/storage.js';
import type { WarmBlobs } from './blob-cache.js';
import type { BlockPool } from './block-pool.js';

export interface BlobWriterParts {
  readonly storage: Storage;
  readonly pool: BlockPool;
  readonly warm: WarmBlobs;
  readonly draft: string;
  /** Gives the synced draft its name. */
  readonly publish: (draft: string, ref: BlobRef, done: Done<void>) => void;
  /** What a failure means for the log. */
  readonly judge: (error: Error, bytes: number) => Error;
}

interface Held {
  readonly chunk: Uint8Array;
  readonly done: (error: Error | null) => void;
}

export class BlobWriter {
  private readonly parts: BlobWriterParts;
  private readonly hash = createHash('sha256');
  private file: StorageFile | undefined;
  private block: Buffer | undefined;
  /** All blocks written so far, or nothing: half a blob is of no use. */
  private kept: Buffer[] | undefined = [];
  private filled = 0;
  private position = 0;
  private isWriting = true;
  private held: Held[] = [];
  private onFinished: Done<BlobRef> | undefined;
  private error: Error | undefined;
  private isOver = false;

  constructor(parts: BlobWriterParts) {
    this.parts = parts;
    parts.storage.open(parts.draft, 'create', (error, file) => {
      if (error === null) this.file = file;
      this.wrote(error);
    });
  }

  /** Copies the chunk. `done`, now or later: more may come. Those that wait keep their order. */
  write(chunk: Uint8Array, done: (error: Error | null) => void): void {
    if (this.error !== undefined || this.isOver) return done(this.error ?? new Error('the blob is closed'));
    if (this.held.length > 0) this.held.push({ chunk, done });
    else this.take({ chunk, done });
  }

  /** Durable and under its name when `done` is called. Then a record may refer to it. */
  finish(done: Done<BlobRef>): void {
    this.onFinished = done;
    this.go();
  }

  /** What came so far is not wanted. */
  abandon(): void {
    this.error ??= new Error('the blob was given up');
    this.go();
  }

  private take({ chunk, done }: Held): void {
    let at = 0;
    while (at < chunk.length) {
      this.block ??= this.parts.pool.take();
      const room = this.block.length - this.filled;
      const part = chunk.subarray(at, at + room);
      this.block.set(part, this.filled);
      this.filled += part.length;
      at += part.length;
      if (this.filled < this.block.length) break;
      if (this.isWriting) {
        this.held.unshift({ chunk: chunk.subarray(at), done });
        return;
      }
      this.writeBlock();
    }
    done(null);
  }

  /** Hashed while the disk works. */
  private writeBlock(): void {
    const block = this.block as Buffer;
    const bytes = block.subarray(0, this.filled);
    const position = this.position;
    this.block = undefined;
    this.filled = 0;
    this.position += bytes.length;
    this.isWriting = true;
    run(writeFully(this.parts.storage, this.file as StorageFile, bytes, position), (error) => {
      this.keep(block);
      this.wrote(error);
    });
    this.hash.update(bytes);
  }

  private keep(block: Buffer): void {
    const { pool, warm } = this.parts;
    if (this.kept !== undefined && warm.admit()) {
      this.kept.push(block);
      return;
    }
    pool.give(block);
    this.forget();
  }

  private forget(): void {
    if (this.kept !== undefined) this.parts.warm.drop(this.kept);
    this.kept = undefined;
  }

  private wrote(error: Error | null): void {
    this.isWriting = false;
    if (error !== null) this.error ??= this.parts.judge(error, this.position);
    this.go();
  }

  private go(): void {
    if (this.isWriting || this.isOver) return;
    if (this.error !== undefined) return this.giveUp(this.error);
    if (this.held.length > 0) {
      this.writeBlock();
      // As much as the next block holds; the rest waits for this one.
      for (let held = this.held.shift(); held !== undefined; held = this.held.shift()) {
        const waiting = this.held.length;
        this.take(held);
        if (this.held.length > waiting) return;
      }
      return;
    }
    if (this.onFinished === undefined) return;
    if (this.filled > 0) this.writeBlock();
    else this.seal(this.onFinished);
  }

  private seal(done: Done<BlobRef>): void {
    const { storage, draft, publish } = this.parts;
    const file = this.file as StorageFile;
    this.isOver = true;
    const ref: BlobRef = { sha256: this.hash.digest('hex'), bytes: this.position };
    const close = function* (): Procedure<void> {
      yield* syncFile(storage, file);
      yield* call<void>((closed) => storage.close(file, closed));
    };
    const finished = (error: Error | null): void => {
      if (error !== null) {
        this.forget();
        return done(this.parts.judge(error, ref.bytes), ref);
      }
      if (this.kept !== undefined) this.parts.warm.keep(ref, this.kept);
      done(null, ref);
    };
    run(close(), (error) => {
      if (error === null) publish(draft, ref, finished);
      else finished(error);
    });
  }

  private giveUp(error: Error): void {
    this.isOver = true;
    this.forget();
    const { storage, draft } = this.parts;
    const file = this.file;
    const held = this.held;
    this.held = [];
    const finish = this.onFinished;
    const told = (): void => {
      for (const one of held) one.done(error);
      finish?.(error, undefined as never);
    };
    if (file === undefined) return told();
    // A draft that cannot be removed is only space, and the next open removes it.
    storage.close(file, () => run(removeIfThere(storage, draft), told));
  }
}
