// Builds snapshots on a thread of its own. The thread is kept for a while after a snapshot: under load the
// next one comes soon, and its fold is compiled already.

import type { Callback } from '../storage/storage.js';
import { SnapshotThreadHandle } from './node-snapshot-thread-handle.js';
import type { BuildRequest, BuiltSnapshot, SnapshotBuilder } from './snapshot-builder.js';
import type { FoldModule } from './state-fold.js';

/** An idle thread keeps the memory of its last snapshot, so it does not stay for long. */
const IDLE_MS = 10_000;
/** After a larger snapshot the thread ends, which frees the memory of the folded state. */
const REUSE_BYTES_MAX = 64 * 1024 * 1024;

export class ThreadSnapshotBuilder implements SnapshotBuilder {
  private readonly dir: string;
  private readonly fold: FoldModule;
  private readonly idleMs: number;
  private readonly reuseBytesMax: number;
  private idle: SnapshotThreadHandle | undefined;
  private idleTimer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(dir: string, fold: FoldModule, { idleMs = IDLE_MS, reuseBytesMax = REUSE_BYTES_MAX } = {}) {
    this.dir = dir;
    this.fold = fold;
    this.idleMs = idleMs;
    this.reuseBytesMax = reuseBytesMax;
  }

  build(request: BuildRequest, done: Callback<BuiltSnapshot>): void {
    // A busy thread is not idle, so a concurrent request gets a thread of its own.
    const thread = this.takeIdle() ?? new SnapshotThreadHandle(this.dir, this.fold);
    thread.build(request, (error, snapshot) => {
      // After a failure the thread may have open files, so it is not reused.
      if (error === null && snapshot.bytes <= this.reuseBytesMax && !this.isClosed) this.keep(thread);
      else thread.terminate();
      done(error, snapshot);
    });
  }

  /** Ends an idle thread now, and a busy one after its reply. */
  close(): void {
    this.isClosed = true;
    this.takeIdle()?.terminate();
  }

  private keep(thread: SnapshotThreadHandle): void {
    this.takeIdle()?.terminate();
    this.idle = thread;
    this.idleTimer = setTimeout(() => this.takeIdle()?.terminate(), this.idleMs).unref();
  }

  private takeIdle(): SnapshotThreadHandle | undefined {
    clearTimeout(this.idleTimer);
    const thread = this.idle;
    this.idle = undefined;
    return thread?.isAlive ? thread : undefined;
  }
}
