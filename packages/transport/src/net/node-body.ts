import { closeSync, fstatSync, openSync, read } from 'node:fs';
import type { BodySource } from '../connection/body-source.js';

/** The bytes of a file, a chunk at a time as the peer takes them. Throws what opening throws. */
export function bodyFromFile(path: string): BodySource {
  const file = openSync(path, 'r');
  let reading = false;
  let closed = false;
  const close = (): void => {
    // A read under way still owns the descriptor: it closes when it comes back.
    if (!reading) closeSync(file);
    closed = true;
  };
  return {
    length: fstatSync(file).size,
    read(bytesMax, done) {
      reading = true;
      read(file, Buffer.allocUnsafeSlow(bytesMax), 0, bytesMax, null, (error, bytes, buffer) => {
        reading = false;
        if (closed) return closeSync(file);
        if (error !== null) done(error, null);
        else done(null, bytes === 0 ? null : buffer.subarray(0, bytes));
      });
    },
    close() {
      if (!closed) close();
    },
  };
}
