import type { ThreadReceiver, UnreadMessage } from '../../remote/threads.js';

/** A record between two virtual threads. */
export interface VirtualRecord {
  /** Undefined for a record that is no message. */
  readonly message: UnreadMessage | undefined;
  read(receiver: ThreadReceiver): void;
}

/** Records from one virtual thread to another, in their order. */
export class VirtualChannel {
  readonly from: number;
  readonly to: number;
  private readonly room: number;
  private records: VirtualRecord[] = [];
  private isFull = false;

  constructor(from: number, to: number, room: number) {
    this.from = from;
    this.to = to;
    this.room = room;
  }

  get isEmpty(): boolean {
    return this.records.length === 0;
  }

  /** Messages among the records. */
  get messages(): number {
    return this.records.filter(({ message }) => message !== undefined).length;
  }

  /** False when this was the last for which there is room. */
  write(record: VirtualRecord): boolean {
    this.records.push(record);
    if (this.records.length >= this.room) this.isFull = true;
    return !this.isFull;
  }

  /** Reads one record; true when its writer has room again. */
  read(receiver: ThreadReceiver): boolean {
    this.records.shift()?.read(receiver);
    if (!this.isFull || this.records.length > 0) return false;
    this.isFull = false;
    return true;
  }

  /** Takes everything: one of the threads has ended. */
  takeUnread(): UnreadMessage[] {
    this.isFull = false;
    return this.records.splice(0).flatMap(({ message }) => (message === undefined ? [] : [message]));
  }
}
