// The loop of a pool thread. Hot path. One task at a time; between tasks the thread looks for more, a few
// turns of its event loop long, then sleeps until it is woken.

import { type MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { AdaptiveSpin } from '../../thread/adaptive-spin.js';
import { errorOf } from '../../thread/error-record.js';
import { importModule } from '../../thread/node-import-module.js';
import { transferListOf } from '../../value/transfer.js';
import {
  type KnownError,
  type PoolThreadData,
  TASK_ELEMENTS,
  type ToThread,
  WANTS_PROGRESS,
} from '../memory/thread-messages.js';
import { AWAKE, BLOCKED, LOOPING, SENT, SLEEP, ThreadWords } from '../memory/thread-words.js';
import { runInTask } from '../task/current-task.js';
import type { TaskTarget } from '../task/pool-task.js';
import type { TaskCall } from '../task/task-modules.js';
import { STREAM_AHEAD } from '../task/task-stream.js';
import { findFunction, isAsyncIterable, isThenable, type TaskFunction } from './find-function.js';
import { OpenSubtasks } from './open-subtasks.js';
import { TaskReports } from './task-reports.js';
import { type TaskSurroundings, ThreadTask } from './thread-task.js';

/** Looks for a task in one turn of the event loop: some microseconds. */
const LOOKS_PER_TURN = 64;
/** Tasks in one turn of the event loop, so that streams and timers of the thread go on. */
const TASKS_PER_TURN = 256;

const clock = globalThis.performance;

interface DefinedFunction {
  readonly target: TaskTarget;
  run: TaskFunction | undefined;
}

export class ThreadLoop implements TaskSurroundings {
  readonly thread: string;
  private readonly words: ThreadWords;
  private readonly shared: Int32Array;
  private readonly port: MessagePort;
  private readonly functions: DefinedFunction[] = [];
  /** Arrays of tasks as they arrived, and the place in the first. */
  private inbox: (readonly unknown[])[] = [];
  private inboxAt = 0;
  private seen = 0;
  private readonly spin = new AdaptiveSpin();
  /** This turn of the event loop began without a task: no reaction of a promise is left behind. */
  private isTurnFresh = false;
  private scheduled = false;
  private running: ThreadTask | undefined;
  private readonly reports: TaskReports;
  private readonly subtasks: OpenSubtasks;

  constructor(data: PoolThreadData) {
    this.thread = data.name;
    this.words = new ThreadWords(data.memory);
    this.shared = this.words.words;
    this.port = data.port;
    const ring = (): void => parentPort?.postMessage('news');
    this.reports = new TaskReports(this.words, data.port, data.poolAwake, ring);
    this.subtasks = new OpenSubtasks((message, transfer) => this.reports.report(message, transfer));
    parentPort?.on('message', () => this.wake());
  }

  start(): void {
    parentPort?.postMessage('up');
    this.pump();
  }

  // --- what a running task uses ---

  isCancelled(task: ThreadTask): boolean {
    return this.words.isCancelled(task.slot, task.tag);
  }

  progress({ slot, tag }: ThreadTask, value: unknown): void {
    this.reports.report({ kind: 'progress', slot, tag, value });
  }

  submit(task: ThreadTask, call: TaskCall, args: readonly unknown[]): Promise<unknown> {
    return this.subtasks.submit(task, call, args);
  }

  // --- the loop ---

  private wake(): void {
    Atomics.store(this.shared, SLEEP, AWAKE);
    this.spin.woken(clock.now());
    if (this.running !== undefined) {
      this.receive();
      this.sleepInLoop();
    } else if (!this.scheduled) this.pump();
  }

  /** At most one turn is scheduled, and none while a task runs: a second one would begin a second task. */
  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(this.turn);
  }

  private readonly turn = (): void => {
    this.scheduled = false;
    this.isTurnFresh = true;
    if (this.inbox.length === 0 && !this.spin.isOff) this.look();
    this.pump();
  };

  private look(): void {
    for (let left = LOOKS_PER_TURN; left > 0; left -= 1)
      if (Atomics.load(this.shared, SENT) !== this.seen) return;
  }

  private pump(): void {
    for (let count = 0; count < TASKS_PER_TURN; count += 1) {
      if (this.inbox.length === 0) this.receive();
      const batch = this.inbox[0];
      if (batch === undefined) return this.idle();
      const at = this.inboxAt;
      this.inboxAt += TASK_ELEMENTS;
      if (this.inboxAt >= batch.length) {
        this.inbox.shift();
        this.inboxAt = 0;
      }
      if (this.begin(batch, at) === 'pending') return this.sleepInLoop();
    }
    this.schedule();
  }

  private idle(): void {
    if (!this.isTurnFresh || !this.spin.isSpent(clock.now())) {
      this.schedule();
      return;
    }
    this.spin.slept();
    // The thread blocks only if nothing but its own port keeps its event loop alive: sockets, timers and
    // output of the tasks go on otherwise.
    if (process.getActiveResourcesInfo().length > 1) return this.sleepInLoop();
    Atomics.store(this.shared, SLEEP, BLOCKED);
    Atomics.wait(this.shared, SENT, this.seen);
    Atomics.store(this.shared, SLEEP, AWAKE);
    this.spin.woken(clock.now());
    this.pump();
  }

  /** The next message wakes the loop. One that came meanwhile is handled now. */
  private sleepInLoop(): void {
    for (;;) {
      Atomics.store(this.shared, SLEEP, LOOPING);
      if (Atomics.load(this.shared, SENT) === this.seen) return;
      Atomics.store(this.shared, SLEEP, AWAKE);
      if (this.running === undefined) {
        this.schedule();
        return;
      }
      this.receive();
    }
  }

  private receive(): void {
    const sent = Atomics.load(this.shared, SENT);
    if (this.seen !== sent) this.spin.found(clock.now());
    while (this.seen !== sent) {
      const received = receiveMessageOnPort(this.port) as { message: ToThread } | undefined;
      if (received === undefined) return;
      this.seen = (this.seen + 1) | 0;
      this.accept(received.message);
    }
  }

  private accept(message: ToThread): void {
    if (!('kind' in message)) {
      this.inbox.push(message);
      return;
    }
    switch (message.kind) {
      case 'define':
        this.functions[message.id] = { target: message, run: undefined };
        return;
      case 'cancel':
        if (this.isRunning(message)) this.running?.abort(errorOf(message.reason));
        return;
      case 'items':
        if (this.isRunning(message)) this.running?.grant(message.count);
        return;
      case 'subtask-ended': {
        const { id, error, value } = message;
        return this.subtasks.ended(id, error === undefined ? undefined : errorOf(error), value);
      }
      case 'subtask-progress':
        return this.subtasks.progressed(message.id, message.value);
      default:
        message satisfies never;
    }
  }

  private isRunning({ slot, tag }: { readonly slot: number; readonly tag: number }): boolean {
    return this.running?.slot === slot && this.running.tag === tag;
  }

  // --- one task ---

  private begin(batch: readonly unknown[], at: number): 'pending' | 'done' {
    // The five elements are written by NodePoolThreads.
    const defined = this.functions[batch[at] as number]!;
    const slot = batch[at + 1] as number;
    const tag = batch[at + 2] as number;
    this.isTurnFresh = false;
    if (!this.words.claim(slot, tag)) return 'done';
    const wantsProgress = ((batch[at + 3] as number) & WANTS_PROGRESS) !== 0;
    const args = batch[at + 4] as readonly unknown[];
    const task = new ThreadTask(this, { name: defined.target.export, slot, tag, wantsProgress });
    this.running = task;
    if (defined.run !== undefined) return this.call(task, defined.run, args);
    findFunction(defined.target, importModule).then(
      (run) => {
        defined.run = run;
        if (this.call(task, run, args) === 'done') this.goOn();
      },
      (error) => this.endLater(task, error, 'unknown-task'),
    );
    return 'pending';
  }

  private call(task: ThreadTask, run: TaskFunction, args: readonly unknown[]): 'pending' | 'done' {
    let value: unknown;
    try {
      value = runInTask(task, run, args);
    } catch (error) {
      this.running = undefined;
      this.reports.threw(task, error, 'code');
      return 'done';
    }
    if (typeof value === 'object' && value !== null) {
      if (isThenable(value)) {
        value.then(
          (result) => this.settled(task, result),
          (error) => this.endLater(task, error, 'code'),
        );
        return 'pending';
      }
      if (isAsyncIterable(value)) {
        this.stream(task, value);
        return 'pending';
      }
    }
    this.returned(task, value);
    return 'done';
  }

  private settled(task: ThreadTask, result: unknown): void {
    if (isAsyncIterable(result)) this.stream(task, result);
    else {
      this.returned(task, result);
      this.goOn();
    }
  }

  private returned(task: ThreadTask, value: unknown): void {
    this.running = undefined;
    this.reports.returned(task, value);
  }

  private endLater(task: ThreadTask, error: unknown, known: KnownError): void {
    this.running = undefined;
    this.reports.threw(task, error, known);
    this.goOn();
  }

  private goOn(): void {
    Atomics.store(this.shared, SLEEP, AWAKE);
    this.pump();
  }

  private stream(task: ThreadTask, items: AsyncIterable<unknown>): void {
    runInTask(task, this.sendItems, [task, items] as const).then(
      () => this.settled(task, undefined),
      (error) => this.endLater(task, error, 'code'),
    );
  }

  /** Items in order, at most `STREAM_AHEAD` beyond the consumer; cancelled, the iterable is closed. */
  private readonly sendItems = async (task: ThreadTask, items: AsyncIterable<unknown>): Promise<void> => {
    const { slot, tag } = task;
    task.itemsGranted += STREAM_AHEAD;
    this.reports.report({ kind: 'stream', slot, tag });
    for await (const value of items) {
      if (task.cancelled) return;
      this.reports.report({ kind: 'item', slot, tag, value }, transferListOf(value));
      task.itemsGranted -= 1;
      while (task.itemsGranted <= 0 && !task.cancelled) await task.granted();
      if (task.cancelled) return;
    }
  };
}
