import type { SocketHandler } from '../net/net.js';
import type { Chance } from './chance.js';

/** What a direction of a connection asks of its network. */
export interface PipeWorld {
  readonly chance: Chance;
  /** Runs `run` after the latency of this moment. */
  after(ms: number, run: () => void): void;
  latencyMs(): number;
  /** How the bytes are cut on arrival. */
  readonly chunking: 'whole' | 'random' | 'byte';
  readonly windowBytes: number;
  /** Bytes written now stay where they are, until the network says `flow` again. */
  blocked(): boolean;
  /** Asked once per arriving chunk: the connection is lost here. */
  breaksNow(): boolean;
  broken(): void;
  /** The writer's end of stream, or a reset, has arrived at the reader. */
  arrived(what: 'end' | 'reset'): void;
}

type Item = Buffer | 'end' | 'reset';

/**
 * One direction of a connection: bytes keep their order, arrive late, cut anywhere, and wait while the way is blocked or the reader
 * is paused. A full window tells the writer to stop, like a socket buffer.
 */
export class MemoryPipe {
  readonly #world: PipeWorld;
  readonly #queue: Item[] = [];
  #reader: SocketHandler | null = null;
  #writer: SocketHandler | null = null;
  #bytes = 0;
  #paused = false;
  #moving = false;
  #wantsDrain = false;
  #dead = false;

  constructor(world: PipeWorld) {
    this.#world = world;
  }

  set reader(handler: SocketHandler) {
    this.#reader = handler;
    this.flow();
  }

  set writer(handler: SocketHandler) {
    this.#writer = handler;
  }

  write(pieces: readonly Buffer[]): boolean {
    if (this.#dead) return true;
    for (const piece of pieces) {
      if (piece.length === 0) continue;
      // A copy, as the operating system would make: the writer may use its buffer again.
      this.#queue.push(Buffer.from(piece));
      this.#bytes += piece.length;
    }
    this.flow();
    this.#wantsDrain ||= this.#bytes >= this.#world.windowBytes;
    return !this.#wantsDrain;
  }

  end(): void {
    this.#queue.push('end');
    this.flow();
  }

  /** Whatever is on the way is lost; the reader hears of it once the way is free. */
  reset(): void {
    if (this.#dead) return;
    this.#queue.length = 0;
    this.#queue.push('reset');
    this.#paused = false;
    this.flow();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.flow();
  }

  kill(): void {
    this.#dead = true;
    this.#queue.length = 0;
  }

  /** On the network's clock, but without its latency. */
  later(run: () => void): void {
    this.#world.after(0, run);
  }

  /** Moves on if nothing stands in the way. */
  flow(): void {
    if (this.#moving || this.#dead || this.#queue.length === 0 || this.#world.blocked()) return;
    this.#moving = true;
    this.#world.after(this.#world.latencyMs(), () => {
      this.#moving = false;
      this.#arrive();
    });
  }

  #arrive(): void {
    if (this.#dead || this.#paused || this.#reader === null || this.#world.blocked()) return;
    if (this.#world.breaksNow()) return this.#world.broken();
    // What was written during one latency arrives together; only how it is cut differs.
    const items = this.#queue.splice(0);
    while (items.length > 0 && !this.#dead) {
      if (this.#paused) {
        this.#queue.unshift(...items);
        break;
      }
      this.#deliver(items);
    }
    if (this.#wantsDrain && this.#bytes < this.#world.windowBytes / 2 && !this.#dead) {
      this.#wantsDrain = false;
      this.#writer?.onWritable();
    }
    this.flow();
  }

  #deliver(items: Item[]): void {
    const item = items.shift();
    if (item === undefined) return;
    if (item === 'end' || item === 'reset') return this.#world.arrived(item);
    const take = this.#cut(item.length);
    if (take < item.length) items.unshift(item.subarray(take));
    this.#bytes -= take;
    this.#reader?.onData(item.subarray(0, take));
  }

  #cut(bytes: number): number {
    if (this.#world.chunking === 'byte') return 1;
    return this.#world.chunking === 'random' ? this.#world.chance.between(1, bytes) : bytes;
  }
}
