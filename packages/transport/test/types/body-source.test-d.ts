import { type BodySource, bodyFromBytes, bodyFromFile } from '@troupe/transport';

const read: BodySource['read'] = (_bytesMax, done) => done(null, null);
const close = (): void => undefined;

/** Whoever does not use its memory again needs no `release`. */
export const plain: BodySource = { read, close };
export const pooled: BodySource = { read, close, release: (chunk: Uint8Array) => void chunk.length };

// @ts-expect-error what comes back is a chunk that was given
export const mistaken: BodySource = { read, close, release: (count: number) => void count };

export const sources: readonly BodySource[] = [bodyFromBytes(new Uint8Array(1)), bodyFromFile('file')];
