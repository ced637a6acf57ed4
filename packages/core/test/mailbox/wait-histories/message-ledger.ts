import type { Message } from './wait-history.js';

export type Sending = 'tell' | 'ask' | 'send' | 'timer';

/** One message that was sent, and everything that became of it. It is the payload too. */
export class SentMessage {
  readonly id: number;
  readonly script: Message;
  readonly how: Sending;
  /** The sending actor; -1 for code outside actors. */
  readonly from: number;
  /** Handler runs, without those that stashed it. */
  handled = 0;
  stashed = 0;
  readonly letters: string[] = [];
  /** Of an ask or a send: pending until its promise has settled. */
  outcome: 'pending' | 'resolved' | Error = 'pending';
  /** Virtual time of the outcome. */
  settledAt = Number.NaN;

  constructor(id: number, script: Message, how: Sending, from: number) {
    this.id = id;
    this.script = script;
    this.how = how;
    this.from = from;
  }

  /** An ask or a send whose sender still waits, or may. */
  get isOpen(): boolean {
    return (this.how === 'ask' || this.how === 'send') && this.outcome === 'pending';
  }

  toString(): string {
    const from = this.from < 0 ? 'outside' : `actor ${this.from}`;
    return `message ${this.id}, ${this.how} of ${from} to actor ${this.script.to}`;
  }
}

/** All messages of a run. */
export class MessageLedger {
  readonly messages: SentMessage[] = [];

  add(script: Message, how: Sending, from: number): SentMessage {
    const message = new SentMessage(this.messages.length, script, how, from);
    this.messages.push(message);
    return message;
  }

  /** Notes the end of an ask or a send. */
  follow(message: SentMessage, promise: Promise<unknown>, clock: { now(): number }): Promise<void> {
    return promise.then(
      () => {
        message.outcome = 'resolved';
        message.settledAt = clock.now();
      },
      (error: Error) => {
        message.outcome = error;
        message.settledAt = clock.now();
      },
    );
  }
}
