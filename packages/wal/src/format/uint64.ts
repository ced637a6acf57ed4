// LSNs and batch numbers: u64 on disk, safe integers in memory. 2^53 at a million a second is 285 years.

const HIGH = 2 ** 32;

export function writeUint64(bytes: Buffer, value: number, at: number): void {
  bytes.writeUInt32LE(value % HIGH, at);
  bytes.writeUInt32LE(Math.floor(value / HIGH), at + 4);
}

/** NaN when the value is not a safe integer: it compares equal to nothing, so every check on it fails. */
export function readUint64(bytes: Buffer, at: number): number {
  const value = bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * HIGH;
  return Number.isSafeInteger(value) ? value : Number.NaN;
}
