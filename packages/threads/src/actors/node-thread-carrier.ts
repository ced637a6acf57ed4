import { MessagePort } from 'node:worker_threads';
import {
  type ActorAddress,
  type AnyDefinition,
  type LayoutFields,
  OptionError,
  type RemoteAsk,
  type RemoteDefinition,
  type RemoteSignal,
  type ThreadReceiver,
  type Threads,
} from '@troupe/core';
import { NotCloneableError } from '../thread/thread-errors.js';
import { ReaderForms, WriterForms } from '../value/forms.js';
import { ValueReader } from '../value/value-reader.js';
import { ValueWriter } from '../value/value-writer.js';
import { ControlMemory, HELD } from './control-memory.js';
import { checkModule, DefinitionLoader } from './definition-loader.js';
import type { RecordWriter } from './link/node-record-writer.js';
import { type LinkEnds, ThreadLink } from './link/node-thread-link.js';
import { PollLoop, type RecordSource } from './node-poll-loop.js';

/** The ends of the way to another thread. `bell` wakes the other thread, and this one. */
export interface PeerEnds extends LinkEnds {
  readonly thread: number;
  readonly bell: MessagePort;
}

export interface CarrierSpec {
  readonly self: number;
  readonly names: readonly string[];
  readonly control: SharedArrayBuffer;
  readonly peers: readonly PeerEnds[];
  /** The file that the program was started with; no thread can import it. */
  readonly entry: string | undefined;
}

/** A clone that can be unpacked more than once. */
interface Packed {
  readonly bytes: Uint8Array;
  /** Shared memory, which is not copied. */
  readonly beside: readonly unknown[];
}

interface Peer {
  readonly link: ThreadLink;
  readonly ends: PeerEnds;
}

/** The threads of a system as one of them uses them: rings to all others, and the loop that reads them. */
export class ThreadCarrier implements Threads, RecordSource {
  readonly self: number;
  readonly others: readonly number[];
  private readonly names: readonly string[];
  private readonly entry: string | undefined;
  private readonly memory: ControlMemory;
  private readonly control: Int32Array;
  private readonly receiver: ThreadReceiver;
  private readonly writer: ValueWriter;
  private readonly reader: ValueReader;
  private readonly loader = new DefinitionLoader();
  private readonly peers: (Peer | undefined)[] = [];
  private readonly onClose: () => Promise<void> | undefined;
  private readonly loop: PollLoop = new PollLoop(this);
  private isFlushDue = false;
  private isClosed = false;
  private nextPlace = 0;

  constructor(spec: CarrierSpec, receiver: ThreadReceiver, onClose: () => Promise<void> | undefined) {
    this.self = spec.self;
    this.names = spec.names;
    this.entry = spec.entry;
    this.others = spec.names.map((_, thread) => thread).filter((thread) => thread !== spec.self);
    this.memory = new ControlMemory(spec.names.length, spec.control);
    this.control = this.memory.words;
    this.receiver = receiver;
    this.writer = new ValueWriter(receiver);
    this.reader = new ValueReader(receiver);
    this.onClose = onClose;
    for (const ends of spec.peers) this.connect(ends);
    this.wakeUp();
  }

  private connect(ends: PeerEnds): void {
    const { receiver, writer, reader } = this;
    const parts = { receiver, writer, reader, onWritten: this.flushSoon, onPublished: this.wake };
    this.peers[ends.thread] = { link: new ThreadLink(ends.thread, ends, parts), ends };
    ends.bell.on('message', this.wakeUp);
    // The main thread stays for the sake of others only while they have something to do.
    if (this.self === 0) ends.bell.unref();
  }

  nameOf(thread: number): string {
    return this.names[thread] as string;
  }

  place(on: string): number {
    if (on === 'any-thread') {
      const place = 1 + (this.nextPlace % (this.names.length - 1));
      this.nextPlace += 1;
      return place;
    }
    const thread = this.names.indexOf(on);
    if (thread < 0)
      throw new OptionError('spawn.on', on, `needed any-thread or one of ${this.names.join(', ')}`);
    return thread;
  }

  checkPlaceable(definition: RemoteDefinition): void {
    checkModule(definition, this.entry);
  }

  tell(
    thread: number,
    at: ActorAddress,
    handler: number,
    payload: unknown,
    contexts: unknown,
    layout: LayoutFields | undefined,
  ): boolean {
    return this.outTo(thread).tell(at, handler, payload, contexts, layout);
  }

  ask(
    thread: number,
    at: ActorAddress,
    handler: number,
    payload: unknown,
    ask: RemoteAsk,
    contexts: unknown,
    layout: LayoutFields | undefined,
  ): boolean {
    return this.outTo(thread).ask(at, handler, payload, ask, contexts, layout);
  }

  reply(thread: number, ask: number, value: unknown): void {
    this.outTo(thread).reply(ask, value);
  }

  refuse(thread: number, ask: number, reason: unknown): void {
    try {
      this.outTo(thread).refuse(ask, reason);
    } catch (error) {
      this.outTo(thread).refuse(ask, error);
    }
  }

  signal(thread: number, signal: RemoteSignal): void {
    if (this.isClosed) return;
    this.outTo(thread).signal(signal);
    // The next message may not let go of this thread, and then the name of its type is wanted.
    if (signal.kind === 'type') this.outTo(thread).publish();
  }

  private outTo(thread: number): RecordWriter {
    return (this.peers[thread] as Peer).link.out;
  }

  pack(value: unknown): unknown {
    // A getter of a payload that is being written may spawn.
    const writer = this.writer.another();
    writer.useScratch(this, new WriterForms());
    writer.writeValue(value, 'spawn');
    const { beside = [] } = writer;
    // A port moves to the first thread that it is given to, and a restart would have none.
    if (beside.some((one) => one instanceof MessagePort))
      throw new NotCloneableError('spawn.args', 'a MessagePort can be in a message, not in arguments');
    return { bytes: Uint8Array.prototype.slice.call(writer.written), beside } satisfies Packed;
  }

  unpack(packed: unknown): unknown {
    const { bytes, beside } = packed as Packed;
    this.reader.useBytes(bytes, new ReaderForms(), beside);
    return this.reader.readValue();
  }

  notesOf(thread: number): Int32Array {
    return this.memory.notesOf(thread);
  }

  load(definition: RemoteDefinition): AnyDefinition | Promise<AnyDefinition> {
    return this.loader.load(definition);
  }

  close(): Promise<void> | undefined {
    this.isClosed = true;
    this.loop.stop();
    for (const peer of this.peers) {
      peer?.link.close();
      peer?.ends.bell.close();
    }
    return this.onClose();
  }

  /** Another thread has taken the place of one that has ended. */
  replaced(ends: PeerEnds, error: Error): void {
    const { thread } = ends;
    const before = this.peers[thread] as Peer;
    before.link.out.publish();
    // Records that it had published before its end count.
    while (before.link.read());
    const { unread } = before.link;
    before.link.close();
    before.ends.bell.close();
    this.connect(ends);
    // Each message is counted once, by the main thread, before another thread writes its notes there.
    const notes = this.self === 0 ? this.notesOf(thread) : undefined;
    this.receiver.threadEnded(thread, error, unread, notes);
    before.link.settle();
    // Until now this thread has rung the thread that has ended, also in the name of others.
    ends.bell.postMessage(0);
    this.wakeUp();
  }

  // Writing: what one run of the event loop writes is published together.

  private readonly flushSoon = (): void => {
    if (this.isFlushDue) return;
    this.isFlushDue = true;
    void Promise.resolve().then(this.flush);
  };

  private readonly flush = (): void => {
    this.isFlushDue = false;
    for (const peer of this.peers) peer?.link.out.publish();
  };

  private readonly wake = (thread: number): void => {
    const word = this.memory.sleepsAt(thread);
    if (Atomics.load(this.control, word) === 1 && Atomics.compareExchange(this.control, word, 1, 0) === 1)
      this.peers[thread]?.ends.bell.postMessage(0);
  };

  // Reading.

  private readonly wakeUp = (): void => {
    Atomics.store(this.control, this.memory.sleepsAt(this.self), 0);
    this.loop.wake();
  };

  exchange(): boolean {
    let hasRead = false;
    for (let i = 0; i < this.peers.length; i += 1) {
      const link = this.peers[i]?.link;
      if (link === undefined) continue;
      link.out.publish();
      hasRead = link.read() || hasRead;
    }
    if (!hasRead) this.receiver.looked();
    return hasRead;
  }

  get hasRecords(): boolean {
    for (let i = 0; i < this.peers.length; i += 1) if (this.peers[i]?.link.isEmpty === false) return true;
    return false;
  }

  get isBusy(): boolean {
    return this.receiver.isBusy;
  }

  sleep(): boolean {
    const word = this.memory.sleepsAt(this.self);
    Atomics.store(this.control, word, 1);
    if (this.peers.some((peer) => peer?.link.hasWork === true)) {
      Atomics.store(this.control, word, 0);
      return false;
    }
    if (this.self === 0) this.holdWhileOthersRun();
    else if (Atomics.compareExchange(this.control, HELD, 1, 0) === 1) this.wake(0);
    return true;
  }

  /** The process stays while another thread has something to do. */
  private holdWhileOthersRun(): void {
    Atomics.store(this.control, HELD, 1);
    const hold = this.others.some((thread) => Atomics.load(this.control, this.memory.sleepsAt(thread)) === 0);
    if (!hold) Atomics.store(this.control, HELD, 0);
    for (const peer of this.peers) {
      if (hold) peer?.ends.bell.ref();
      else peer?.ends.bell.unref();
    }
  }
}
