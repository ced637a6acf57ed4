// The pool's side of one thread: its port, its shared memory, the tasks it has. Hot path.

import {
  MessageChannel,
  type MessagePort,
  type ResourceLimits,
  receiveMessageOnPort,
} from 'node:worker_threads';
import { errorOf } from '../../thread/error-record.js';
import { findNotCloneable } from '../../thread/find-not-cloneable.js';
import { NodeThread } from '../../thread/node-thread.js';
import {
  NotCloneableError,
  type ThreadEndedError,
  type ThreadMemoryError,
} from '../../thread/thread-errors.js';
import type { TransferListItem } from '../../value/transfer.js';
import type { PoolWorker } from '../machine/pool-worker.js';
import {
  type FromThread,
  type PoolThreadData,
  TASK_ELEMENTS,
  type ToThread,
  WANTS_PROGRESS,
} from '../memory/thread-messages.js';
import {
  BLOCKED,
  DONE,
  LOOPING,
  nextTag,
  PORTED,
  RESULT_FALSE,
  RESULT_NULL,
  RESULT_NUMBER,
  RESULT_PORTED,
  RESULT_TRUE,
  SENT,
  SLEEP,
  SLOT_COUNT,
  ThreadWords,
  threadMemory,
} from '../memory/thread-words.js';
import { TaskFailedError, TaskUnknownError } from '../pool-errors.js';
import type { PoolThreadReports } from '../pool-ports.js';
import type { PoolTask, TaskTarget } from '../task/pool-task.js';

export interface LinkParts {
  readonly boot: URL;
  readonly poolAwake: SharedArrayBuffer;
  readonly resourceLimits: ResourceLimits | undefined;
  readonly reports: PoolThreadReports;
  onNews(): void;
  onEnd(error: ThreadEndedError | ThreadMemoryError): void;
}

type Ended = Extract<FromThread, { kind: 'returned' | 'threw' }>;

export class ThreadLink {
  private readonly worker: PoolWorker;
  private readonly reports: PoolThreadReports;
  private readonly thread: NodeThread;
  private readonly port: MessagePort;
  private readonly memory: ThreadWords;
  private readonly words: Int32Array;
  private readonly slots: (PoolTask | undefined)[] = new Array(SLOT_COUNT).fill(undefined);
  private readonly freeSlots: number[] = Array.from({ length: SLOT_COUNT }, (_, slot) => slot);
  private readonly functionIds = new Map<TaskTarget, number>();
  private outbox: unknown[] = [];
  private tag = 0;
  private seenDone = 0;
  private seenPorted = 0;
  /** Results that came by the port, by their slots, until their entry in the ring is read. */
  private readonly ported = new Map<number, Ended>();
  private held = true;
  private isEnding = false;

  constructor(worker: PoolWorker, parts: LinkParts) {
    this.worker = worker;
    this.reports = parts.reports;
    const { port1, port2 } = new MessageChannel();
    const memory = threadMemory();
    const data: PoolThreadData = { name: worker.name, memory, poolAwake: parts.poolAwake, port: port2 };
    this.port = port1;
    this.memory = new ThreadWords(memory);
    this.words = this.memory.words;
    const { boot, resourceLimits, reports } = parts;
    this.thread = new NodeThread(
      { name: worker.name, boot, data, transfer: [port2], resourceLimits },
      {
        onMessage: (message) => (message === 'up' ? reports.up(worker) : parts.onNews()),
        onEnd: parts.onEnd,
      },
    );
  }

  get isIdle(): boolean {
    return this.worker.current === undefined;
  }

  get hasNews(): boolean {
    return (
      Atomics.load(this.words, DONE) !== this.seenDone || Atomics.load(this.words, PORTED) !== this.seenPorted
    );
  }

  hold(hold: boolean): void {
    if (hold === this.held || this.isEnding) return;
    this.held = hold;
    this.thread.hold(hold);
  }

  /** The end of a thread is waited for, so it holds the process until then. */
  terminate(): void {
    this.hold(true);
    this.isEnding = true;
    this.thread.terminate();
  }

  close(): void {
    this.port.close();
  }

  // --- to the thread ---

  /** True if this is the first task since the last flush. */
  add(task: PoolTask): boolean {
    const slot = this.freeSlots.pop();
    // The machine never has more tasks at a thread than there are slots.
    if (slot === undefined) throw new Error(`${this.worker.name}: no slot is free`);
    this.tag = nextTag(this.tag);
    this.slots[slot] = task;
    task.slot = slot;
    task.tag = this.tag;
    this.memory.offer(slot, this.tag);
    const flags = task.options.onProgress === undefined ? 0 : WANTS_PROGRESS;
    const wasEmpty = this.outbox.length === 0;
    this.outbox.push(this.functionId(task.target), slot, this.tag, flags, task.args);
    if (task.movesArguments) this.flush(task.options.transfer);
    return wasEmpty;
  }

  withdraw(task: PoolTask): boolean {
    if (this.slots[task.slot] !== task || !this.memory.withdraw(task.slot, task.tag)) return false;
    this.release(task.slot);
    return true;
  }

  flush(transfer?: readonly TransferListItem[]): void {
    const batch = this.outbox;
    if (batch.length === 0) return;
    this.outbox = [];
    try {
      this.post(batch, transfer);
    } catch (error) {
      this.postOneByOne(batch, error, transfer);
    }
  }

  cancel(task: PoolTask): void {
    this.memory.cancel(task.slot, task.tag);
  }

  post(message: ToThread, transfer?: readonly TransferListItem[]): void {
    this.port.postMessage(message, transfer);
    Atomics.add(this.words, SENT, 1);
    const sleep = Atomics.load(this.words, SLEEP);
    if (sleep === BLOCKED) Atomics.notify(this.words, SENT);
    else if (sleep === LOOPING) this.thread.post('news');
  }

  /** One task cannot be sent: it alone is to fail. */
  private postOneByOne(
    batch: readonly unknown[],
    error: unknown,
    transfer?: readonly TransferListItem[],
  ): void {
    for (let at = 0; at < batch.length; at += TASK_ELEMENTS) {
      const one = batch.slice(at, at + TASK_ELEMENTS);
      const task = this.slots[one[1] as number];
      if (task === undefined || task.tag !== one[2]) continue;
      try {
        if (batch.length === TASK_ELEMENTS) throw error;
        this.post(one, task.movesArguments ? transfer : undefined);
      } catch (cause) {
        this.reports.unsendable(this.worker, task, findNotCloneable(task.args, 'args', cause));
      }
    }
  }

  private functionId(target: TaskTarget): number {
    let id = this.functionIds.get(target);
    if (id === undefined) {
      id = this.functionIds.size;
      this.functionIds.set(target, id);
      this.post({ kind: 'define', id, module: target.module, export: target.export });
    }
    return id;
  }

  // --- from the thread ---

  /** Reports what has come; false if nothing has. */
  drain(): boolean {
    // In this order: the port then holds everything that belongs to the entries, and is read before them.
    const done = Atomics.load(this.words, DONE);
    const ported = Atomics.load(this.words, PORTED);
    if (done === this.seenDone && ported === this.seenPorted) return false;
    this.receive(ported);
    while (this.seenDone !== done) {
      const at = this.seenDone;
      this.seenDone = (at + 1) | 0;
      this.reportEnd(this.memory.slotAt(at), this.memory.kindAt(at), at);
    }
    return true;
  }

  private reportEnd(slot: number, kind: number, at: number): void {
    const ended = kind === RESULT_PORTED ? this.ported.get(slot) : undefined;
    if (ended !== undefined) this.ported.delete(slot);
    const task = this.slots[slot];
    if (task === undefined) return;
    this.release(slot);
    if (ended?.kind === 'threw') this.reports.finished(this.worker, task, taskError(task, ended), undefined);
    else
      this.reports.finished(
        this.worker,
        task,
        null,
        ended === undefined ? this.inline(kind, at) : ended.value,
      );
  }

  private inline(kind: number, at: number): unknown {
    if (kind === RESULT_NUMBER) return this.memory.numberAt(at);
    if (kind === RESULT_NULL) return null;
    return kind === RESULT_TRUE ? true : kind === RESULT_FALSE ? false : undefined;
  }

  private receive(ported: number): void {
    while (this.seenPorted !== ported) {
      const received = receiveMessageOnPort(this.port) as { message: FromThread } | undefined;
      if (received === undefined) return;
      this.seenPorted = (this.seenPorted + 1) | 0;
      const { message } = received;
      if (message.kind === 'returned' || message.kind === 'threw') this.ported.set(message.slot, message);
      else this.handle(message);
    }
  }

  private handle(message: Exclude<FromThread, Ended>): void {
    const task = this.slots[message.slot];
    if (task === undefined || task.tag !== message.tag) return;
    switch (message.kind) {
      case 'progress':
        return this.reports.progressed(task, message.value);
      case 'stream':
        return this.reports.streamStarted(this.worker, task);
      case 'item':
        return this.reports.streamed(task, message.value);
      case 'subtask': {
        const { id, module, export: name, args, priority, withinMs, hasSignal, wantsProgress } = message;
        const target = { module, export: name };
        const request = { id, target, args, options: { priority, withinMs }, hasSignal, wantsProgress };
        return this.reports.subtask(this.worker, task, request);
      }
      case 'cancel-subtask':
        return this.reports.cancelSubtask(this.worker, message.id, errorOf(message.reason));
      default:
        message satisfies never;
    }
  }

  private release(slot: number): void {
    this.slots[slot] = undefined;
    this.freeSlots.push(slot);
  }
}

function taskError(task: PoolTask, { error, known }: Extract<FromThread, { kind: 'threw' }>): Error {
  const original = errorOf(error);
  if (known === 'unknown-task') {
    return new TaskUnknownError(
      task.target.module,
      task.name,
      String(error.fields['problem']),
      original.cause,
    );
  }
  if (known === 'not-cloneable') return new NotCloneableError('the result', original);
  return new TaskFailedError(task.name, original);
}
