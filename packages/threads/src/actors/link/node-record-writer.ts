// Hot path: every message to another thread.

import type { MessagePort } from 'node:worker_threads';
import type { ActorAddress, LayoutFields, RemoteAsk, RemoteSignal } from '@troupe/core';
import { RingWriter } from '../../ring/byte-ring.js';
import { WriterForms } from '../../value/forms.js';
import { type TransferListItem, transferListOf } from '../../value/transfer.js';
import type { ValueWriter } from '../../value/value-writer.js';
import {
  ALONE,
  ASK,
  BY_PORT,
  firstWord,
  HEAD_BYTES,
  REFUSE,
  REPLY,
  SIGNAL,
  TELL,
  WORD_BYTES,
} from './record-format.js';

/** A record is begun where at least so many bytes are free. */
const LEAST_BYTES = 64;
/** Larger records, in parts of the ring, go by the port. */
const LARGE = 1 / 4;
/** Closed records that are published at once. */
const PUBLISH_EVERY = 64;

/** A record for which there is no room yet. */
interface WaitingRecord {
  readonly record: Buffer;
  readonly isMessage: boolean;
}

/** Parts of the link that a writer notifies. */
export interface RecordHooks {
  /** A first record was written that is not published. */
  onWritten(): void;
  /** So many messages are about to be published, up to that place in the ring. */
  onPublishing(messages: number, ring: number, tail: number): void;
  /** So many messages can be read by the other thread from now on. */
  onPublished(messages: number): void;
  /** No record waits for room any more. */
  onRoomAgain(): void;
}

/**
 * Records to one other thread. A payload is written straight into the ring. A getter of it may send again:
 * such a record is written beside, and comes after the record that is open.
 */
export class RecordWriter {
  /** Shapes and layouts that the other thread knows. */
  readonly forms = new WriterForms();
  private readonly ring: RingWriter;
  private readonly port: MessagePort;
  /** Shared by all links of a thread. */
  private readonly shared: ValueWriter;
  private readonly hooks: RecordHooks;
  /** Records for which there was no room, in their order. */
  private readonly waiting: WaitingRecord[] = [];
  private unpublished = 0;
  /** Messages among them. */
  private unpublishedMessages = 0;

  constructor(memory: SharedArrayBuffer, port: MessagePort, shared: ValueWriter, hooks: RecordHooks) {
    this.ring = new RingWriter(memory);
    this.port = port;
    this.shared = shared;
    this.hooks = hooks;
  }

  /** False when this was the last for which there is room. */
  tell(
    at: ActorAddress,
    handler: number,
    payload: unknown,
    contexts?: unknown,
    layout?: LayoutFields,
  ): boolean {
    const writer = this.open();
    try {
      this.writeHead(writer, firstWord(TELL, handler, contexts !== undefined), at);
      if (contexts !== undefined) writer.writeValue(contexts, 'context');
      writePayload(writer, payload, layout);
      return this.close(writer, payload, true);
    } catch (error) {
      throw this.abandoned(writer, error);
    }
  }

  ask(
    at: ActorAddress,
    handler: number,
    payload: unknown,
    ask: RemoteAsk,
    contexts?: unknown,
    layout?: LayoutFields,
  ): boolean {
    const writer = this.open();
    try {
      this.writeHead(writer, firstWord(ASK, handler, contexts !== undefined), at);
      writer.int32(ask.number);
      writer.float64(ask.leftMs);
      writer.writeValue(ask.chain, 'chain');
      if (contexts !== undefined) writer.writeValue(contexts, 'context');
      writePayload(writer, payload, layout);
      return this.close(writer, payload, true);
    } catch (error) {
      throw this.abandoned(writer, error);
    }
  }

  reply(ask: number, value: unknown): void {
    this.answer(REPLY, ask, value, 'reply');
  }

  refuse(ask: number, reason: unknown): void {
    this.answer(REFUSE, ask, reason, 'reason');
  }

  private answer(kind: number, ask: number, value: unknown, what: string): void {
    const writer = this.open();
    try {
      writer.int32(this.flagged(writer, kind));
      writer.int32(ask);
      writer.writeValue(value, what, transferListOf(value));
      this.close(writer, value, false);
    } catch (error) {
      throw this.abandoned(writer, error);
    }
  }

  signal(signal: RemoteSignal): void {
    const writer = this.open();
    try {
      writer.int32(this.flagged(writer, SIGNAL));
      writer.writeValue(signal, signal.kind);
      this.close(writer, undefined, false);
    } catch (error) {
      throw this.abandoned(writer, error);
    }
  }

  private open(): ValueWriter {
    const { shared, ring, forms } = this;
    if (shared.openFor !== undefined) return this.openBeside();
    if (this.waiting.length > 0 || !ring.begin(LEAST_BYTES)) shared.useScratch(this, forms);
    else shared.useMemory(this, ring.bytes, ring.view, ring.at, ring.end, forms);
    return shared;
  }

  /** Shapes that it learns would have other numbers for the reader than those of the open record. */
  private openBeside(): ValueWriter {
    const writer = this.shared.another();
    writer.useScratch(this, new WriterForms());
    return writer;
  }

  private flagged(writer: ValueWriter, first: number): number {
    return writer === this.shared ? first : first | ALONE;
  }

  private writeHead(writer: ValueWriter, first: number, at: ActorAddress): void {
    if (writer.isScratch) {
      writer.int32(this.flagged(writer, first));
      writer.int32(at.thread);
      writer.int32(at.slot);
      writer.int32(at.generation);
      return;
    }
    // A record in the ring begins at a whole word, with room for this.
    const { words } = this.ring;
    const word = this.ring.at >> 2;
    words[word] = first;
    words[word + 1] = at.thread;
    words[word + 2] = at.slot;
    words[word + 3] = at.generation;
    writer.at += HEAD_BYTES;
  }

  /** Returns whether there is room for more. */
  private close(writer: ValueWriter, payload: unknown, isMessage: boolean): boolean {
    if (writer.isScratch) this.closeScratch(writer, payload, isMessage);
    else {
      this.ring.commit(writer.at);
      if (isMessage) this.unpublishedMessages += 1;
    }
    writer.close();
    this.unpublished += 1;
    if (this.unpublished === 1) this.hooks.onWritten();
    else if (this.unpublished >= PUBLISH_EVERY) this.publish();
    if (this.waiting.length === 0) return true;
    return this.writeBehind(writer);
  }

  /** Records that were written while this one was open come behind it. */
  private writeBehind(writer: ValueWriter): boolean {
    if (writer === this.shared && this.shared.openFor === undefined) this.writeWaiting();
    return this.waiting.length === 0;
  }

  private abandoned(writer: ValueWriter, error: unknown): unknown {
    writer.abandon();
    if (this.waiting.length > 0) this.writeBehind(writer);
    return error;
  }

  private closeScratch(writer: ValueWriter, payload: unknown, isMessage: boolean): void {
    const bytes = writer.written;
    const isPosted = writer.beside !== undefined || bytes.length > LARGE * this.ring.capacity;
    const record = isPosted ? this.post(writer, payload, isMessage) : Buffer.from(bytes);
    this.put({ record, isMessage });
  }

  /** Returns the marker that takes its place in the ring. */
  private post(writer: ValueWriter, payload: unknown, isMessage: boolean): Buffer {
    const { beside = [] } = writer;
    const bytes = Uint8Array.prototype.slice.call(writer.written) as Uint8Array<ArrayBuffer>;
    // The head of a message and, of an ask, its number: enough to account for one that is not read.
    const head = Buffer.from(bytes.subarray(0, isMessage ? HEAD_BYTES + WORD_BYTES : 0));
    const list = (transferListOf(payload) ?? []) as TransferListItem[];
    this.port.postMessage({ bytes, beside }, [bytes.buffer, ...list]);
    const marker = Buffer.alloc(WORD_BYTES + head.length);
    marker.writeInt32LE(BY_PORT);
    marker.set(head, WORD_BYTES);
    return marker;
  }

  private put(waiting: WaitingRecord): void {
    const isBehindOpen = this.shared.openFor === this && !this.shared.isScratch;
    if (isBehindOpen || this.waiting.length > 0 || !this.copy(waiting)) {
      this.waiting.push(waiting);
      this.ring.waitForRoom();
    }
  }

  private copy({ record, isMessage }: WaitingRecord): boolean {
    const { ring } = this;
    if (!ring.begin(Math.max(LEAST_BYTES, record.length))) return false;
    ring.bytes.set(record, ring.at);
    ring.commit(ring.at + record.length);
    if (isMessage) this.unpublishedMessages += 1;
    return true;
  }

  /** Makes closed records visible to the other thread. */
  publish(): void {
    const { ring } = this;
    const messages = this.unpublishedMessages;
    this.unpublished = 0;
    this.unpublishedMessages = 0;
    if (messages > 0) this.hooks.onPublishing(messages, ring.number, ring.writtenTo);
    if (ring.publish()) this.hooks.onPublished(messages);
  }

  get hasWaiting(): boolean {
    return this.waiting.length > 0;
  }

  /** A record that waits has room. */
  get hasRoomForWaiting(): boolean {
    return this.waiting.length > 0 && this.ring.isHalfFree;
  }

  /** Writes the records that wait for room, as far as there is room again. */
  writeWaiting(): void {
    const { waiting, ring } = this;
    if (!ring.isHalfFree) return;
    let written = 0;
    while (written < waiting.length && this.copy(waiting[written] as WaitingRecord)) written += 1;
    if (written === 0) {
      ring.waitForRoom();
      return;
    }
    waiting.splice(0, written);
    this.publish();
    if (waiting.length > 0) ring.waitForRoom();
    else this.hooks.onRoomAgain();
  }

  /** Records that the other thread could not be given. */
  get unwritten(): readonly Buffer[] {
    return this.waiting.map(({ record }) => record);
  }

  /** Messages among them. */
  get unwrittenMessages(): number {
    return this.waiting.filter(({ isMessage }) => isMessage).length;
  }
}

function writePayload(writer: ValueWriter, payload: unknown, layout: LayoutFields | undefined): void {
  if (layout !== undefined) writer.writeLaidOut(payload, 'payload', layout);
  else writer.writeValue(payload, 'payload', transferListOf(payload));
}
