import type { Worker } from 'node:worker_threads';

/** An object that can be moved. The types of Node 26 have no name for it that those of Node 20 have. */
export type TransferListItem = NonNullable<Parameters<Worker['postMessage']>[1]>[number];

type TransferLists = WeakMap<object, readonly TransferListItem[]>;

// On globalThis, because a bundle may hold this module twice: once beside the runtime, once beside its user.
const KEY = Symbol.for('@troupe/threads/transfer-lists');
const place = globalThis as unknown as Record<symbol, TransferLists | undefined>;
place[KEY] ??= new WeakMap();
const lists: TransferLists = place[KEY];

/**
 * Marks a payload: when it is sent to another thread, these buffers and ports move there instead of being
 * copied, and are empty here. A message within one thread is not touched. The result of a task is marked the
 * same way: `return transfer(pixels, [pixels.buffer])`.
 */
export function transfer<T extends object>(payload: T, list: readonly TransferListItem[]): T {
  lists.set(payload, list);
  return payload;
}

export function transferListOf(payload: unknown): readonly TransferListItem[] | undefined {
  return typeof payload === 'object' && payload !== null ? lists.get(payload) : undefined;
}
