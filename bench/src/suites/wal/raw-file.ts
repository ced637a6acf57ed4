// Durable writes without a log, the lower limit of the machine.
import { closeSync, constants, fdatasync, fsyncSync, openSync, write, writeSync } from 'node:fs';

const PAGE_BYTES = 4_096;
const CHUNK = Buffer.alloc(1_048_576);

/**
 * `grow` appends to a new file, `prewritten` overwrites zeros, `dsync` does so by synchronous O_DSYNC writes.
 */
export type WriteMode = 'grow' | 'prewritten' | 'dsync';

export class RawFile {
  private readonly mode: WriteMode;
  private readonly fd: number;
  private position = 0;

  /** Fills the file with `bytes` zeros first, unless it grows. */
  constructor(path: string, mode: WriteMode, bytes: number) {
    this.mode = mode;
    if (mode !== 'grow') prewrite(path, bytes);
    const sync = mode === 'dsync' ? constants.O_DSYNC : 0;
    this.fd = openSync(path, constants.O_RDWR | constants.O_CREAT | sync, 0o600);
  }

  /** Writes the bytes durably at the end. */
  append(bytes: Buffer): Promise<void> {
    const position = this.position;
    this.position += bytes.length;
    if (this.mode === 'dsync') {
      writeSync(this.fd, bytes, 0, bytes.length, position);
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      write(this.fd, bytes, 0, bytes.length, position, (error, written) => {
        if (error !== null || written !== bytes.length)
          return reject(error ?? new Error(`short write: ${written}`));
        fdatasync(this.fd, (syncError) => (syncError === null ? resolve() : reject(syncError)));
      });
    });
  }

  close(): void {
    closeSync(this.fd);
  }
}

function prewrite(path: string, bytes: number): void {
  const fd = openSync(path, 'w', 0o600);
  for (let offset = 0; offset < bytes; offset += CHUNK.length) {
    writeSync(fd, CHUNK, 0, Math.min(CHUNK.length, bytes - offset), offset);
  }
  fsyncSync(fd);
  closeSync(fd);
}

/** The size of a batch on disk with header, checksum and padding. */
export function paddedBytes(records: number, recordBytes: number): number {
  return Math.ceil((48 + records * (8 + recordBytes)) / PAGE_BYTES) * PAGE_BYTES;
}
