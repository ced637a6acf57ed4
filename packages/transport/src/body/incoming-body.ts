import { BodyBrokenError } from '../transport-error.js';

/** Frames from the receiver of a body to its sender. */
export interface BodyFlowControl {
  credit(bodyId: number, bytes: number): void;
  stop(bodyId: number, code: number): void;
}

/** `chunk` is a view into a read buffer, valid during the call only. */
export interface BodyReader {
  onChunk(chunk: Buffer): void;
  onEnd(): void;
  onFail(error: BodyBrokenError): void;
}

/**
 * A streamed body that is being received. At most one window is held: the sender has credit only for bytes
 * that were `consumed`. Read it by callback (`read` and `consumed`) or with `for await`.
 */
export class IncomingBody implements AsyncIterable<Buffer> {
  readonly id: number;
  /** Undefined where the sender does not know it. */
  readonly length: number | undefined;
  private readonly flowControl: BodyFlowControl;
  private readonly windowBytes: number;
  private readonly unread: Buffer[] = [];
  private reader: BodyReader | null = null;
  private creditBytes: number;
  private ungrantedBytes = 0;
  private totalBytes = 0;
  private outcome: 'open' | 'complete' | BodyBrokenError = 'open';

  constructor(id: number, length: number | undefined, windowBytes: number, link: BodyFlowControl) {
    this.id = id;
    this.length = length;
    this.flowControl = link;
    this.windowBytes = windowBytes;
    this.creditBytes = windowBytes;
  }

  get receivedBytes(): number {
    return this.totalBytes;
  }

  get isOpen(): boolean {
    return this.outcome === 'open';
  }

  /** Delivers all chunks to `reader`. Without calls of `consumed` the sender runs out of credit. */
  read(reader: BodyReader): void {
    this.reader = reader;
    while (this.unread.length > 0) reader.onChunk(this.unread.shift() as Buffer); // length was checked
    this.reportEnd();
  }

  consumed(bytes: number): void {
    if (this.outcome !== 'open') return;
    this.ungrantedBytes += bytes;
    // In quarters of the window: a grant for every chunk would cost as many frames as the body itself.
    if (this.ungrantedBytes * 4 < this.windowBytes) return;
    this.creditBytes += this.ungrantedBytes;
    this.flowControl.credit(this.id, this.ungrantedBytes);
    this.ungrantedBytes = 0;
  }

  /** Discards the rest. Code 0: no particular reason. */
  stop(code = 0): void {
    if (this.outcome !== 'open') return;
    this.flowControl.stop(this.id, code);
    this.fail(new BodyBrokenError('stopped by its reader', code));
  }

  /** False where the sender had no credit for the chunk. */
  push(chunk: Buffer): boolean {
    if (chunk.length > this.creditBytes) return false;
    this.creditBytes -= chunk.length;
    this.totalBytes += chunk.length;
    if (this.reader === null) this.unread.push(chunk);
    else this.reader.onChunk(chunk);
    return true;
  }

  complete(): void {
    if (this.outcome !== 'open') return;
    this.outcome = 'complete';
    this.reportEnd();
  }

  fail(error: BodyBrokenError): void {
    if (this.outcome !== 'open') return;
    this.outcome = error;
    this.unread.length = 0;
    this.reportEnd();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, undefined> {
    const chunks: Buffer[] = [];
    let over: BodyBrokenError | 'complete' | null = null;
    let wake: () => void = () => undefined;
    this.read({
      onChunk: (chunk) => {
        chunks.push(chunk);
        wake();
      },
      onEnd: () => {
        over = 'complete';
        wake();
      },
      onFail: (error) => {
        over = error;
        wake();
      },
    });
    try {
      while (true) {
        const chunk = chunks.shift();
        if (chunk !== undefined) {
          yield chunk;
          this.consumed(chunk.length);
        } else if (over === 'complete') {
          return;
        } else if (over !== null) {
          throw over;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      this.stop();
    }
  }

  private reportEnd(): void {
    if (this.reader === null || this.outcome === 'open') return;
    if (this.outcome === 'complete') this.reader.onEnd();
    else this.reader.onFail(this.outcome);
  }
}
