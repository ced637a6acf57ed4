import type { ResourceLimits } from 'node:worker_threads';
import type { Host } from '@troupe/core';
import { findBootModule, NodeThread, ThreadStartError } from '@troupe/threads/thread';
import { failureOf } from '../attempt/attempt-end.js';
import type {
  HandlerAbort,
  HandlerCall,
  HandlerFed,
  HandlerThreadReports,
  HandlerThreadSource,
  HandlerThreads,
  HandlerWindow,
  RunnerChange,
} from './handler-threads.js';
import type { FromHandlerThread, HandlerThreadData, ToHandlerThread } from './thread-messages.js';

export interface NodeHandlerThreadSetup {
  readonly worker: string;
  readonly module: URL;
  readonly count: number;
  readonly graceMs: number;
  readonly resourceLimits: ResourceLimits | undefined;
  readonly host: Pick<Host, 'setTimer'>;
}

/** The threads of one worker, over its incarnations. */
export class NodeHandlerThreads implements HandlerThreadSource {
  readonly count: number;
  readonly graceMs: number;
  /** The names of the jobs, once a thread is up. */
  execs: readonly string[] = [];
  private readonly setup: NodeHandlerThreadSetup;
  private readonly opened = new Set<ThreadSet>();
  private readonly firstUp = new FirstUp();

  constructor(setup: NodeHandlerThreadSetup) {
    this.setup = setup;
    this.count = setup.count;
    this.graceMs = setup.graceMs;
  }

  open(reports: HandlerThreadReports): HandlerThreads {
    const set = new ThreadSet(this.setup, {
      threadUp: (up) => {
        this.execs = up.jobs.map(({ exec }) => exec);
        this.firstUp.settle(null);
        reports.threadUp(up);
      },
      handlerEnded: (ended) => reports.handlerEnded(ended),
      handlerChunks: (chunks) => reports.handlerChunks(chunks),
      handlerProgress: (progress) => reports.handlerProgress(progress),
      handlerFeed: (state) => reports.handlerFeed(state),
      handlerSilence: (silence) => reports.handlerSilence(silence),
      threadRunner: (reported) => reports.threadRunner(reported),
      threadEnded: (ended) => reports.threadEnded(ended),
      startFailed: (error) => this.firstUp.settle(error),
    });
    this.opened.add(set);
    return set;
  }

  /** Resolves when the first thread is up; rejects if a thread could not be started before that. */
  ready(): Promise<void> {
    return this.firstUp.wait();
  }

  /** Every thread has ended. */
  async closed(): Promise<void> {
    await Promise.all(Array.from(this.opened, (set) => set.closed()));
  }
}

interface ThreadSetReports extends HandlerThreadReports {
  startFailed(error: Error): void;
}

interface RunningThread {
  readonly thread: NodeThread;
  isUp: boolean;
  calls: number;
}

/** The threads of one incarnation. */
class ThreadSet implements HandlerThreads {
  private readonly setup: NodeHandlerThreadSetup;
  private readonly reports: ThreadSetReports;
  private readonly running = new Map<number, RunningThread>();
  private isClosed = false;
  private whenEmpty: (() => void)[] = [];

  constructor(setup: NodeHandlerThreadSetup, reports: ThreadSetReports) {
    this.setup = setup;
    this.reports = reports;
  }

  start(thread: number): void {
    if (this.isClosed) return;
    const name = `${this.setup.worker}-handlers-${thread + 1}`;
    try {
      this.running.set(thread, { thread: this.startThread(thread, name), isUp: false, calls: 0 });
    } catch (error) {
      this.startFailed(thread, new ThreadStartError(name, error));
    }
  }

  call(thread: number, call: HandlerCall): void {
    const running = this.running.get(thread);
    if (running === undefined) return; // its end is on its way to the worker
    running.calls += 1;
    running.thread.hold(true);
    this.post(running, { kind: 'call', call });
  }

  abort(thread: number, abort: HandlerAbort): void {
    const running = this.running.get(thread);
    if (running !== undefined) this.post(running, { kind: 'abort', abort });
  }

  changeRunner(thread: number, change: RunnerChange): void {
    const running = this.running.get(thread);
    if (running !== undefined) this.post(running, { kind: 'runner', change });
  }

  openWindow(thread: number, window: HandlerWindow): void {
    const running = this.running.get(thread);
    if (running !== undefined) this.post(running, { kind: 'window', window });
  }

  feed(thread: number, fed: HandlerFed): void {
    const running = this.running.get(thread);
    if (running !== undefined) this.post(running, { kind: 'fed', fed });
  }

  end(thread: number): void {
    this.running.get(thread)?.thread.terminate();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const running of this.running.values()) {
      if (running.isUp) this.post(running, { kind: 'close' });
      else running.thread.terminate();
    }
    if (this.running.size === 0) return;
    const timer = this.setup.host.setTimer(this.setup.graceMs, () => {
      for (const { thread } of this.running.values()) thread.terminate();
    });
    this.whenEmpty.push(() => timer.cancel());
  }

  closed(): Promise<void> {
    if (this.running.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.whenEmpty.push(resolve);
    });
  }

  private startThread(number: number, name: string): NodeThread {
    const { module, resourceLimits } = this.setup;
    const data: HandlerThreadData = { module: module.href };
    return new NodeThread(
      { name, boot: bootModule(name), data, resourceLimits },
      {
        onMessage: (message) => this.received(number, message as FromHandlerThread), // thread-calls.ts posts it
        onEnd: (error) => this.ended(number, name, error),
      },
    );
  }

  private received(number: number, message: FromHandlerThread): void {
    const running = this.running.get(number);
    if (running === undefined || this.isClosed) return;
    switch (message.kind) {
      case 'up':
        running.isUp = true;
        this.holdIfBusy(running);
        return this.reports.threadUp({ thread: number, jobs: message.jobs, runners: message.runners });
      case 'runner':
        return this.reports.threadRunner({ ...message.runner, thread: number });
      case 'ended':
        running.calls -= 1;
        this.holdIfBusy(running);
        return this.reports.handlerEnded({ ...message.ended, thread: number });
      case 'chunks':
        return this.reports.handlerChunks({ ...message.chunks, thread: number });
      case 'progress':
        return this.reports.handlerProgress({ ...message.progress, thread: number });
      case 'feed':
        return this.reports.handlerFeed({ ...message.feed, thread: number });
      case 'silence':
        return this.reports.handlerSilence({ ...message.silence, thread: number });
      default:
        return message satisfies never;
    }
  }

  /** An idle thread is no reason for a process to stay. */
  private holdIfBusy(running: RunningThread): void {
    running.thread.hold(running.calls > 0);
  }

  private ended(thread: number, name: string, error: Error): void {
    const wasUp = this.running.get(thread)?.isUp === true;
    this.running.delete(thread);
    if (this.running.size === 0) for (const resolve of this.whenEmpty.splice(0)) resolve();
    if (this.isClosed) return;
    if (wasUp) this.reports.threadEnded({ thread, failure: failureOf(error) });
    else this.startFailed(thread, new ThreadStartError(name, error.cause ?? error));
  }

  private startFailed(thread: number, error: ThreadStartError): void {
    this.reports.startFailed(error);
    this.reports.threadEnded({ thread, failure: failureOf(error) });
  }

  private post({ thread }: RunningThread, message: ToHandlerThread): void {
    thread.post(message);
  }
}

/** The first settlement counts. A rejection that has no waiter is no unhandled one. */
class FirstUp {
  private outcome: Error | null | undefined = undefined;
  private waiting: ((outcome: Error | null) => void)[] = [];

  settle(outcome: Error | null): void {
    if (this.outcome !== undefined) return;
    this.outcome = outcome;
    for (const waiter of this.waiting.splice(0)) waiter(outcome);
  }

  wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: Error | null): void => (outcome === null ? resolve() : reject(outcome));
      if (this.outcome === undefined) this.waiting.push(settle);
      else settle(this.outcome);
    });
  }
}

function bootModule(thread: string): URL {
  return findBootModule(thread, {
    path: './node-handler-thread-main.js',
    from: import.meta.url,
    entry: '@troupe/jobs/handler-thread',
  });
}
