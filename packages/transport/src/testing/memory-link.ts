import type { NetSocket, SocketHandler } from '../net/net-interface.js';
import { MemoryPipe, type PipeConditions } from './memory-pipe.js';

const NO_TLS = { binding: new Uint8Array(0), certificate: null };

/** Two pipes and the sockets at their ends. A close is delivered like bytes: a partition holds it back. */
export class MemoryLink {
  readonly accepted: MemorySocket;
  readonly dialled: MemorySocket;
  private readonly from: string;
  private readonly to: string;
  private readonly outbound: MemoryPipe;
  private readonly inbound: MemoryPipe;

  constructor(from: string, to: string, conditionsOf: LinkConditions, onClosed: () => void) {
    this.from = from;
    this.to = to;
    this.outbound = new MemoryPipe(
      conditionsOf(
        { from, to },
        () => this.break(),
        (end) => this.accepted.arrived(end),
      ),
    );
    this.inbound = new MemoryPipe(
      conditionsOf(
        { from: to, to: from },
        () => this.break(),
        (end) => this.dialled.arrived(end),
      ),
    );
    const onSocketClosed = (): void => {
      if (this.accepted.closed && this.dialled.closed) onClosed();
    };
    this.dialled = new MemorySocket(to, this.outbound, this.inbound, onSocketClosed);
    this.accepted = new MemorySocket(from, this.inbound, this.outbound, onSocketClosed);
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
  route: { readonly from: string; readonly to: string },
  onLost: () => void,
  onArrived: (end: 'end' | 'reset') => void,
) => PipeConditions;

class MemorySocket implements NetSocket {
  readonly remote: string;
  readonly channel = NO_TLS;
  /** Its pipe copies all bytes. */
  readonly heldBytes = 0;
  private readonly outgoing: MemoryPipe;
  private readonly incoming: MemoryPipe;
  private readonly onClosed: () => void;
  private handler: SocketHandler | null = null;
  private endWritten = false;
  private endReceived = false;
  private isClosed = false;

  constructor(remote: string, outgoing: MemoryPipe, incoming: MemoryPipe, onClosed: () => void) {
    this.remote = remote;
    this.outgoing = outgoing;
    this.incoming = incoming;
    this.onClosed = onClosed;
  }

  get closed(): boolean {
    return this.isClosed;
  }

  attach(handler: SocketHandler): void {
    this.handler = handler;
    this.outgoing.attachWriter(handler);
    this.incoming.attachReader(handler);
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

  arrived(end: 'end' | 'reset'): void {
    if (this.isClosed) return;
    if (end === 'reset') return this.finish(new Error('ECONNRESET'));
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
    this.outgoing.runSoon(() => this.handler?.onClose(error));
  }
}
