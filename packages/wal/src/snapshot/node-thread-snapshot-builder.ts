// Runs the fold on a thread of its own. One that has built a snapshot stays for a while: under load the next snapshot is
// not far, and there the fold is compiled already.

import type { Done } from '../storage/storage.js';
import type { BuildRequest, BuiltSnapshot, FoldModule, SnapshotBuilder } from './fold.js';
import { ThreadHandle } from './node-snapshot-thread.js';

/** Without work a thread keeps the memory of its last snapshot, so it waits no longer than a log under load lets it. */
const IDLE_MS = 10_000;
/** Behind a large state the next one would be folded before its memory is collected; there is memory for one of them. */
const STAY_BYTES_MAX = 64 * 1024 * 1024;

export class ThreadSnapshotBuilder implements SnapshotBuilder {
  private readonly dir: string;
  private readonly fold: FoldModule;
  private readonly idleMs: number;
  private readonly stayBytesMax: number;
  private idle: ThreadHandle | undefined;
  private idleTimer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(dir: string, fold: FoldModule, { idleMs = IDLE_MS, stayBytesMax = STAY_BYTES_MAX } = {}) {
    this.dir = dir;
    this.fold = fold;
    this.idleMs = idleMs;
    this.stayBytesMax = stayBytesMax;
  }

  build(request: BuildRequest, done: Done<BuiltSnapshot>): void {
    // A thread at work is not idle, so a second request meanwhile gets one of its own.
    const thread = this.takeIdle() ?? new ThreadHandle(this.dir, this.fold);
    thread.build(request, (error, snapshot) => {
      // One that failed is in doubt: a state may be half folded and files open.
      if (error === null && snapshot.bytes <= this.stayBytesMax && !this.isClosed) this.keep(thread);
      else thread.end();
      done(error, snapshot);
    });
  }

  /** Nobody comes back: a thread without work ends now, one at work with its answer. */
  close(): void {
    this.isClosed = true;
    this.takeIdle()?.end();
  }

  private keep(thread: ThreadHandle): void {
    this.takeIdle()?.end();
    this.idle = thread;
    this.idleTimer = setTimeout(() => this.takeIdle()?.end(), this.idleMs).unref();
  }

  private takeIdle(): ThreadHandle | undefined {
    clearTimeout(this.idleTimer);
    const thread = this.idle;
    this.idle = undefined;
    return thread?.isAlive ? thread : undefined;
  }
}
