// The threads of a pool on worker_threads: messages in batches, ends of tasks in shared memory. Hot path.

import { availableParallelism } from 'node:os';
import { nodeHost } from '@troupe/core';
import { AdaptiveSpin } from '../../thread/adaptive-spin.js';
import { errorRecord } from '../../thread/error-record.js';
import { findBootModule } from '../../thread/node-boot-module.js';
import { ThreadStartError } from '../../thread/thread-errors.js';
import type { PoolWorker } from '../machine/pool-worker.js';
import { TaskCancelledError } from '../pool-errors.js';
import type { PoolSettings } from '../pool-options.js';
import type { ExecutorThreads, PoolPorts, PoolThreadReports } from '../pool-ports.js';
import type { PoolTask } from '../task/pool-task.js';
import { ThreadLink } from './node-thread-link.js';

/** Looks for news in one turn of the event loop: some microseconds. */
const LOOKS_PER_TURN = 64;

const clock = globalThis.performance;

export const nodePoolPorts: PoolPorts = {
  host: nodeHost,
  parallelism: availableParallelism(),
  openThreads: (settings, reports) => new NodePoolThreads(settings, reports),
  importModule: (url) => import(/* webpackIgnore: true */ url) as Promise<Readonly<Record<string, unknown>>>, // a module namespace
};

class NodePoolThreads implements ExecutorThreads {
  private readonly settings: PoolSettings;
  private readonly reports: PoolThreadReports;
  private readonly links = new Map<PoolWorker, ThreadLink>();
  private readonly poolAwake = new SharedArrayBuffer(4);
  private readonly awake = new Int32Array(this.poolAwake);
  /** Links with tasks that are not sent yet. */
  private touched: ThreadLink[] = [];
  private polling = false;
  private readonly spin = new AdaptiveSpin();

  constructor(settings: PoolSettings, reports: PoolThreadReports) {
    this.settings = settings;
    this.reports = reports;
  }

  start(worker: PoolWorker): void {
    try {
      const link = new ThreadLink(worker, {
        boot: bootModule(worker.name),
        poolAwake: this.poolAwake,
        resourceLimits: this.settings.resourceLimits,
        reports: this.reports,
        onNews: () => this.onNews(),
        onEnd: (error) => this.onEnd(worker, error),
      });
      this.links.set(worker, link);
    } catch (error) {
      throw error instanceof ThreadStartError ? error : new ThreadStartError(worker.name, error);
    }
  }

  run(worker: PoolWorker, task: PoolTask): void {
    const link = this.links.get(worker);
    if (link?.add(task)) this.touched.push(link);
  }

  stage(worker: PoolWorker, task: PoolTask): void {
    this.run(worker, task);
  }

  withdraw(worker: PoolWorker, task: PoolTask): boolean {
    return this.links.get(worker)?.withdraw(task) ?? true;
  }

  cancel(worker: PoolWorker, task: PoolTask): void {
    const link = this.links.get(worker);
    link?.cancel(task);
    const reason = errorRecord(new TaskCancelledError(task.name));
    link?.post({ kind: 'cancel', slot: task.slot, tag: task.tag, reason });
  }

  end(worker: PoolWorker): void {
    this.links.get(worker)?.terminate();
  }

  flush(): void {
    const { touched } = this;
    this.touched = [];
    for (const link of touched) link.flush();
    this.poll();
  }

  drain(worker: PoolWorker): void {
    if (this.links.get(worker)?.drain()) this.reports.drained();
  }

  grantItems(worker: PoolWorker, { slot, tag }: PoolTask, count: number): void {
    this.links.get(worker)?.post({ kind: 'items', slot, tag, count });
  }

  answerSubtask(worker: PoolWorker, id: number, error: Error | null, value: unknown): void {
    const link = this.links.get(worker);
    try {
      link?.post({
        kind: 'subtask-ended',
        id,
        error: error === null ? undefined : errorRecord(error),
        value,
      });
    } catch (refusal) {
      link?.post({ kind: 'subtask-ended', id, error: errorRecord(refusal), value: undefined });
    }
  }

  subtaskProgressed(worker: PoolWorker, id: number, value: unknown): void {
    this.links.get(worker)?.post({ kind: 'subtask-progress', id, value });
  }

  /** A thread has rung: look at once, then a few turns more. */
  private onNews(): void {
    this.spin.woken(clock.now());
    if (this.drainAll()) this.spin.found(clock.now());
    this.poll();
  }

  private onEnd(worker: PoolWorker, error: Error): void {
    const link = this.links.get(worker);
    // Its reports count, also if it ended right after them.
    link?.drain();
    this.reports.ended(worker, error);
    this.links.delete(worker);
    link?.close();
    this.reports.drained();
  }

  private poll(): void {
    const { spin } = this;
    spin.begin(clock.now());
    if (this.polling) return;
    if (!spin.isOff) return this.startTurns();
    spin.slept();
    this.sleep();
  }

  private startTurns(): void {
    this.polling = true;
    Atomics.store(this.awake, 0, 1);
    setImmediate(this.turn);
  }

  private readonly turn = (): void => {
    const { spin } = this;
    if (this.look()) spin.found(clock.now());
    else if (this.isIdle()) return this.sleep();
    else if (spin.isSpent(clock.now())) {
      spin.slept();
      return this.sleep();
    }
    setImmediate(this.turn);
  };

  private look(): boolean {
    if (this.drainAll()) return true;
    for (let left = LOOKS_PER_TURN; left > 0; left -= 1)
      for (const link of this.links.values()) if (link.hasNews) return this.drainAll();
    return false;
  }

  /** Threads ring from now on. News that came meanwhile are not missed. */
  private sleep(): void {
    this.polling = false;
    Atomics.store(this.awake, 0, 0);
    for (const link of this.links.values()) {
      link.hold(!link.isIdle);
      if (link.hasNews) return this.startTurns();
    }
  }

  private isIdle(): boolean {
    for (const link of this.links.values()) if (!link.isIdle) return false;
    return true;
  }

  private drainAll(): boolean {
    let news = false;
    for (const link of this.links.values()) if (link.drain()) news = true;
    if (news) this.reports.drained();
    return news;
  }
}

function bootModule(thread: string): URL {
  return findBootModule(thread, {
    path: './node-pool-thread-main.js',
    from: import.meta.url,
    entry: '@troupe/threads/pool-thread',
  });
}
