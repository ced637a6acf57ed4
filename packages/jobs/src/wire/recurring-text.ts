// Hot path: runs for every name and small result that is read.

const CHARS_MAX = 32;
/** Of texts that are not found so many go by before one is remembered: where each is different, to keep them all would cost more than it brings. */
const MISSES_PER_TEXT = 8;
/** By length. */
const latest: string[] = Array.from({ length: CHARS_MAX + 1 }, () => '');
let misses = 0;

/**
 * The ASCII text of these bytes, if it is the one of its length that was remembered last. Names of workers and small results come again
 * and again: to look at them here is cheaper than to have the runtime make the same string anew, and one string serves all.
 */
export function recurringText(bytes: Uint8Array, from: number, to: number): string | undefined {
  const length = to - from;
  if (length > CHARS_MAX) return undefined;
  const text = latest[length] as string; // length is at most CHARS_MAX
  // From the end: texts that are not the same mostly begin alike.
  for (let i = length - 1; i >= 0; i -= 1) if (bytes[from + i] !== text.charCodeAt(i)) return undefined;
  return text;
}

/** ASCII only. Where a text has U+FFFD for bytes that are no UTF-8 it does no harm: no byte is equal to that. */
export function rememberText(text: string): void {
  if (text.length > CHARS_MAX) return;
  misses = (misses + 1) % MISSES_PER_TEXT;
  if (misses === 0) latest[text.length] = text;
}
