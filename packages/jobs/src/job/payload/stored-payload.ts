import type { BodySource } from '@troupe/transport';

/** A payload of this size from the network is a file beside the log, never whole in memory (ADR 0413). */
export const STORED_BYTES_MIN = 1024 * 1024;

/** A payload in the log's folder, named by its digest. Durable before any record names it. */
export class StoredPayload {
  readonly sha256: string;
  readonly length: number;

  constructor(sha256: string, length: number) {
    this.sha256 = sha256;
    this.length = length;
  }

  /** 53 bits of the digest, which an idempotency key keeps of its payload. */
  get hash(): number {
    return Number.parseInt(this.sha256.slice(0, 13), 16);
  }
}

/** A payload in a file of the client. It is read while it is sent, and again if it is sent again. */
export class FilePayload extends StoredPayload {
  readonly open: () => BodySource;

  constructor(length: number, open: () => BodySource) {
    super('', length);
    this.open = open;
  }
}
