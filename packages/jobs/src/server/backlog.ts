/**
 * Messages that wait as they are until there is room for their bytes. What they point to is in the ledger anyway, so that waiting here
 * costs no second copy of it (ADR 0120). They keep their order.
 */
export class Backlog<Message> {
  private readonly waiting: Message[] = [];
  private readonly hasRoom: () => boolean;
  private readonly send: (message: Message) => void;

  constructor(hasRoom: () => boolean, send: (message: Message) => void) {
    this.hasRoom = hasRoom;
    this.send = send;
  }

  add(message: Message): void {
    if (this.waiting.length === 0 && this.hasRoom()) this.send(message);
    else this.waiting.push(message);
  }

  /** There is room again. */
  drain(): void {
    while (this.waiting.length > 0 && this.hasRoom()) this.send(this.waiting.shift() as Message); // length > 0
  }
}
