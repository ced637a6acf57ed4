import type { BodySource } from '@troupe/transport';

/** From this size on a payload that comes over the network is a file beside the log, never in memory as a whole (ADR 0085). */
export const STORED_BYTES_MIN = 1024 * 1024;

/** A payload in the log's folder, named by its digest. Durable before any record names it. */
export class StoredPayload {
  readonly sha256: string;
  readonly length: number;

  constructor(sha256: string, length: number) {
    this.sha256 = sha256;
    this.length = length;
  }

  /** 53 bits of the digest: what a key remembers of its payload. */
  get hash(): number {
    return Number.parseInt(this.sha256.slice(0, 13), 16);
  }
}

/** A payload in a file of the client's. It is read while it is sent, and read again if it has to be sent again. */
export class FilePayload extends StoredPayload {
  readonly open: () => BodySource;

  constructor(length: number, open: () => BodySource) {
    super('', length);
    this.open = open;
  }
}

/** Takes the bytes of one payload. */
export interface PayloadWriter {
  /** Copies the chunk; `done` when the next may come. Several may wait, they keep their order. */
  write(chunk: Uint8Array, done: (error: Error | null) => void): void;
  finish(done: (error: Error | null, payload: StoredPayload) => void): void;
  abandon(): void;
}

/** Where a leader keeps large payloads. */
export interface PayloadStore {
  /** Undefined while nothing can be taken. */
  write(): PayloadWriter | undefined;
  /** In pieces; the last of them comes only if all of it is what was stored. */
  open(payload: StoredPayload): BodySource;
  /** No record will name it. */
  release(payload: StoredPayload): void;
}
