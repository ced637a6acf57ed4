import type { SocketHandler } from '../net/net.js';
import type { Chance } from './chance.js';

/** What a direction of a connection asks of its network. */
export interface PipeConditions {
  readonly chance: Chance;
  /** Runs `run` after the latency of this moment. */
  after(ms: number, run: () => void): void;
  latencyMs(): number;
  /** How the bytes are cut on arrival. */
  readonly chunking: 'whole' | 'random' | 'byte';
  readonly windowBytes: number;
  /** Bytes written now stay where they are, until the network says `flow` again. */
  isBlocked(): boolean;
  /** Asked once per arriving chunk: the connection is lost here. */
  connectionLost(): boolean;
  onLost(): void;
  /** The writer's end of stream, or a reset, has arrived at the reader. */
  onArrived(what: 'end' | 'reset'): void;
}

type Item = Buffer | 'end' | 'reset';

/**
 * One direction of a connection: bytes keep their order, arrive late, cut anywhere, and wait while the way is blocked or the reader
 * is paused. A full window tells the writer to stop, like a socket buffer.
 */
export class MemoryPipe {
  private readonly conditions: PipeConditions;
  private readonly queue: Item[] = [];
  private readerHandler: SocketHandler | null = null;
  private writerHandler: SocketHandler | null = null;
  private queuedBytes = 0;
  private paused = false;
  private inTransit = false;
  private wantsWritable = false;
  private closed = false;

  constructor(world: PipeConditions) {
    this.conditions = world;
  }

  set reader(handler: SocketHandler) {
    this.readerHandler = handler;
    this.flow();
  }

  set writer(handler: SocketHandler) {
    this.writerHandler = handler;
  }

  write(pieces: readonly Buffer[]): boolean {
    if (this.closed) return true;
    for (const piece of pieces) {
      if (piece.length === 0) continue;
      // A copy, as the operating system would make: the writer may use its buffer again.
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

  /** Whatever is on the way is lost; the reader hears of it once the way is free. */
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

  /** On the network's clock, but without its latency. */
  later(run: () => void): void {
    this.conditions.after(0, run);
  }

  /** Moves on if nothing stands in the way. */
  flow(): void {
    if (this.inTransit || this.closed || this.queue.length === 0 || this.conditions.isBlocked()) return;
    this.inTransit = true;
    this.conditions.after(this.conditions.latencyMs(), () => {
      this.inTransit = false;
      this.arrive();
    });
  }

  private arrive(): void {
    if (this.closed || this.paused || this.readerHandler === null || this.conditions.isBlocked()) return;
    if (this.conditions.connectionLost()) return this.conditions.onLost();
    // What was written during one latency arrives together; only how it is cut differs.
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
      this.writerHandler?.onWritable();
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
    this.readerHandler?.onData(item.subarray(0, take));
  }

  private chunkBytes(bytes: number): number {
    if (this.conditions.chunking === 'byte') return 1;
    return this.conditions.chunking === 'random' ? this.conditions.chance.between(1, bytes) : bytes;
  }
}
