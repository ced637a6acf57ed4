import type { BodySource } from '@troupe/transport';
import type { StoredPayload } from './stored-payload.js';

/** Writes one payload to the store. */
export interface PayloadWriter {
  /** Copies the chunk; `done` when the next may follow. Waiting chunks keep their order. */
  write(chunk: Uint8Array, done: (error: Error | null) => void): void;
  finish(done: (error: Error | null, payload: StoredPayload) => void): void;
  abandon(): void;
}

/** The large payloads of a leader. */
export interface PayloadStore {
  /** Undefined while the store takes no payload. */
  write(): PayloadWriter | undefined;
  /** It takes none because writes take too long, not because the disk is full. */
  isSlow?(): boolean;
  /** In pieces; the last one comes only if the digest of all is right. */
  open(payload: StoredPayload): BodySource;
  /** No record will name it. */
  release(payload: StoredPayload): void;
}
