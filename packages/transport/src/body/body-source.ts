/** The bytes of an outgoing body, pulled one read at a time: nothing is read ahead of the peer. */
export interface BodySource {
  readonly length?: number | undefined;
  /** Calls `done` once, now or later: with 1 to `bytesMax` bytes, with null at the end, or with an error. */
  read(bytesMax: number, done: (error: Error | null, chunk: Uint8Array | null) => void): void;
  /** The chunk has left the process: its memory may be reused. Not called for chunks of a lost connection. */
  release?(chunk: Uint8Array): void;
  /** No further read follows. */
  close(): void;
}

export function bodyFromBytes(bytes: Uint8Array): BodySource {
  let at = 0;
  return {
    length: bytes.length,
    read(bytesMax, done) {
      if (at === bytes.length) return done(null, null);
      const chunk = bytes.subarray(at, at + bytesMax);
      at += chunk.length;
      done(null, chunk);
    },
    close() {
      at = bytes.length;
    },
  };
}

/** Pulls the iterable only as fast as the peer grants credit. */
export function bodyFromIterable(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  length?: number,
): BodySource {
  const iterator =
    Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
  let rest: Uint8Array = new Uint8Array(0);
  async function next(): Promise<Uint8Array | null> {
    while (rest.length === 0) {
      const step = await iterator.next();
      if (step.done === true) return null;
      rest = step.value;
    }
    return rest;
  }
  return {
    length,
    read(bytesMax, done) {
      next().then(
        (chunk) => {
          if (chunk === null) return done(null, null);
          rest = chunk.subarray(bytesMax);
          done(null, chunk.subarray(0, bytesMax));
        },
        (error: unknown) => done(error instanceof Error ? error : new Error(String(error)), null),
      );
    },
    close() {
      const returned = iterator.return?.();
      // A generator may throw while it is being closed; its body has ended already, so the error is dropped.
      if (returned instanceof Promise) returned.catch(() => undefined);
    },
  };
}
