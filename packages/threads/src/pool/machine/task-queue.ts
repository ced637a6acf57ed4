import type { PoolTask } from '../task/pool-task.js';

interface Level {
  readonly priority: number;
  first: PoolTask | undefined;
  last: PoolTask | undefined;
}

/** Tasks by priority, highest first, then by sequence. Any of them can be removed at once. */
export class TaskQueue {
  private readonly levels: Level[] = [];
  private count = 0;

  get length(): number {
    return this.count;
  }

  get first(): PoolTask | undefined {
    for (const level of this.levels) if (level.first !== undefined) return level.first;
    return undefined;
  }

  /** Nearly always at the end of its level. A task that comes back stands where its sequence says. */
  add(task: PoolTask): void {
    const level = this.levelOf(task.priority);
    let before = level.last;
    while (before !== undefined && before.sequence > task.sequence) before = before.previous;
    const after = before === undefined ? level.first : before.next;
    task.previous = before;
    task.next = after;
    if (before === undefined) level.first = task;
    else before.next = task;
    if (after === undefined) level.last = task;
    else after.previous = task;
    this.count += 1;
  }

  remove(task: PoolTask): void {
    const level = this.levelOf(task.priority);
    if (task.previous === undefined) level.first = task.next;
    else task.previous.next = task.next;
    if (task.next === undefined) level.last = task.previous;
    else task.next.previous = task.previous;
    task.previous = undefined;
    task.next = undefined;
    this.count -= 1;
  }

  shift(): PoolTask | undefined {
    const { first } = this;
    if (first !== undefined) this.remove(first);
    return first;
  }

  private levelOf(priority: number): Level {
    let at = 0;
    for (const level of this.levels) {
      if (level.priority === priority) return level;
      if (level.priority > priority) at += 1;
    }
    const level: Level = { priority, first: undefined, last: undefined };
    this.levels.splice(at, 0, level);
    return level;
  }
}

/** Whether `a` is to run before `b`. */
export function runsBefore(a: PoolTask, b: PoolTask): boolean {
  return a.priority === b.priority ? a.sequence < b.sequence : a.priority > b.priority;
}
