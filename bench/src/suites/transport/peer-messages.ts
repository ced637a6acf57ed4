/** What the two processes of the transport suite say to each other. */
export const MESSAGE_BYTES = 100;
export const BODY_BYTES = 64 * 1024 * 1024;
export const BLOCK_BYTES = 256 * 1024;

export const Type = {
  /** Counted, not answered. */
  Count: 64,
  /** Answered with how many were counted since the last one. */
  Total: 65,
  /** Answered with the same body. */
  Echo: 66,
  /** A body in pieces; answered with its length when it is complete. */
  Body: 67,
} as const;

export type Mode = 'troupe' | 'troupe-tls' | 'floor-sink' | 'floor-echo';

/** From the peer process, once it listens. */
export interface Listening {
  readonly port: number;
  /** The certificate to trust, with TLS. */
  readonly ca?: string;
}

/** From the peer process, whenever it is asked: the most memory it had since the last time, and what it has now. */
export interface Memory {
  readonly peakBytes: number;
  readonly rssBytes: number;
}

/** Follows the resident memory of this process. */
export class MemoryWatch {
  private peakBytes = process.memoryUsage.rss();
  private readonly timer = setInterval(() => this.look(), 5);

  constructor() {
    this.timer.unref();
  }

  take(): Memory {
    const rssBytes = this.look();
    const memory = { peakBytes: this.peakBytes, rssBytes };
    this.peakBytes = rssBytes;
    return memory;
  }

  private look(): number {
    const rssBytes = process.memoryUsage.rss();
    this.peakBytes = Math.max(this.peakBytes, rssBytes);
    return rssBytes;
  }
}
