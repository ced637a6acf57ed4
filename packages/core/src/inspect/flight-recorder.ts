import type { Mailbox } from '../mailbox/mailbox.js';
import { NO_SLOT } from '../mailbox/mailbox.js';
import { handlerOf, NO_MESSAGE } from '../message/envelope.js';
import type { ReadyQueueCoordinator } from '../run-queue/ready-queue-coordinator.js';

const NOTES_KEPT = 4096;
const NOTE_FIELDS = 4;
const RELEASES_KEPT = 1024;

/** One recorded send. The slot of a sender that was released since is negative. */
export interface RecordedSend {
  readonly sequence: number;
  readonly sender: number;
  readonly receiver: number;
  readonly handler: number;
}

/**
 * The last few thousand sends (sender, receiver, handler), so that a failure report can show the messages
 * before it. It stays on because it costs next to nothing: an inline message is recorded by its ready entry,
 * a repeated send into a mailbox that is already waiting is noted once, and only the rest is noted here, as
 * integers in a ring.
 *
 * A slot may have been given to another actor since; `releases` has the sequence number of the last releases.
 */
export class FlightRecorder {
  private readonly notes = new Float64Array(NOTE_FIELDS * NOTES_KEPT);
  private noted = 0;
  private readonly releases = new Float64Array(2 * RELEASES_KEPT);
  private released = 0;

  note(sender: number, receiver: number, handler: number, sequence: number): void {
    const at = (this.noted % NOTES_KEPT) * NOTE_FIELDS;
    this.notes[at] = sequence;
    this.notes[at + 1] = sender;
    this.notes[at + 2] = receiver;
    this.notes[at + 3] = handler;
    this.noted += 1;
  }

  slotReleased(slot: number, sequence: number): void {
    const at = (this.released % RELEASES_KEPT) * 2;
    this.releases[at] = slot;
    this.releases[at + 1] = sequence;
    this.released += 1;
  }

  /** The sends before the present state of an actor: to it, to its senders, and so on; oldest first. */
  messageHistoryOf(ready: ReadyQueueCoordinator<Mailbox>, slot: number, most: number): RecordedSend[] {
    const concerned = new Set([slot]);
    const messageHistory: RecordedSend[] = [];
    for (const send of this.newestFirst(ready)) {
      if (messageHistory.length === most) break;
      const { sender, receiver, sequence } = send;
      if (!concerned.has(receiver) || this.wasReleased(receiver, sequence)) continue;
      messageHistory.push(this.wasReleased(sender, sequence) ? { ...send, sender: -sender } : send);
      if (sender !== NO_SLOT) concerned.add(sender);
    }
    return messageHistory.reverse();
  }

  /** The last sends of all actors, oldest first. */
  lastSends(ready: ReadyQueueCoordinator<Mailbox>, most: number): RecordedSend[] {
    return this.newestFirst(ready).slice(0, most).reverse();
  }

  private newestFirst(ready: ReadyQueueCoordinator<Mailbox>): RecordedSend[] {
    const sends: RecordedSend[] = [];
    ready.visitInlineSends((sequence, sender, receiver, handler) => {
      if (handler !== NO_MESSAGE) sends.push({ sequence, sender, receiver, handler: handlerOf(handler) });
      return true;
    });
    // The latest first: sends to other threads do not advance the sequence, and stay in this order.
    for (let n = this.noted - 1; n >= Math.max(0, this.noted - NOTES_KEPT); n -= 1) {
      const at = (n % NOTES_KEPT) * NOTE_FIELDS;
      const [sequence, sender, receiver, handler] = this.notes.subarray(at, at + NOTE_FIELDS);
      sends.push({ sequence, sender, receiver, handler } as RecordedSend);
    }
    return sends.sort((a, b) => b.sequence - a.sequence);
  }

  private wasReleased(slot: number, sequence: number): boolean {
    for (let i = 0; i < Math.min(this.released, RELEASES_KEPT); i += 1) {
      if (this.releases[2 * i] === slot && (this.releases[2 * i + 1] as number) > sequence) return true;
    }
    return false;
  }
}
