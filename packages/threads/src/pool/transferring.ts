import type { TransferListItem } from 'node:worker_threads';

// Global symbols: a bundle may hold this module twice.
const LIST = Symbol.for('@troupe/threads/transfer-list');
const VALUE = Symbol.for('@troupe/threads/transferred-value');

/**
 * A result of a task whose parts in `list` are moved to the caller instead of copied:
 * `return transferring(pixels, [pixels.buffer])`.
 */
export function transferring<T>(value: T, list: readonly TransferListItem[]): T {
  // The caller gets `value`: the wrapper never leaves the thread, so its type is that of the value.
  return { [VALUE]: value, [LIST]: list } as unknown as T;
}

export function transferOf(result: unknown): { value: unknown; list: readonly TransferListItem[] | undefined } {
  if (typeof result !== 'object' || result === null || !(LIST in result)) return { value: result, list: undefined };
  const wrapped = result as Record<symbol, unknown>;
  return { value: wrapped[VALUE], list: wrapped[LIST] as readonly TransferListItem[] };
}
