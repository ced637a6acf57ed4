/** The entries of a batch as one value: the length of each in four bytes, then its bytes. */
export function encodeBatch(entries: readonly Uint8Array[]): Buffer {
  let length = 0;
  for (const entry of entries) length += LENGTH_BYTES + entry.length;
  const out = Buffer.allocUnsafe(length);
  let at = 0;
  for (const entry of entries) {
    at = out.writeUInt32LE(entry.length, at);
    out.set(entry, at);
    at += entry.length;
  }
  return out;
}

/** Views of the batch, in order. */
export function* decodeBatch(batch: Buffer): Generator<Buffer, void, void> {
  for (let at = 0; at < batch.length; ) {
    const length = batch.readUInt32LE(at);
    at += LENGTH_BYTES;
    yield batch.subarray(at, at + length);
    at += length;
  }
}

export const LENGTH_BYTES = 4;
