// Builds snapshots on a thread of its own. The thread is kept for a while after a snapshot: under load the
// next one comes soon, and its fold is compiled already.

import type { Callback } from '../storage/storage.js';
import type { WalSnapshotError } from '../wal-error.js';
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
  /** Threads that may write to the directory. */
  private readonly threads = new Set<SnapshotThreadHandle>();
  private endedCallback: (() => void) | undefined;

  constructor(dir: string, fold: FoldModule, { idleMs = IDLE_MS, reuseBytesMax = REUSE_BYTES_MAX } = {}) {
    this.dir = dir;
    this.fold = fold;
    this.idleMs = idleMs;
    this.reuseBytesMax = reuseBytesMax;
  }

  build(request: BuildRequest, done: Callback<BuiltSnapshot>): void {
    // A busy thread is not idle, so a concurrent request gets a thread of its own.
    let thread: SnapshotThreadHandle;
    try {
      thread = this.takeIdle() ?? new SnapshotThreadHandle(this.dir, this.fold);
    } catch (error) {
      return done(error as WalSnapshotError, undefined as never); // a bundle without the thread's file
    }
    this.threads.add(thread);
    thread.build(request, (error, snapshot) => {
      // After a failure the thread may have open files, so it is not reused.
      if (error === null && snapshot.bytes <= this.reuseBytesMax && !this.isClosed) this.keep(thread);
      else this.terminate(thread);
      done(error, snapshot);
    });
  }

  /** Ends all threads, busy ones too: a snapshot that is not complete is worth nothing. */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.idleTimer);
    for (const thread of this.threads) this.terminate(thread);
  }

  /** Calls back once no thread can write to the directory any more. */
  whenEnded(run: () => void): void {
    if (this.threads.size === 0) run();
    else this.endedCallback = run;
  }

  private terminate(thread: SnapshotThreadHandle): void {
    thread.terminate(() => {
      this.threads.delete(thread);
      if (this.threads.size > 0) return;
      const run = this.endedCallback;
      this.endedCallback = undefined;
      run?.();
    });
  }

  private keep(thread: SnapshotThreadHandle): void {
    this.terminateIdle();
    this.idle = thread;
    this.idleTimer = setTimeout(() => this.terminateIdle(), this.idleMs).unref();
  }

  private terminateIdle(): void {
    const thread = this.takeIdle();
    if (thread !== undefined) this.terminate(thread);
  }

  private takeIdle(): SnapshotThreadHandle | undefined {
    clearTimeout(this.idleTimer);
    const thread = this.idle;
    this.idle = undefined;
    if (thread?.isAlive === true) return thread;
    if (thread !== undefined) this.threads.delete(thread);
    return undefined;
  }
}
