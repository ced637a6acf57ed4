import type { BodySource } from '@troupe/transport';

const CHUNK_BYTES = 256 * 1024;

/** Reads `max` bytes from a place on; a source can only be read from its beginning. */
export function readPart(
  source: BodySource,
  from: number,
  max: number,
  done: (error: Error | null, bytes: Uint8Array) => void,
): void {
  const parts: Buffer[] = [];
  let at = 0;
  const end = (error: Error | null): void => {
    source.close();
    done(error, Buffer.concat(parts));
  };
  const next = (): void =>
    source.read(CHUNK_BYTES, (error, chunk) => {
      if (chunk === null) return end(error);
      const wanted = chunk.subarray(Math.max(0, from - at), Math.max(0, from + max - at));
      if (wanted.length > 0) parts.push(Buffer.from(wanted));
      at += chunk.length;
      source.release?.(chunk);
      if (at >= from + max) return end(null);
      next();
    });
  next();
}
