/**
 * Messages that wait, unencoded and in order, until there is room for their bytes. The ledger holds their
 * payloads anyway, so waiting here costs no second copy (ADR 0416).
 */
export class OutboundBacklog<Message> {
  private readonly waiting: Message[] = [];
  private readonly hasRoom: () => boolean;
  private readonly write: (message: Message) => void;

  constructor(hasRoom: () => boolean, write: (message: Message) => void) {
    this.hasRoom = hasRoom;
    this.write = write;
  }

  add(message: Message): void {
    if (this.waiting.length === 0 && this.hasRoom()) this.write(message);
    else this.waiting.push(message);
  }

  /** There is room again. */
  drain(): void {
    while (this.waiting.length > 0 && this.hasRoom()) this.write(this.waiting.shift() as Message); // length > 0
  }
}
