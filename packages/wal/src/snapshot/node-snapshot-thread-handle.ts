// The log's side of a snapshot thread: one request at a time, one reply each.

import { Worker } from 'node:worker_threads';
import { findModuleFile, type ModuleFile, moduleFileRemedy } from '@troupe/core/module-file';
import type { Callback } from '../storage/storage.js';
import { WalSnapshotError } from '../wal-error.js';
import type { BuildRequest, BuiltSnapshot } from './snapshot-builder.js';
import type { FoldModule } from './state-fold.js';

export interface ThreadData {
  readonly dir: string;
  readonly fold: FoldModule;
}

export type ThreadReply =
  | { readonly kind: 'built'; readonly snapshot: BuiltSnapshot }
  | { readonly kind: 'failed'; readonly reason: string };

export class SnapshotThreadHandle {
  private readonly worker: Worker;
  private done: Callback<BuiltSnapshot> | undefined;
  private alive = true;

  constructor(dir: string, fold: FoldModule) {
    const workerData: ThreadData = { dir, fold };
    this.worker = new Worker(bootModule(), { workerData, stdin: false });
    this.worker.on('message', (reply: ThreadReply) => {
      if (reply.kind === 'built') this.answer(null, reply.snapshot);
      else this.fail(reply.reason);
    });
    this.worker.on('error', (error) => this.onExit('the thread failed', error));
    this.worker.on('exit', (code) => this.onExit(`the thread ended with ${code} before it was done`));
  }

  get isAlive(): boolean {
    return this.alive;
  }

  build(request: BuildRequest, done: Callback<BuiltSnapshot>): void {
    this.done = done;
    this.worker.ref();
    this.worker.postMessage(request);
  }

  /** The thread writes nothing any more once `done` is called. */
  terminate(done: () => void = () => undefined): void {
    const ended = (): void => done();
    this.worker.terminate().then(ended, ended);
  }

  private onExit(reason: string, cause?: unknown): void {
    this.alive = false;
    this.fail(reason, cause);
  }

  private fail(reason: string, cause?: unknown): void {
    this.answer(new WalSnapshotError(reason, { cause }), undefined as never);
  }

  private answer(error: Error | null, snapshot: BuiltSnapshot): void {
    const done = this.done;
    this.done = undefined;
    this.worker.unref(); // An idle thread does not keep the process alive.
    done?.(error, snapshot);
  }
}

function bootModule(): URL {
  const file: ModuleFile = {
    path: './node-snapshot-thread-main.js',
    from: import.meta.url,
    entry: '@troupe/wal/snapshot-thread',
  };
  const found = findModuleFile(file);
  if (found === undefined) throw new WalSnapshotError(moduleFileRemedy(file));
  return found;
}
