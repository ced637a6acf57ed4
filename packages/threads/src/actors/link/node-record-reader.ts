// Hot path: every message of another thread.

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type {
  ActorAddress,
  PackedContexts,
  RemoteAsk,
  RemoteSignal,
  ThreadReceiver,
  UnreadMessage,
} from '@troupe/core';
import { RingReader } from '../../ring/byte-ring.js';
import { ReaderForms } from '../../value/forms.js';
import type { ValueReader } from '../../value/value-reader.js';
import {
  ALONE,
  ASK,
  BY_PORT,
  HAS_CONTEXTS,
  handlerOf,
  isMessage,
  kindOf,
  REFUSE,
  REPLY,
  SIGNAL,
  TELL,
} from './record-format.js';

/** Records read in one go, before actors get their turns. */
const BATCH = 256;

interface PostedRecord {
  readonly message: { readonly bytes: Uint8Array; readonly beside: readonly unknown[] };
}

/** Records of one other thread. */
export class RecordReader {
  private readonly ring: RingReader;
  private readonly port: MessagePort;
  private readonly thread: number;
  private readonly receiver: ThreadReceiver;
  private readonly reader: ValueReader;
  private readonly forms = new ReaderForms();

  constructor(
    memory: SharedArrayBuffer,
    port: MessagePort,
    thread: number,
    receiver: ThreadReceiver,
    reader: ValueReader,
  ) {
    this.ring = new RingReader(memory);
    this.port = port;
    this.thread = thread;
    this.receiver = receiver;
    this.reader = reader;
  }

  get isEmpty(): boolean {
    return this.ring.isEmpty;
  }

  /** Reads some records: whether there were any, and whether the writer waits for their room. */
  read(): 'nothing' | 'read' | 'read-and-awaited' {
    const { ring, reader, forms } = this;
    if (!ring.refresh()) return 'nothing';
    let left = BATCH;
    while (left > 0 && ring.next()) {
      left -= 1;
      reader.useMemory(ring.bytes, ring.view, ring.at, forms);
      this.handle();
    }
    this.receiver.releasing(ring.number, ring.readTo);
    const isAwaited = ring.release();
    this.receiver.released();
    return isAwaited ? 'read-and-awaited' : 'read';
  }

  private handle(): void {
    const first = this.reader.int32();
    try {
      if ((first & ALONE) === 0) this.handleRecord(first);
      else this.handleAlone(first);
    } catch (error) {
      this.receiver.report(`a record of thread ${this.thread} could not be handled: ${String(error)}`, {
        error,
      });
    }
  }

  private handleAlone(first: number): void {
    this.reader.forms = new ReaderForms();
    try {
      this.handleRecord(first);
    } finally {
      this.reader.forms = this.forms;
    }
  }

  private handleRecord(first: number): void {
    const { reader, receiver, thread } = this;
    switch (kindOf(first)) {
      case TELL: {
        const home = reader.int32();
        const slot = reader.int32();
        const generation = reader.int32();
        const contexts = readContexts(reader, first);
        return receiver.told(thread, home, slot, generation, handlerOf(first), reader.readValue(), contexts);
      }
      case ASK: {
        const at = readAddress(reader);
        const ask = readTerms(reader);
        const contexts = readContexts(reader, first);
        return receiver.asked(thread, at, handlerOf(first), reader.readValue(), ask, contexts);
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
    this.reader.useBytes(posted.message.bytes, this.forms, posted.message.beside);
    this.handle();
  }
}

/** The messages among records that their reader has not read: those in the ring, and those that waited. */
export function unreadMessages(
  reader: ValueReader,
  memory: SharedArrayBuffer,
  unwritten: readonly Buffer[],
  forms: ReaderForms,
): UnreadMessage[] {
  const messages: UnreadMessage[] = [];
  const ring = new RingReader(memory);
  ring.refresh();
  while (ring.next()) {
    reader.useBytes(ring.bytes.subarray(ring.at, ring.end), forms, []);
    addUnread(messages, reader);
  }
  for (const record of unwritten) {
    reader.useBytes(record, forms, []);
    addUnread(messages, reader);
  }
  return messages;
}

function addUnread(messages: UnreadMessage[], reader: ValueReader): void {
  const outer = reader.int32();
  const isPosted = kindOf(outer) === BY_PORT && !reader.isAtEnd;
  const first = isPosted ? reader.int32() : outer;
  const kind = kindOf(first);
  if (!isMessage(kind)) return;
  if ((first & ALONE) !== 0) reader.forms = new ReaderForms();
  const at = readAddress(reader);
  const handler = handlerOf(first);
  if (isPosted) {
    // The payload has gone with the port.
    messages.push({ at, handler, payload: undefined, ask: kind === ASK ? reader.int32() : undefined });
    return;
  }
  const ask = kind === ASK ? readTerms(reader).number : undefined;
  readContexts(reader, first);
  messages.push({ at, handler, payload: reader.readValue(), ask });
}

/** Messages in a ring that its reader has not read. */
export function messagesIn(memory: SharedArrayBuffer): number {
  const ring = new RingReader(memory);
  let messages = 0;
  ring.refresh();
  while (ring.next()) {
    const word = ring.at >> 2;
    const kind = kindOf(ring.words[word] as number);
    const hasHead = kind === BY_PORT && ring.end - ring.at > 4;
    if (isMessage(hasHead ? kindOf(ring.words[word + 1] as number) : kind)) messages += 1;
  }
  return messages;
}

function readContexts(reader: ValueReader, first: number): PackedContexts | undefined {
  return (first & HAS_CONTEXTS) === 0 ? undefined : (reader.readValue() as PackedContexts);
}

function readAddress(reader: ValueReader): ActorAddress {
  return { thread: reader.int32(), slot: reader.int32(), generation: reader.int32() };
}

function readTerms(reader: ValueReader): RemoteAsk {
  return {
    number: reader.int32(),
    leftMs: reader.float64(),
    chain: reader.readValue() as RemoteAsk['chain'],
  };
}
