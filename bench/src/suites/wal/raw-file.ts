// The bare machine without a log: the same bytes written and synced, read and checked, by the shortest loop there is.
import { closeSync, constants, fdatasync, fsyncSync, openSync, write, writeSync } from 'node:fs';

const PAGE_BYTES = 4_096;
const CHUNK = Buffer.alloc(1_048_576);

/** How a durable write is made. `grow` appends to a fresh file, `prewritten` overwrites zeros, `dsync` does so synchronously. */
export type RawKind = 'grow' | 'prewritten' | 'dsync';

export class RawFile {
  private readonly kind: RawKind;
  private readonly fd: number;
  private position = 0;

  /** `bytes` is written with zeros first, unless the file is to grow. */
  constructor(path: string, kind: RawKind, bytes: number) {
    this.kind = kind;
    if (kind !== 'grow') prewrite(path, bytes);
    const sync = kind === 'dsync' ? constants.O_DSYNC : 0;
    this.fd = openSync(path, constants.O_RDWR | constants.O_CREAT | sync, 0o600);
  }

  /** Writes the next bytes durably. */
  append(bytes: Buffer): Promise<void> {
    const position = this.position;
    this.position += bytes.length;
    if (this.kind === 'dsync') {
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

/** What a batch of so many records takes on the disk, head, checksum and padding included. */
export function paddedBytes(records: number, recordBytes: number): number {
  return Math.ceil((48 + records * (8 + recordBytes)) / PAGE_BYTES) * PAGE_BYTES;
}
