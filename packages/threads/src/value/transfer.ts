import type { TransferListItem } from 'node:worker_threads';

const lists = new WeakMap<object, readonly TransferListItem[]>();

/**
 * Marks a payload: when it is sent to another thread, these buffers and ports move there instead of being
 * copied, and are empty here. A message within one thread is not touched.
 */
export function transfer<T extends object>(payload: T, list: readonly TransferListItem[]): T {
  lists.set(payload, list);
  return payload;
}

export function transferListOf(payload: unknown): readonly TransferListItem[] | undefined {
  return typeof payload === 'object' && payload !== null ? lists.get(payload) : undefined;
}
