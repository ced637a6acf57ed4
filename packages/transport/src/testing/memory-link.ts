import type { NetSocket, SocketHandler } from '../net/net.js';
import { MemoryPipe, type PipeConditions } from './memory-pipe.js';

const PLAIN = { binding: new Uint8Array(0), certificate: null };

/** A connection: two pipes and the two sockets at their ends. Closing travels like bytes: a partition keeps it from the other end. */
export class MemoryLink {
  readonly accepted: MemorySocket;
  readonly dialled: MemorySocket;
  private readonly from: string;
  private readonly to: string;
  private readonly outbound: MemoryPipe;
  private readonly inbound: MemoryPipe;

  constructor(from: string, to: string, world: LinkConditions, onGone: () => void) {
    this.from = from;
    this.to = to;
    this.outbound = new MemoryPipe(
      world(
        { from, to },
        () => this.break(),
        (what) => this.accepted.arrived(what),
      ),
    );
    this.inbound = new MemoryPipe(
      world(
        { from: to, to: from },
        () => this.break(),
        (what) => this.dialled.arrived(what),
      ),
    );
    const onClosed = (): void => {
      if (this.accepted.closed && this.dialled.closed) onGone();
    };
    this.dialled = new MemorySocket(to, this.outbound, this.inbound, onClosed);
    this.accepted = new MemorySocket(from, this.inbound, this.outbound, onClosed);
  }

  touches(machine: string): boolean {
    return this.from === machine || this.to === machine;
  }

  flow(): void {
    this.outbound.flow();
    this.inbound.flow();
  }

  break(): void {
    this.outbound.reset();
    this.inbound.reset();
  }
}

export type LinkConditions = (
  way: { readonly from: string; readonly to: string },
  broken: () => void,
  arrived: (what: 'end' | 'reset') => void,
) => PipeConditions;

class MemorySocket implements NetSocket {
  readonly remote: string;
  readonly channel = PLAIN;
  /** Its pipe copies. */
  readonly heldBytes = 0;
  private readonly outgoing: MemoryPipe;
  private readonly incoming: MemoryPipe;
  private readonly onClosed: () => void;
  private handler: SocketHandler | null = null;
  private endWritten = false;
  private endReceived = false;
  private isClosed = false;

  constructor(remote: string, out: MemoryPipe, into: MemoryPipe, onClosed: () => void) {
    this.remote = remote;
    this.outgoing = out;
    this.incoming = into;
    this.onClosed = onClosed;
  }

  get closed(): boolean {
    return this.isClosed;
  }

  attach(handler: SocketHandler): void {
    this.handler = handler;
    this.outgoing.writer = handler;
    this.incoming.reader = handler;
  }

  write(pieces: readonly Buffer[]): boolean {
    return this.isClosed || this.outgoing.write(pieces);
  }

  pause(): void {
    this.incoming.pause();
  }

  resume(): void {
    this.incoming.resume();
  }

  end(): void {
    this.writeEnd();
    if (this.endReceived) this.finish(null);
  }

  destroy(): void {
    if (this.isClosed) return;
    this.writeEnd();
    this.finish(null);
  }

  arrived(what: 'end' | 'reset'): void {
    if (this.isClosed) return;
    if (what === 'reset') return this.finish(new Error('ECONNRESET'));
    this.endReceived = true;
    this.handler?.onEnd();
    if (this.endWritten) this.finish(null);
  }

  private writeEnd(): void {
    if (this.endWritten) return;
    this.endWritten = true;
    this.outgoing.end();
  }

  private finish(error: Error | null): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.incoming.close();
    this.onClosed();
    this.outgoing.later(() => this.handler?.onClose(error));
  }
}
