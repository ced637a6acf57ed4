// Hot path: every message between threads.

import { type MessagePort, receiveMessageOnPort, type TransferListItem } from 'node:worker_threads';
import type {
  ActorAddress,
  LayoutFields,
  RemoteAsk,
  RemoteSignal,
  ThreadReceiver,
  UnreadMessage,
} from '@troupe/core';
import { RingReader, RingWriter } from '../ring/byte-ring.js';
import { ReaderForms, WriterForms } from '../value/forms.js';
import { transferListOf } from '../value/transfer.js';
import type { ValueReader } from '../value/value-reader.js';
import type { ValueWriter } from '../value/value-writer.js';

/** The first word of a record: its kind, and above it the number of the handler. */
const TELL = 0;
const ASK = 1;
const REPLY = 2;
const REFUSE = 3;
const SIGNAL = 4;
/** The record itself comes by the port. */
const BY_PORT = 5;
const KIND_BITS = 3;
const KIND_MASK = (1 << KIND_BITS) - 1;

/** A record is begun where at least so many bytes are free. */
const LEAST_BYTES = 64;
const MARKER_BYTES = 8;
/** Kind, handler and address of a message. */
const HEAD_BYTES = 16;
/** Larger records, in parts of the ring, go by the port. */
const LARGE = 1 / 4;
/** Records read in one go, before actors get their turns. */
const BATCH = 256;
/** Closed records that are published at once. */
const PUBLISH_EVERY = 64;

/** The ends of the two rings and of the port between this thread and another. */
export interface LinkEnds {
  readonly out: SharedArrayBuffer;
  readonly in: SharedArrayBuffer;
  readonly port: MessagePort;
}

/** The way to one other thread and back. */
export class ThreadLink {
  readonly thread: number;
  private readonly out: RingWriter;
  private readonly in: RingReader;
  private readonly port: MessagePort;
  private readonly receiver: ThreadReceiver;
  private readonly writer: ValueWriter;
  private readonly reader: ValueReader;
  private readonly forms = new WriterForms();
  private readonly formsIn = new ReaderForms();
  /** Records for which there was no room, in their order. */
  private readonly waiting: WaitingRecord[] = [];
  private unpublished = 0;
  /** Messages among them. */
  private unpublishedMessages = 0;
  private readonly onWritten: () => void;
  private readonly onPublished: (thread: number) => void;

  constructor(
    thread: number,
    ends: LinkEnds,
    receiver: ThreadReceiver,
    values: { readonly writer: ValueWriter; readonly reader: ValueReader },
    hooks: { readonly onWritten: () => void; readonly onPublished: (thread: number) => void },
  ) {
    this.thread = thread;
    this.out = new RingWriter(ends.out);
    this.in = new RingReader(ends.in);
    this.port = ends.port;
    this.receiver = receiver;
    this.writer = values.writer;
    this.reader = values.reader;
    this.onWritten = hooks.onWritten;
    this.onPublished = hooks.onPublished;
  }

  /** False when this was the last for which there is room. */
  tell(at: ActorAddress, handler: number, payload: unknown, layout?: LayoutFields): boolean {
    const isDirect = this.begin();
    for (let direct = isDirect; ; direct = false) {
      this.head(direct, TELL, handler, at);
      if (this.writePayload(payload, layout)) return this.closeRecord(direct, payload, true);
    }
  }

  ask(at: ActorAddress, handler: number, payload: unknown, ask: RemoteAsk, layout?: LayoutFields): boolean {
    const isDirect = this.begin();
    for (let direct = isDirect; ; direct = false) {
      this.head(direct, ASK, handler, at);
      this.writer.int32(ask.number);
      this.writer.float64(ask.leftMs);
      if (this.writer.writeValue(ask.chain, 'chain') && this.writePayload(payload, layout))
        return this.closeRecord(direct, payload, true);
    }
  }

  private writePayload(payload: unknown, layout: LayoutFields | undefined): boolean {
    if (layout !== undefined) return this.writer.writeLaidOut(payload, 'payload', layout);
    return this.writer.writeValue(payload, 'payload', transferListOf(payload));
  }

  reply(ask: number, value: unknown): void {
    this.writeAnswer(REPLY, ask, value, 'reply');
  }

  refuse(ask: number, reason: unknown): void {
    this.writeAnswer(REFUSE, ask, reason, 'reason');
  }

  private writeAnswer(kind: number, ask: number, value: unknown, what: string): void {
    const isDirect = this.begin();
    for (let direct = isDirect; ; direct = false) {
      if (!direct) this.writer.useScratch(this.forms);
      this.writer.int32(kind);
      this.writer.int32(ask);
      if (this.writer.writeValue(value, what, transferListOf(value)))
        return void this.closeRecord(direct, value, false);
    }
  }

  signal(signal: RemoteSignal): void {
    const isDirect = this.begin();
    for (let direct = isDirect; ; direct = false) {
      if (!direct) this.writer.useScratch(this.forms);
      this.writer.int32(SIGNAL);
      if (this.writer.writeValue(signal, signal.kind)) return void this.closeRecord(direct, undefined, false);
    }
  }

  private head(isDirect: boolean, kind: number, handler: number, at: ActorAddress): void {
    const { writer, out } = this;
    const first = kind | (handler << KIND_BITS);
    if (isDirect) {
      // A record begins at a whole word, with room for this.
      const word = out.at >> 2;
      out.words[word] = first;
      out.words[word + 1] = at.thread;
      out.words[word + 2] = at.slot;
      out.words[word + 3] = at.generation;
      writer.at += HEAD_BYTES;
      return;
    }
    writer.useScratch(this.forms);
    writer.int32(first);
    writer.int32(at.thread);
    writer.int32(at.slot);
    writer.int32(at.generation);
  }

  /** Whether the record can be written to the ring. */
  private begin(): boolean {
    const { out } = this;
    if (this.waiting.length > 0 || !out.begin(LEAST_BYTES)) return false;
    this.writer.useMemory(out.bytes, out.view, out.at, out.end, this.forms);
    return true;
  }

  /** Returns whether there is room for more. */
  private closeRecord(isDirect: boolean, payload: unknown, isMessage: boolean): boolean {
    if (!isDirect) this.closeScratch(payload, isMessage);
    else {
      this.out.commit(this.writer.at);
      if (isMessage) this.unpublishedMessages += 1;
    }
    this.unpublished += 1;
    if (this.unpublished === 1) this.onWritten();
    else if (this.unpublished >= PUBLISH_EVERY) this.publish();
    return this.waiting.length === 0;
  }

  private closeScratch(payload: unknown, isMessage: boolean): void {
    const { writer } = this;
    const bytes = writer.written;
    const isPosted = writer.beside !== undefined || bytes.length > LARGE * this.out.capacity;
    const record = isPosted ? this.post(bytes, payload) : Buffer.from(bytes);
    this.put({ record, isMessage });
  }

  /** Returns the marker that takes its place in the ring. */
  private post(record: Buffer, payload: unknown): Buffer {
    const { beside = [] } = this.writer;
    const bytes = Uint8Array.prototype.slice.call(record) as Uint8Array<ArrayBuffer>;
    const list = (transferListOf(payload) ?? []) as TransferListItem[];
    this.port.postMessage({ bytes, beside }, [bytes.buffer, ...list]);
    const marker = Buffer.alloc(MARKER_BYTES);
    marker.writeInt32LE(BY_PORT);
    return marker;
  }

  private put(waiting: WaitingRecord): void {
    if (this.waiting.length > 0 || !this.copy(waiting)) {
      this.waiting.push(waiting);
      this.out.waitForRoom();
    }
  }

  private copy({ record, isMessage }: WaitingRecord): boolean {
    const { out } = this;
    if (!out.begin(roomFor(record))) return false;
    out.bytes.set(record, out.at);
    out.commit(out.at + record.length);
    if (isMessage) this.unpublishedMessages += 1;
    return true;
  }

  /** Makes what was written visible to the other thread. */
  publish(): void {
    const messages = this.unpublishedMessages;
    this.unpublished = 0;
    this.unpublishedMessages = 0;
    if (!this.out.publish()) return;
    if (messages > 0) this.receiver.published(messages);
    this.onPublished(this.thread);
  }

  /** Writes the records that wait for room, as far as there is room again. */
  private writeWaiting(): void {
    const { waiting } = this;
    if (!this.out.isHalfFree) return;
    let written = 0;
    while (written < waiting.length && this.copy(waiting[written] as WaitingRecord)) written += 1;
    if (written === 0) {
      this.out.waitForRoom();
      return;
    }
    waiting.splice(0, written);
    this.publish();
    if (waiting.length > 0) this.out.waitForRoom();
    else this.receiver.roomAgain(this.thread);
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
    return !this.in.isEmpty || (this.waiting.length > 0 && this.out.isHalfFree);
  }

  /** Reads some records; false when there was nothing to do. */
  read(): boolean {
    if (this.waiting.length > 0) this.writeWaiting();
    const ring = this.in;
    if (!ring.refresh()) return false;
    let left = BATCH;
    while (left > 0 && ring.next()) {
      left -= 1;
      this.reader.useMemory(ring.bytes, ring.view, ring.at, this.formsIn);
      this.handle();
    }
    // The other thread waits for room: waking it is like waking it for a record.
    if (ring.release()) this.onPublished(this.thread);
    return true;
  }

  private handle(): void {
    const first = this.reader.int32();
    try {
      this.handleRecord(first & KIND_MASK, first >> KIND_BITS);
    } catch (error) {
      this.receiver.report(`a record of thread ${this.thread} could not be handled: ${String(error)}`, {
        error,
      });
    }
  }

  private handleRecord(kind: number, handler: number): void {
    const { reader, receiver, thread } = this;
    switch (kind) {
      case TELL: {
        const home = reader.int32();
        const slot = reader.int32();
        const generation = reader.int32();
        return receiver.told(thread, home, slot, generation, handler, reader.readValue());
      }
      case ASK: {
        const at = this.readAddress();
        const ask = this.readTerms();
        return receiver.asked(thread, at, handler, reader.readValue(), ask);
      }
      case REPLY: {
        const ask = reader.int32();
        return receiver.replied(thread, ask, reader.readValue());
      }
      case REFUSE: {
        const ask = reader.int32();
        return receiver.refused(thread, ask, reader.readValue());
      }
      case SIGNAL:
        return receiver.signalled(thread, reader.readValue() as RemoteSignal);
      default:
        return this.handlePosted();
    }
  }

  private handlePosted(): void {
    const posted = receiveMessageOnPort(this.port) as PostedRecord | undefined;
    if (posted === undefined) throw new Error('a record that was to come by the port is not there');
    this.reader.useBytes(posted.message.bytes, this.formsIn, posted.message.beside);
    this.handle();
  }

  private readAddress(): ActorAddress {
    const { reader } = this;
    return { thread: reader.int32(), slot: reader.int32(), generation: reader.int32() };
  }

  private readTerms(): RemoteAsk {
    const { reader } = this;
    return {
      number: reader.int32(),
      leftMs: reader.float64(),
      chain: reader.readValue() as RemoteAsk['chain'],
    };
  }

  /** The other thread has ended: the messages that it has not read. `out`: the ring to it. */
  unread(out: SharedArrayBuffer): UnreadMessage[] {
    const messages: UnreadMessage[] = [];
    const ring = new RingReader(out);
    const forms = this.forms.asRead;
    ring.refresh();
    while (ring.next()) {
      this.reader.useMemory(ring.bytes, ring.view, ring.at, forms);
      this.addUnread(messages);
    }
    for (const { record } of this.waiting) {
      this.reader.useBytes(record, forms, []);
      this.addUnread(messages);
    }
    return messages;
  }

  private addUnread(messages: UnreadMessage[]): void {
    const first = this.reader.int32();
    const kind = first & KIND_MASK;
    if (kind !== TELL && kind !== ASK) return;
    const at = this.readAddress();
    const ask = kind === ASK ? this.readTerms().number : undefined;
    messages.push({ at, handler: first >> KIND_BITS, payload: this.reader.readValue(), ask });
  }

  close(): void {
    this.port.close();
  }
}

/** Messages in a ring that its reader has not read. A record that came by a port counts as one. */
export function messagesIn(memory: SharedArrayBuffer): number {
  const ring = new RingReader(memory);
  let messages = 0;
  ring.refresh();
  while (ring.next()) {
    const kind = (ring.words[ring.at >> 2] as number) & KIND_MASK;
    if (kind === TELL || kind === ASK || kind === BY_PORT) messages += 1;
  }
  return messages;
}

function roomFor(record: Buffer): number {
  return Math.max(LEAST_BYTES, record.length);
}

/** A record for which there is no room yet. */
interface WaitingRecord {
  readonly record: Buffer;
  readonly isMessage: boolean;
}

interface PostedRecord {
  readonly message: { readonly bytes: Uint8Array; readonly beside: readonly unknown[] };
}
