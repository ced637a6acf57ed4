import { type BodySource, bodyFromBytes, bodyFromFile } from '@troupe/transport';

const read: BodySource['read'] = (_bytesMax, done) => done(null, null);
const close = (): void => undefined;

/** `release` is optional. */
export const plain: BodySource = { read, close };
export const pooled: BodySource = { read, close, release: (chunk: Uint8Array) => void chunk.length };

// @ts-expect-error `release` gets a chunk
export const wrongRelease: BodySource = { read, close, release: (count: number) => void count };

export const sources: readonly BodySource[] = [bodyFromBytes(new Uint8Array(1)), bodyFromFile('file')];
