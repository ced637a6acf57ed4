// Tasks of the tests, as a user would write them.

import { setTimeout as sleep } from 'node:timers/promises';
import { threadId } from 'node:worker_threads';
import { currentTask, transfer } from '@troupe/threads';

export const notAFunction = 7;

export function echo<T>(value: T): T {
  return value;
}

export async function echoLater<T>(value: T, ms: number): Promise<T> {
  await sleep(ms);
  return value;
}

export function lengthOf(buffer: ArrayBuffer): number {
  return buffer.byteLength;
}

export function makeBytes(length: number): Uint8Array {
  const bytes = new Uint8Array(length).fill(7);
  return transfer(bytes, [bytes.buffer]);
}

export function increment(counter: Int32Array): void {
  Atomics.add(counter, 0, 1);
}

export function fail(message: string): never {
  throw Object.assign(new RangeError(message, { cause: new Error('below') }), {
    code: 'E_TEST',
    at: { line: 3 },
  });
}

export function throwText(): never {
  throw 'only a text';
}

export function returnFunction(): unknown {
  return { rows: [{ format: () => 1 }] };
}

export async function steps(count: number): Promise<string> {
  for (let step = 1; step <= count; step += 1) {
    currentTask().progress({ step });
    if (step % 2 === 0) await sleep(0);
  }
  return 'done';
}

export async function about(): Promise<{ name: string; thread: string; threadId: number }> {
  await sleep(1);
  const { name, thread } = currentTask();
  return { name, thread, threadId };
}

export async function untilAborted(state: Int32Array): Promise<never> {
  Atomics.store(state, 0, 1);
  await sleep(60_000, undefined, { signal: currentTask().signal });
  throw new Error('never');
}

/** Writes 1 when it has begun, 2 when it has seen the cancellation. */
export function loopUntilCancelled(state: Int32Array): void {
  Atomics.store(state, 0, 1);
  const task = currentTask();
  while (!task.cancelled);
  Atomics.store(state, 0, 2);
}

export function loopForEver(): void {
  for (;;);
}

export function exit(code: number): void {
  process.exit(code);
}

export async function throwOutside(): Promise<void> {
  setTimeout(() => {
    throw new Error('outside');
  }, 1);
  await sleep(60_000);
}

/** Yields in between: on Node 24 a loop that does not may end the process. */
export async function allocate(): Promise<number> {
  const all: unknown[] = [];
  for (;;) {
    for (let count = 0; count < 100; count += 1) all.push(new Array(1_000).fill(all.length));
    await new Promise(setImmediate);
  }
}

/** Counts in `made` how many items it has made, and writes 1 into the second word when it is closed. */
export async function* count(to: number, made?: Int32Array): AsyncGenerator<number> {
  try {
    for (let value = 1; value <= to; value += 1) {
      if (made !== undefined) Atomics.add(made, 0, 1);
      yield value;
    }
  } finally {
    if (made !== undefined) Atomics.store(made, 1, 1);
  }
}

export async function* countThenFail(to: number): AsyncGenerator<string> {
  for (let value = 1; value <= to; value += 1) yield currentTask().name;
  throw new Error('after the items');
}

/** Returns at once; its timer goes on. */
export function writeLater(state: Int32Array, ms: number): void {
  setTimeout(() => {
    Atomics.store(state, 0, 1);
    Atomics.notify(state, 0);
  }, ms);
}

export function print(line: string): void {
  console.log(line);
}

export async function sumBelow(depth: number): Promise<number> {
  if (depth === 0) return 0;
  const tasks = currentTask().tasks<typeof import('./pool-tasks.js')>(new URL(import.meta.url));
  return depth + (await tasks.sumBelow(depth - 1));
}

export function burn(ms: number): number {
  const end = performance.now() + ms;
  let rounds = 0;
  while (performance.now() < end) rounds += 1;
  return rounds;
}

/** Cancels its subtask once that has begun, and returns what the subtask has seen. */
export async function cancelSubtask(state: Int32Array): Promise<string> {
  const controller = new AbortController();
  const ended = ownTasks().with({ signal: controller.signal }).loopUntilCancelled(state);
  while (Atomics.load(state, 0) === 0) await sleep(1);
  controller.abort(new Error('not wanted'));
  return ended.then(String, (error: { readonly code?: string }) => String(error.code));
}

/** The progress of its subtask, and the task to which the callback belongs. */
export async function progressOfSubtask(): Promise<unknown[]> {
  const seen: unknown[] = [];
  const onProgress = (value: unknown): number => seen.push(value, currentTask().name);
  await ownTasks().with({ onProgress }).steps(2);
  return seen;
}

/** The ends of subtasks that no other thread can be given. */
export async function refusedSubtasks(made: Int32Array): Promise<unknown[]> {
  const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(String, (error: { readonly code?: string }) => error.code);
  const items = async (): Promise<void> => {
    for await (const item of ownTasks().count(10_000, made)) throw new Error(`item ${item}`);
  };
  const aborted = ownTasks().with({ signal: AbortSignal.abort() });
  return [
    await codeOf(items()),
    await codeOf(ownTasks().echo({ run: () => 1 })),
    await codeOf(aborted.echo(1)),
  ];
}

function ownTasks() {
  return currentTask().tasks<typeof import('./pool-tasks.js')>(new URL(import.meta.url));
}
