import { ManualHost } from '@troupe/core/testing';
import type { PoolWorker } from '#src/pool/machine/pool-worker.js';
import type { PoolEvent } from '#src/pool/pool-event.js';
import type { PoolOptions } from '#src/pool/pool-options.js';
import type { ExecutorThreads, PoolPorts, PoolThreadReports, SubtaskRequest } from '#src/pool/pool-ports.js';
import type { PoolTask } from '#src/pool/task/pool-task.js';
import type { Tasks } from '#src/pool/task/task-modules.js';
import { ThreadPoolExecutor } from '#src/pool/thread-pool-executor.js';
import { FakePoolThreads } from './fake-pool-threads.js';

/** The functions of the module that a rig's threads pretend to import. */
export interface RigModule {
  a(value?: unknown): string;
  b(value?: unknown): string;
  c(value?: unknown): string;
  d(value?: unknown): string;
  boom(): never;
  items(): AsyncGenerator<number>;
}

/** A pool in virtual time, on threads that do what the test says. */
export class PoolRig {
  readonly host = new ManualHost();
  readonly threads = new RigThreads();
  readonly events: PoolEvent[] = [];
  readonly module: Record<string, unknown> = {};
  readonly pool: ThreadPoolExecutor;
  readonly tasks: Tasks<RigModule>;

  constructor(options: PoolOptions = {}, { listens = true }: { listens?: boolean } = {}) {
    const ports: PoolPorts = {
      host: this.host,
      parallelism: 4,
      openThreads: (_settings, reports) => this.threads.open(reports),
      importModule: async () => this.module,
    };
    const onEvent = listens ? (event: PoolEvent): void => void this.events.push(event) : undefined;
    this.pool = new ThreadPoolExecutor({ onEvent, ...options }, ports);
    this.tasks = this.pool.tasks<RigModule>('file:///rig.js');
  }

  /** All threads that are starting come up. */
  up(): this {
    this.threads.upAll();
    this.host.runCallbacks();
    return this;
  }

  /** The thread of the task takes it up, does it, and reports it. */
  finish(name: string, error: Error | null = null, value: unknown = name): void {
    this.threads.finish(name, error, value);
    this.host.runCallbacks();
  }

  advance(ms: number): void {
    this.host.moveTo(this.host.now() + ms);
    this.host.runCallbacks();
  }

  /** Names of tasks at threads, by thread, in the order of the threads. */
  atThreads(): string[][] {
    return [...this.threads.threads.values()].map(({ atWork, inbox }) =>
      [...(atWork === undefined ? [] : [atWork]), ...inbox].map((task) => task.name),
    );
  }

  kinds(): string[] {
    return this.events.map((event) => event.kind);
  }
}

/** Promises settle in turns of their own. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

class RigThreads extends FakePoolThreads implements ExecutorThreads {
  readonly answers: { readonly id: number; readonly error: Error | null; readonly value: unknown }[] = [];
  private reports: PoolThreadReports | undefined;

  open(reports: PoolThreadReports): this {
    this.reports = reports;
    return this;
  }

  flush(): void {}
  drain(): void {}
  grantItems(): void {}
  subtaskProgressed(): void {}

  answerSubtask(_worker: PoolWorker, id: number, error: Error | null, value: unknown): void {
    this.answers.push({ id, error, value });
  }

  upAll(): void {
    for (const thread of this.threads.values()) {
      if (thread.isUp || thread.isEnding) continue;
      thread.isUp = true;
      this.reports?.up(thread.worker);
    }
  }

  finish(name: string, error: Error | null, value: unknown): void {
    const { thread, task } = this.find(name);
    if (thread.atWork === undefined) this.claim(thread.worker);
    if (thread.atWork !== task) throw new Error(`${name} is not the next task of its thread`);
    thread.atWork = undefined;
    this.reports?.finished(thread.worker, task, error, value);
    this.reports?.drained();
  }

  /** The thread of a task takes it up, and submits another to the pool. */
  submitFrom(name: string, request: SubtaskRequest): void {
    const { thread, task } = this.find(name);
    if (thread.atWork === undefined) this.claim(thread.worker);
    this.reports?.subtask(thread.worker, task, request);
  }

  startStream(name: string): void {
    const { thread, task } = this.find(name);
    this.claim(thread.worker);
    this.reports?.streamStarted(thread.worker, task);
  }

  /** A thread is gone: that of a task, one that is starting, or all that were ended. */
  endThread(name: string, error: Error): void {
    const { thread } = this.find(name);
    if (thread.atWork === undefined) this.claim(thread.worker);
    this.report(thread.worker, error);
  }

  endStarting(error: Error): void {
    for (const thread of [...this.threads.values()]) if (!thread.isUp) this.report(thread.worker, error);
  }

  endEnding(): void {
    for (const thread of [...this.threads.values()]) {
      if (thread.isEnding) this.report(thread.worker, new Error('terminated'));
    }
  }

  private report(worker: PoolWorker, error: Error): void {
    this.reports?.ended(worker, error);
    this.threads.delete(worker);
    this.reports?.drained();
  }

  private find(name: string): { thread: FakeThreadOf; task: PoolTask } {
    for (const thread of this.threads.values()) {
      const task = [thread.atWork, ...thread.inbox].find((one) => one?.name === name);
      if (task !== undefined) return { thread, task };
    }
    throw new Error(`no thread has ${name}`);
  }
}

type FakeThreadOf = FakePoolThreads['threads'] extends Map<PoolWorker, infer T> ? T : never;
