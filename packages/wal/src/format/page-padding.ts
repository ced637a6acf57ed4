/** Batches begin on a page and are padded to one, so that no write touches the bytes of another batch. */
export const PAGE_BYTES = 4096;

export function padToPage(bytes: number): number {
  return Math.ceil(bytes / PAGE_BYTES) * PAGE_BYTES;
}

const ZEROS = Buffer.alloc(64 * 1024);

export function isZero(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += ZEROS.length) {
    const end = Math.min(to, at + ZEROS.length);
    if (bytes.compare(ZEROS, 0, end - at, at, end) !== 0) return false;
  }
  return true;
}

/** Index just past the last byte in [from, to) that is not zero; `from` if there is none. */
export function lastNonZero(bytes: Buffer, from: number, to: number): number {
  let end = to;
  while (end > from && bytes[end - 1] === 0) end -= 1;
  return end;
}
