import type { CloseReason, Connection, ConnectionHandler, ReceivedFrame } from '@troupe/transport';
import type { PeerPort } from '../protocol/leader-interface.js';
import { type DivertBody, FrameReceiver } from '../wire/frame-receiver.js';
import { FrameSender, type FrameSenderOptions } from '../wire/frame-sender.js';
import type { WireReader } from '../wire/wire-reader.js';
import type { ConnectionSetup } from './connection-setup.js';

/**
 * One connection of the full dialect at a leader: frames in, frames out, and the session that its hello
 * begins.
 */
export abstract class PeerConnection<Message> implements ConnectionHandler {
  protected readonly setup: ConnectionSetup<Message>;
  protected readonly connection: Connection;
  protected readonly receiver: FrameReceiver;
  protected readonly sender: FrameSender;
  /** The session; undefined before the hello. */
  protected port: PeerPort<Message> | undefined = undefined;

  constructor(
    setup: ConnectionSetup<Message>,
    options: Omit<FrameSenderOptions, 'waitingBytesMax' | 'compress'>,
    divert?: DivertBody,
  ) {
    const { connection, messageLimits, waitingBytesMax, compress } = setup;
    this.setup = setup;
    this.connection = connection;
    this.receiver = new FrameReceiver(
      connection,
      messageLimits,
      (type, from, bytes) => this.received(type, from, bytes),
      divert,
    );
    this.sender = new FrameSender(connection, { ...options, waitingBytesMax, compress });
  }

  /** In the session's actor: a peer that does not read delays no other. */
  abstract deliver(message: Message): void;

  protected abstract received(type: number, from: WireReader, bytes: number): void;

  onFrame(frame: ReceivedFrame): void {
    this.receiver.receive(frame);
  }

  onWritable(): void {
    this.sender.drained();
  }

  onClose(_reason: CloseReason): void {
    if (this.port !== undefined) this.setup.leader.connectionLost(this.port);
    this.setup.onClosed();
  }
}
