// Runs the fold on a thread of its own. One that has built a snapshot stays for a while: under load the next snapshot is
// not far, and there the fold is compiled already.

import type { Callback } from '../storage/storage.js';
import type { BuildRequest, BuiltSnapshot, FoldModule, SnapshotBuilder } from './fold.js';
import { SnapshotThread } from './node-snapshot-thread.js';

/** Without work a thread keeps the memory of its last snapshot, so it waits no longer than a log under load lets it. */
const IDLE_MS = 10_000;
/** Behind a large state the next one would be folded before its memory is collected; there is memory for one of them. */
const REUSE_BYTES_MAX = 64 * 1024 * 1024;

export class ThreadSnapshotBuilder implements SnapshotBuilder {
  private readonly dir: string;
  private readonly fold: FoldModule;
  private readonly idleMs: number;
  private readonly reuseBytesMax: number;
  private idle: SnapshotThread | undefined;
  private idleTimer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(dir: string, fold: FoldModule, { idleMs = IDLE_MS, stayBytesMax = REUSE_BYTES_MAX } = {}) {
    this.dir = dir;
    this.fold = fold;
    this.idleMs = idleMs;
    this.reuseBytesMax = stayBytesMax;
  }

  build(request: BuildRequest, done: Callback<BuiltSnapshot>): void {
    // A thread at work is not idle, so a second request meanwhile gets one of its own.
    const thread = this.takeIdle() ?? new SnapshotThread(this.dir, this.fold);
    thread.build(request, (error, snapshot) => {
      // One that failed is in doubt: a state may be half folded and files open.
      if (error === null && snapshot.bytes <= this.reuseBytesMax && !this.isClosed) this.keep(thread);
      else thread.terminate();
      done(error, snapshot);
    });
  }

  /** Nobody comes back: a thread without work ends now, one at work with its answer. */
  close(): void {
    this.isClosed = true;
    this.takeIdle()?.terminate();
  }

  private keep(thread: SnapshotThread): void {
    this.takeIdle()?.terminate();
    this.idle = thread;
    this.idleTimer = setTimeout(() => this.takeIdle()?.terminate(), this.idleMs).unref();
  }

  private takeIdle(): SnapshotThread | undefined {
    clearTimeout(this.idleTimer);
    const thread = this.idle;
    this.idle = undefined;
    return thread?.isAlive ? thread : undefined;
  }
}
