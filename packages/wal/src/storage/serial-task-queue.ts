// Background tasks, one at a time, in order: two replacements of CURRENT must not overlap.

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

  /** Adds the last task, which runs after the current one. Queued tasks and later ones are refused. */
  close<T>(start: () => Coroutine<T>, done: Callback<T>): void {
    this.isClosed = true;
    const refused = this.queue;
    this.queue = [];
    this.push(start, done);
    for (const task of refused) task.refuse(new WalClosedError('closed'));
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
    const task = this.queue.shift();
    if (task === undefined) return;
    this.isRunning = true;
    task.start();
  }
}
