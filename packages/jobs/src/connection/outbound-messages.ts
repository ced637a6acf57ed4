import type { MessageWriter } from './message-writer.js';

/**
 * The messages that a session has taken and not written yet, unencoded and in order. A session takes none
 * while it has no room, so these are the rest of one message and those that were in the mailbox.
 */
export class OutboundMessages<Message> {
  private readonly writer: MessageWriter;
  private readonly encode: (message: Message) => void;
  private readonly waiting: Message[] = [];

  constructor(writer: MessageWriter, encode: (message: Message) => void) {
    this.writer = writer;
    this.encode = encode;
  }

  get hasRoom(): boolean {
    return this.waiting.length === 0 && !this.writer.isBehind;
  }

  write(message: Message): void {
    if (this.hasRoom) this.encode(message);
    else this.waiting.push(message);
  }

  /** The writer is not behind any more. */
  writeWaiting(): void {
    while (this.waiting.length > 0 && !this.writer.isBehind) this.encode(this.waiting.shift() as Message); // length > 0
  }
}
