// Hot path: `read` runs for every frame.
import {
  decompressBody,
  type IncomingBody,
  type ReceivedFrame,
  type SessionConnection,
  TransportError,
} from '@troupe/transport';
import { JobsError, MessageTooLongError } from '../jobs-error.js';
import { WireReader } from '../wire/wire-reader.js';
import { type MessageLimits, messageBytesMax } from './message-limits.js';

/**
 * Handles one message; a promise holds back the messages behind it. A malformed message that it throws ends
 * the connection, and nothing else.
 */
export type HandleMessage = (type: number, from: WireReader, bytes: number) => Promise<void> | undefined;

/** Reads a body in pieces by itself if it returns true. */
export type DivertBody = (frame: ReceivedFrame, incoming: IncomingBody) => boolean;

/** The frames of one peer, as whole messages. */
export class MessageReader {
  /** Frames have arrived and were not taken, because `mayRead` was false. */
  private isHeld = false;
  /** The msgId of the frame that was read last, for an error about it. */
  private msgId: string | undefined = undefined;
  private readonly connection: SessionConnection;
  private readonly limits: MessageLimits;
  private readonly handle: HandleMessage;
  private readonly divert: DivertBody | undefined;

  constructor(
    connection: SessionConnection,
    limits: MessageLimits,
    handle: HandleMessage,
    divert?: DivertBody,
  ) {
    this.connection = connection;
    this.limits = limits;
    this.handle = handle;
    this.divert = divert;
  }

  /** Handles the frames that have arrived, as long as `mayRead` allows it. */
  read(mayRead: () => boolean): Promise<void> | undefined {
    while (mayRead()) {
      const handled = this.readNext();
      if (handled === false) return undefined;
      if (handled !== true) return handled.then(() => this.read(mayRead));
    }
    this.isHeld = true;
    return undefined;
  }

  /** Continues after a `read` that was not allowed to go on. */
  readHeld(mayRead: () => boolean): Promise<void> | undefined {
    if (!this.isHeld || !mayRead()) return undefined;
    this.isHeld = false;
    return this.read(mayRead);
  }

  /** Handles one frame; false where there is none. */
  readNext(): Promise<void> | boolean {
    const frame = this.connection.nextFrame();
    return frame === null ? false : (this.receive(frame) ?? true);
  }

  /** Puts a body together in memory; it is read again when it is whole. `received`: the part read before. */
  gather(frame: ReceivedFrame, received?: Buffer): void {
    this.connection.gather(frame, messageBytesMax(frame.type, this.limits), received);
  }

  /** The message of this frame is not for this role, or of a later version. */
  refuseUnknown(): void {
    this.connection.writeError('UNKNOWN_TYPE', { corrId: this.msgId });
  }

  refuseMalformed(msgId = this.msgId): void {
    this.connection.writeError('MALFORMED', { field: 'message', corrId: msgId });
    this.connection.close({ kind: 'refused', errorName: 'MALFORMED', cause: 'message' });
  }

  private receive(frame: ReceivedFrame): Promise<void> | undefined {
    if (frame.incoming === null) return this.decode(frame);
    if (this.divert?.(frame, frame.incoming) !== true) this.gather(frame);
    return undefined;
  }

  private decode(frame: ReceivedFrame): Promise<void> | undefined {
    const { type, body, isDetached } = frame;
    const { compression, rawLen, msgId } = frame.header;
    this.msgId = msgId;
    try {
      const bytes =
        compression === undefined || rawLen === undefined
          ? body
          : decompressBody({ compression, rawLen, body }, messageBytesMax(type, this.limits));
      return this.handle(type, new WireReader(bytes, isDetached, this.limits.itemsMax), bytes.length);
    } catch (error) {
      if (!(error instanceof JobsError || error instanceof TransportError)) throw error;
      if (error instanceof MessageTooLongError) this.refuseTooLong();
      else this.refuseMalformed();
      return undefined;
    }
  }

  private refuseTooLong(): void {
    this.connection.writeError('PAYLOAD_TOO_LARGE', { field: 'items', corrId: this.msgId });
    this.connection.close({ kind: 'refused', errorName: 'PAYLOAD_TOO_LARGE', cause: 'items' });
  }
}
