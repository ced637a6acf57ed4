// Work beside the hot path, one piece at a time: whatever replaces CURRENT must not overlap with another replacement.

import { WalClosedError } from '../wal-error.js';
import { type Coroutine, runCoroutine } from './coroutine.js';
import type { Callback } from './storage.js';

interface Task {
  start(): void;
  refuse(error: Error): void;
}

export class SerialTaskQueue {
  private queue: Task[] = [];
  private isRunning = false;
  private isClosed = false;

  add<T>(start: () => Coroutine<T>, done: Callback<T>): void {
    if (this.isClosed) {
      done(new WalClosedError('closed'), undefined as never);
      return;
    }
    this.push(start, done);
  }

  /** One last piece after the one that is running; whatever else waits or comes is refused. */
  close<T>(start: () => Coroutine<T>, done: Callback<T>): void {
    this.isClosed = true;
    const refused = this.queue;
    this.queue = [];
    this.push(start, done);
    for (const chore of refused) chore.refuse(new WalClosedError('closed'));
  }

  private push<T>(start: () => Coroutine<T>, done: Callback<T>): void {
    this.queue.push({
      start: () =>
        runCoroutine(start(), (error, value) => {
          this.isRunning = false;
          done(error, value);
          this.next();
        }),
      refuse: (error) => done(error, undefined as never),
    });
    this.next();
  }

  private next(): void {
    if (this.isRunning) return;
    const chore = this.queue.shift();
    if (chore === undefined) return;
    this.isRunning = true;
    chore.start();
  }
}
