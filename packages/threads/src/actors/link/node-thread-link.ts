// Hot path: every message between threads.

import type { MessagePort } from 'node:worker_threads';
import type { ThreadReceiver, UnreadMessage } from '@troupe/core';
import { ringNumber, ringPositions, settleRing } from '../../ring/byte-ring.js';
import type { ValueReader } from '../../value/value-reader.js';
import type { ValueWriter } from '../../value/value-writer.js';
import { RecordReader, unreadMessages } from './node-record-reader.js';
import { RecordWriter } from './node-record-writer.js';

/** The ends of the two rings and of the port between this thread and another. */
export interface LinkEnds {
  readonly out: SharedArrayBuffer;
  readonly in: SharedArrayBuffer;
  readonly port: MessagePort;
}

/** The parts of a thread that its links share. */
export interface LinkParts {
  readonly receiver: ThreadReceiver;
  readonly writer: ValueWriter;
  readonly reader: ValueReader;
  onWritten(): void;
  onPublished(thread: number): void;
}

/** The way to one other thread and back. */
export class ThreadLink {
  readonly out: RecordWriter;
  private readonly in: RecordReader;
  private readonly thread: number;
  private readonly ends: LinkEnds;
  private readonly parts: LinkParts;

  constructor(thread: number, ends: LinkEnds, parts: LinkParts) {
    const { receiver, writer, reader } = parts;
    this.thread = thread;
    this.ends = ends;
    this.parts = parts;
    this.in = new RecordReader(ends.in, ends.port, thread, receiver, reader);
    this.out = new RecordWriter(ends.out, ends.port, writer, {
      onWritten: () => parts.onWritten(),
      onPublishing: (messages, ring, tail) => receiver.publishing(messages, ring, tail),
      onPublished: (messages) => {
        if (messages > 0) receiver.published(messages);
        parts.onPublished(thread);
      },
      onRoomAgain: () => receiver.roomAgain(thread),
    });
  }

  /** No record is to be read. */
  get isEmpty(): boolean {
    return this.in.isEmpty;
  }

  /**
   * A record is to be read, or one that waits has room. Asked before a sleep: the reader may have made room
   * just before it could see that the writer waits for it, and does not wake it then.
   */
  get hasWork(): boolean {
    return !this.in.isEmpty || this.out.hasRoomForWaiting;
  }

  /** Reads some records; false when there was nothing to do. */
  read(): boolean {
    if (this.out.hasWaiting) this.out.writeWaiting();
    const result = this.in.read();
    // The other thread waits for room: waking it is like waking it for a record.
    if (result === 'read-and-awaited') this.parts.onPublished(this.thread);
    return result !== 'nothing';
  }

  /** The other thread has ended: the messages that it has not read. */
  get unread(): UnreadMessage[] {
    const { out } = this;
    return unreadMessages(this.parts.reader, this.ends.out, out.unwritten, out.forms.asRead);
  }

  /** These messages are accounted for: the store of that in the ring counts, if this thread ends as well. */
  settle(): void {
    const { out, in: back } = this.ends;
    const { receiver } = this.parts;
    receiver.dropped(this.out.unwrittenMessages);
    receiver.releasing(ringNumber(out), ringPositions(out).tail);
    settleRing(out);
    receiver.released();
    settleRing(back);
  }

  close(): void {
    this.ends.port.close();
  }
}
