// The storage port on a simulated disk. A test decides at every call: perform it, fail it, cut it short, or
// crash there.

import type { SeededRandom } from '@troupe/core/testing';
import type { Callback, OpenMode, Storage, StorageFile } from '../storage/storage.js';
import { WalLockedError } from '../wal-error.js';
import { SimulatedDisk } from './simulated-disk.js';
import type { SimulatedFile } from './simulated-file.js';

export type StorageOperation = Exclude<keyof Storage, 'writeDurable' | 'readNow'>;

export interface StorageCall {
  /** Counts from 0. `writeDurable` is two calls, a write and a sync. */
  readonly index: number;
  readonly operation: StorageOperation;
  readonly name: string;
  /** Bytes read, written or truncated to. */
  readonly bytes: number;
  readonly position: number;
}

export type Fault =
  | { readonly kind: 'error'; readonly errno: string }
  /** A write of only this many bytes. */
  | { readonly kind: 'short'; readonly bytes: number }
  /** No call is performed or completed any more, from before or from after this one. */
  | { readonly kind: 'crash'; readonly when: 'before' | 'after' };

export interface FaultyStorageOptions {
  readonly disk?: SimulatedDisk | undefined;
  /** The fault to inject into a call. */
  readonly fault?: ((call: StorageCall) => Fault | undefined) | undefined;
  /** Called after a call has changed the disk and before its callback. */
  readonly afterCall?: ((call: StorageCall) => void) | undefined;
  /**
   * Another process that does not see the lock: it opens a directory in use. Both storages must have the same
   * disk.
   */
  readonly ignoresLock?: boolean | undefined;
  /** Completes concurrent calls in random order instead of the order they were made. */
  readonly shuffle?: SeededRandom | undefined;
  /** Schedules the completion of a call. Default: in `run()`. */
  readonly schedule?: ((complete: () => void, call: StorageCall) => void) | undefined;
}

interface SimulatedHandle extends StorageFile {
  readonly file: SimulatedFile;
}

export class FaultyStorage implements Storage {
  readonly disk: SimulatedDisk;
  readonly calls: StorageCall[] = [];
  isCrashed = false;
  /** The name that `networkFileSystem` passes. */
  networkName: string | undefined;
  private readonly fault: (call: StorageCall) => Fault | undefined;
  private readonly schedule: (complete: () => void, call: StorageCall) => void;
  private readonly afterCall: (call: StorageCall) => void;
  private readonly shuffle: SeededRandom | undefined;
  private readonly ignoresLock: boolean;
  private due: (() => void)[] = [];

  constructor(options: FaultyStorageOptions = {}) {
    this.disk = options.disk ?? new SimulatedDisk();
    this.shuffle = options.shuffle;
    this.ignoresLock = options.ignoresLock ?? false;
    this.fault = options.fault ?? (() => undefined);
    this.afterCall = options.afterCall ?? (() => undefined);
    this.schedule = options.schedule ?? ((complete) => this.due.push(complete));
  }

  /** Completes pending calls, at most `callsMax`; returns their number. */
  run(callsMax = Number.POSITIVE_INFINITY): number {
    let completed = 0;
    while (this.due.length > 0 && completed < callsMax && !this.isCrashed) {
      const [complete] = this.due.splice(this.shuffle?.below(this.due.length) ?? 0, 1);
      complete?.();
      completed += 1;
    }
    return completed;
  }

  crash(): void {
    this.isCrashed = true;
    this.due = [];
  }

  /** The process is gone, the machine is not: pending calls never complete, and the lock is free. */
  killProcess(): void {
    this.due = [];
    this.disk.isLocked = false;
  }

  lock(done: Callback<string | undefined>): void {
    this.call('lock', 'LOCK', done, () => {
      if (this.disk.isLocked && !this.ignoresLock) throw new WalLockedError('another log of this simulation');
      this.disk.isLocked = true;
      return undefined;
    });
  }

  unlock(done: Callback): void {
    this.call('unlock', 'LOCK', done, () => {
      this.disk.isLocked = false;
    });
  }

  open(name: string, mode: OpenMode, done: Callback<StorageFile>): void {
    this.call('open', name, done, () => {
      const existing = this.disk.file(name);
      if (mode === 'create' && existing !== undefined) throw errno('EEXIST', name);
      if (mode !== 'create' && existing === undefined) throw errno('ENOENT', name);
      const handle: SimulatedHandle = { name, file: existing ?? this.disk.create(name) };
      return handle;
    });
  }

  close(file: StorageFile, done: Callback): void {
    this.call('close', file.name, done, () => undefined);
  }

  read(file: StorageFile, into: Uint8Array, position: number, done: Callback<number>): void {
    this.call(
      'read',
      file.name,
      done,
      () => copyFrom(contentOf(file), into, position),
      into.length,
      position,
    );
  }

  readNow(file: StorageFile, into: Uint8Array, position: number): number {
    return copyFrom(contentOf(file), into, position);
  }

  write(file: StorageFile, bytes: Uint8Array, position: number, done: Callback<number>): void {
    this.call(
      'write',
      file.name,
      done,
      (limit) => this.writeUpTo(file, bytes, position, limit),
      bytes.length,
      position,
    );
  }

  writeDurable(file: StorageFile, bytes: Uint8Array, position: number, done: Callback<number>): void {
    this.write(file, bytes, position, (error, written) => {
      if (error !== null) done(error, written);
      else this.sync(file, (syncError) => done(syncError, written));
    });
  }

  sync(file: StorageFile, done: Callback): void {
    const handle = file as SimulatedHandle; // every handle comes from open()
    const failed: Callback = (error) => {
      if (error !== null) handle.file.failSync();
      done(error);
    };
    this.call('sync', file.name, failed, () => handle.file.sync());
  }

  size(name: string, done: Callback<number | undefined>): void {
    this.call('size', name, done, () => this.disk.file(name)?.content.length);
  }

  truncate(name: string, bytes: number, done: Callback): void {
    this.call('truncate', name, done, () => this.existing(name).truncate(bytes), bytes);
  }

  rename(from: string, to: string, done: Callback): void {
    this.call('rename', `${from} ${to}`, done, () => {
      this.existing(from);
      this.disk.rename(from, to);
    });
  }

  unlink(name: string, done: Callback): void {
    this.call('unlink', name, done, () => {
      this.existing(name);
      this.disk.unlink(name);
    });
  }

  mkdir(name: string, done: Callback): void {
    this.call('mkdir', name, done, () => undefined);
  }

  list(directory: string, done: Callback<string[]>): void {
    this.call('list', directory, done, () => this.disk.list(directory));
  }

  syncDir(directory: string, done: Callback): void {
    this.call('syncDir', directory, done, () => this.disk.syncDir(directory));
  }

  networkFileSystem(done: Callback<string | undefined>): void {
    this.call('networkFileSystem', '.', done, () => this.networkName);
  }

  freeBytes(done: Callback<number | undefined>): void {
    this.call('freeBytes', '.', done, () => {
      const free = this.disk.capacityBytes - this.disk.usedBytes;
      return Number.isFinite(free) ? free : undefined;
    });
  }

  private call<T>(
    operation: StorageOperation,
    name: string,
    done: Callback<T>,
    effect: (limit: number) => T,
    bytes = 0,
    position = 0,
  ): void {
    if (this.isCrashed) return;
    const call: StorageCall = { index: this.calls.length, operation, name, bytes, position };
    this.calls.push(call);
    const fault = this.fault(call);
    if (fault?.kind === 'crash' && fault.when === 'before') {
      this.crash();
      return;
    }
    const complete = this.perform(fault, name, done, effect);
    this.afterCall(call);
    if (fault?.kind === 'crash') this.crash();
    else this.schedule(() => (this.isCrashed ? undefined : complete()), call);
  }

  private perform<T>(
    fault: Fault | undefined,
    name: string,
    done: Callback<T>,
    effect: (limit: number) => T,
  ): () => void {
    try {
      if (fault?.kind === 'error') throw errno(fault.errno, name);
      const value = effect(fault?.kind === 'short' ? fault.bytes : Number.POSITIVE_INFINITY);
      return () => done(null, value);
    } catch (error) {
      return () => done(error as Error, undefined as never);
    }
  }

  private writeUpTo(file: StorageFile, bytes: Uint8Array, position: number, limit: number): number {
    const content = contentOf(file);
    const growth = Math.max(0, position + bytes.length - content.length);
    const free = this.disk.capacityBytes - this.disk.usedBytes;
    if (growth > free) throw errno('ENOSPC', file.name);
    const taken = bytes.subarray(0, Math.min(bytes.length, limit));
    (file as SimulatedHandle).file.write(taken, position);
    return taken.length;
  }

  private existing(name: string): SimulatedFile {
    const file = this.disk.file(name);
    if (file === undefined) throw errno('ENOENT', name);
    return file;
  }
}

function copyFrom(content: Buffer, into: Uint8Array, position: number): number {
  return position < content.length ? content.copy(into, 0, position) : 0;
}

function contentOf(file: StorageFile): Buffer {
  return (file as SimulatedHandle).file.content; // every handle comes from open()
}

function errno(code: string, name: string): Error {
  return Object.assign(new Error(`${code}: ${name}`), { code });
}
