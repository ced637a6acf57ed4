import type { SeededRandom } from '@troupe/core/testing';
import type { SocketHandler } from '../net/net-interface.js';

/** The network conditions of one direction of a connection. */
export interface PipeConditions {
  readonly random: SeededRandom;
  after(ms: number, run: () => void): void;
  latencyMs(): number;
  /** How the bytes are cut on arrival. */
  readonly chunking: 'whole' | 'random' | 'byte';
  readonly windowBytes: number;
  /** While true, bytes wait for the next `flow`. */
  isBlocked(): boolean;
  /** Called once per arrival; true: the connection is lost. */
  isLost(): boolean;
  onLost(): void;
  /** The writer's end of stream, or a reset, has arrived at the reader. */
  onArrived(end: 'end' | 'reset'): void;
}

type Item = Buffer | 'end' | 'reset';

/**
 * One direction of a connection: bytes arrive in order, late, cut anywhere, and wait while the route is
 * blocked or the reader is paused. At a full window `write` returns false, like that of a socket.
 */
export class MemoryPipe {
  private readonly conditions: PipeConditions;
  private readonly queue: Item[] = [];
  private reader: SocketHandler | null = null;
  private writer: SocketHandler | null = null;
  private queuedBytes = 0;
  private paused = false;
  private inTransit = false;
  private wantsWritable = false;
  private closed = false;

  constructor(conditions: PipeConditions) {
    this.conditions = conditions;
  }

  attachReader(handler: SocketHandler): void {
    this.reader = handler;
    this.flow();
  }

  attachWriter(handler: SocketHandler): void {
    this.writer = handler;
  }

  write(pieces: readonly Buffer[]): boolean {
    if (this.closed) return true;
    for (const piece of pieces) {
      if (piece.length === 0) continue;
      // A copy, as an operating system makes: the writer may reuse its buffer.
      this.queue.push(Buffer.from(piece));
      this.queuedBytes += piece.length;
    }
    this.flow();
    this.wantsWritable ||= this.queuedBytes >= this.conditions.windowBytes;
    return !this.wantsWritable;
  }

  end(): void {
    this.queue.push('end');
    this.flow();
  }

  /** Drops the bytes in flight; the reader gets the reset once the route is open. */
  reset(): void {
    if (this.closed) return;
    this.queue.length = 0;
    this.queue.push('reset');
    this.paused = false;
    this.flow();
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    this.flow();
  }

  close(): void {
    this.closed = true;
    this.queue.length = 0;
  }

  /** On the network's clock, without latency. */
  runSoon(run: () => void): void {
    this.conditions.after(0, run);
  }

  /** Starts the next arrival, unless one is pending or the route is blocked. */
  flow(): void {
    if (this.inTransit || this.closed || this.queue.length === 0 || this.conditions.isBlocked()) return;
    this.inTransit = true;
    this.conditions.after(this.conditions.latencyMs(), () => {
      this.inTransit = false;
      this.arrive();
    });
  }

  private arrive(): void {
    if (this.closed || this.paused || this.reader === null || this.conditions.isBlocked()) return;
    if (this.conditions.isLost()) return this.conditions.onLost();
    // Bytes written during one latency arrive together.
    const items = this.queue.splice(0);
    while (items.length > 0 && !this.closed) {
      if (this.paused) {
        this.queue.unshift(...items);
        break;
      }
      this.deliver(items);
    }
    if (this.wantsWritable && this.queuedBytes < this.conditions.windowBytes / 2 && !this.closed) {
      this.wantsWritable = false;
      this.writer?.onWritable();
    }
    this.flow();
  }

  private deliver(items: Item[]): void {
    const item = items.shift();
    if (item === undefined) return;
    if (item === 'end' || item === 'reset') return this.conditions.onArrived(item);
    const take = this.chunkBytes(item.length);
    if (take < item.length) items.unshift(item.subarray(take));
    this.queuedBytes -= take;
    this.reader?.onData(item.subarray(0, take));
  }

  private chunkBytes(bytes: number): number {
    if (this.conditions.chunking === 'byte') return 1;
    return this.conditions.chunking === 'random' ? this.conditions.random.between(1, bytes) : bytes;
  }
}
