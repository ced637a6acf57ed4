import type { NetSocket, SocketHandler } from '../net/net.js';
import { MemoryPipe, type PipeWorld } from './memory-pipe.js';

const PLAIN = { binding: new Uint8Array(0), certificate: null };

/** A connection: two pipes and the two sockets at their ends. Closing travels like bytes: a partition keeps it from the other end. */
export class MemoryLink {
  readonly accepted: MemorySocket;
  readonly dialled: MemorySocket;
  readonly #from: string;
  readonly #to: string;
  readonly #there: MemoryPipe;
  readonly #back: MemoryPipe;

  constructor(from: string, to: string, world: LinkWorld, onGone: () => void) {
    this.#from = from;
    this.#to = to;
    this.#there = new MemoryPipe(
      world(
        { from, to },
        () => this.break(),
        (what) => this.accepted.arrived(what),
      ),
    );
    this.#back = new MemoryPipe(
      world(
        { from: to, to: from },
        () => this.break(),
        (what) => this.dialled.arrived(what),
      ),
    );
    const onClosed = (): void => {
      if (this.accepted.closed && this.dialled.closed) onGone();
    };
    this.dialled = new MemorySocket(to, this.#there, this.#back, onClosed);
    this.accepted = new MemorySocket(from, this.#back, this.#there, onClosed);
  }

  touches(machine: string): boolean {
    return this.#from === machine || this.#to === machine;
  }

  flow(): void {
    this.#there.flow();
    this.#back.flow();
  }

  break(): void {
    this.#there.reset();
    this.#back.reset();
  }
}

export type LinkWorld = (
  way: { readonly from: string; readonly to: string },
  broken: () => void,
  arrived: (what: 'end' | 'reset') => void,
) => PipeWorld;

class MemorySocket implements NetSocket {
  readonly remote: string;
  readonly channel = PLAIN;
  /** Its pipe copies. */
  readonly heldBytes = 0;
  readonly #out: MemoryPipe;
  readonly #into: MemoryPipe;
  readonly #onClosed: () => void;
  #handler: SocketHandler | null = null;
  #sentEnd = false;
  #gotEnd = false;
  #closed = false;

  constructor(remote: string, out: MemoryPipe, into: MemoryPipe, onClosed: () => void) {
    this.remote = remote;
    this.#out = out;
    this.#into = into;
    this.#onClosed = onClosed;
  }

  get closed(): boolean {
    return this.#closed;
  }

  attach(handler: SocketHandler): void {
    this.#handler = handler;
    this.#out.writer = handler;
    this.#into.reader = handler;
  }

  write(pieces: readonly Buffer[]): boolean {
    return this.#closed || this.#out.write(pieces);
  }

  pause(): void {
    this.#into.pause();
  }

  resume(): void {
    this.#into.resume();
  }

  end(): void {
    this.#sendEnd();
    if (this.#gotEnd) this.#close(null);
  }

  destroy(): void {
    if (this.#closed) return;
    this.#sendEnd();
    this.#close(null);
  }

  arrived(what: 'end' | 'reset'): void {
    if (this.#closed) return;
    if (what === 'reset') return this.#close(new Error('ECONNRESET'));
    this.#gotEnd = true;
    this.#handler?.onEnd();
    if (this.#sentEnd) this.#close(null);
  }

  #sendEnd(): void {
    if (this.#sentEnd) return;
    this.#sentEnd = true;
    this.#out.end();
  }

  #close(error: Error | null): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#into.kill();
    this.#onClosed();
    this.#out.later(() => this.#handler?.onClose(error));
  }
}
