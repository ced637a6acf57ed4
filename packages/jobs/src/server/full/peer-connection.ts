import type { SessionConnection } from '@troupe/transport';
import { type DivertBody, MessageReader } from '../../connection/message-reader.js';
import { MessageWriter, type MessageWriterOptions } from '../../connection/message-writer.js';
import { OutboundMessages } from '../../connection/outbound-messages.js';
import type { Emit } from '../../wire/session-codec.js';
import type { WireReader } from '../../wire/wire-reader.js';
import { afterTaken, type Taken } from '../offer-to-leader.js';
import { type PortSession, SessionPort } from '../session-port.js';
import type { SessionSetup } from '../session-setup.js';

/** The own messages of a session of the full dialect. */
export interface PeerSessionEvents {
  /** There is room in the outbox again. */
  writable(): void;
}

/** The ref of a session, as its parts use it. */
export interface PeerSessionRef<Message extends { readonly kind: string }> extends PortSession<Message> {
  readonly tell: { writable(): void };
}

/**
 * One connection of the full dialect at a leader, inside the actor that is its session: messages in, messages
 * out, and the port that its hello opens.
 */
export abstract class PeerConnection<Message extends { readonly kind: string }> {
  protected readonly setup: SessionSetup;
  protected readonly connection: SessionConnection;
  protected readonly reader: MessageReader;
  private readonly writer: MessageWriter;
  protected readonly outbound: OutboundMessages<Message>;
  protected readonly self: PeerSessionRef<Message>;
  /** Undefined before the hello. */
  protected port: SessionPort<Message> | undefined = undefined;
  /** Callbacks of bodies may come after the end of the session. */
  protected isOver = false;

  constructor(
    self: PeerSessionRef<Message>,
    setup: SessionSetup,
    writing: Pick<MessageWriterOptions, 'open' | 'onLost'>,
    divert?: DivertBody,
  ) {
    const { connection, messageLimits, compress } = setup;
    this.self = self;
    this.setup = setup;
    this.connection = connection;
    this.reader = new MessageReader(
      connection,
      messageLimits,
      (type, from, bytes) => this.received(type, from, bytes),
      divert,
    );
    this.writer = new MessageWriter(connection, {
      ...writing,
      compress,
      onRoom: () => {
        if (!this.isOver) self.tell.writable();
      },
    });
    this.outbound = new OutboundMessages(this.writer, (message) => this.encode(message, this.writer.write));
  }

  read(): Taken {
    return this.reader.read(this.mayRead);
  }

  deliver(message: Message): Taken {
    this.write(message);
    return this.advance();
  }

  writable(): Taken {
    this.outbound.writeWaiting();
    return this.advance();
  }

  /** The session has ended: its callbacks do nothing more. */
  end(): void {
    this.isOver = true;
  }

  closed(): Taken {
    this.end();
    return this.port === undefined ? undefined : this.setup.leader.connectionLost(this.port);
  }

  /** There may be room for messages of either side. */
  private advance(): Taken {
    return afterTaken(this.port?.reportRoom(), () => this.reader.readHeld(this.mayRead));
  }

  /** A peer that does not read its answers is not read from. */
  private readonly mayRead = (): boolean => !this.writer.isOutboxFull && this.mayReceive();

  /** Whether the leader may get a further message of the peer. */
  protected mayReceive(): boolean {
    return true;
  }

  /** A hello opens a session through a port of its own. */
  protected openPort(open: (port: SessionPort<Message>) => Taken): Taken {
    const port = new SessionPort<Message>(this.self, this.setup, () => this.outbound.hasRoom);
    this.port = port;
    return open(port);
  }

  protected abstract write(message: Message): void;

  protected abstract encode(message: Message, emit: Emit): void;

  protected abstract received(type: number, from: WireReader, bytes: number): Taken;
}
