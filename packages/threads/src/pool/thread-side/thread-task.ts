import type { CurrentTask } from '../task/current-task.js';
import { moduleTasks, type TaskCall, type Tasks } from '../task/task-modules.js';

/** The side of a thread that a running task uses. */
export interface TaskSurroundings {
  readonly thread: string;
  isCancelled(task: ThreadTask): boolean;
  progress(task: ThreadTask, value: unknown): void;
  submit(task: ThreadTask, call: TaskCall, args: readonly unknown[]): Promise<unknown>;
}

/** A task at work in a thread. */
export class ThreadTask implements CurrentTask {
  readonly name: string;
  readonly slot: number;
  readonly tag: number;
  readonly wantsProgress: boolean;
  private readonly surroundings: TaskSurroundings;
  private controller: AbortController | undefined;
  private reason: Error | undefined;
  /** Items that a stream may still send before its consumer takes some. */
  itemsGranted = 0;
  private onGrant: (() => void) | undefined;

  constructor(
    surroundings: TaskSurroundings,
    { name, slot, tag, wantsProgress }: { name: string; slot: number; tag: number; wantsProgress: boolean },
  ) {
    this.surroundings = surroundings;
    this.name = name;
    this.slot = slot;
    this.tag = tag;
    this.wantsProgress = wantsProgress;
  }

  get thread(): string {
    return this.surroundings.thread;
  }

  /** Made on demand: most tasks never look at it. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.reason !== undefined && !this.controller.signal.aborted) this.controller.abort(this.reason);
    return this.controller.signal;
  }

  get cancelled(): boolean {
    return this.reason !== undefined || this.surroundings.isCancelled(this);
  }

  progress(value: unknown): void {
    if (this.wantsProgress) this.surroundings.progress(this, value);
  }

  tasks<M>(module: URL | string): Tasks<M> {
    return moduleTasks<M>(module, (call, args) => this.surroundings.submit(this, call, args));
  }

  grant(count: number): void {
    this.itemsGranted += count;
    this.onGrant?.();
  }

  /** After the next grant, or once the task is cancelled. */
  granted(): Promise<void> {
    return new Promise((resolve) => {
      this.onGrant = resolve;
    });
  }

  abort(reason: Error): void {
    this.reason = reason;
    this.controller?.abort(reason);
    this.onGrant?.();
  }
}
