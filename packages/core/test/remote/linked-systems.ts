import {
  type ActorAddress,
  type AnyDefinition,
  MONITOR_WORDS,
  type RemoteAsk,
  type RemoteDefinition,
  type RemoteRef,
  type RemoteSignal,
  type SystemThreads,
  type ThreadReceiver,
  type Threads,
  type UnreadMessage,
} from '@troupe/core';
import { createTestSystem, ManualHost, SeededRandom, type TestSystem } from '@troupe/core/testing';

type Record =
  | { readonly kind: 'tell'; readonly at: ActorAddress; readonly handler: number; readonly payload: unknown }
  | {
      readonly kind: 'ask';
      readonly at: ActorAddress;
      readonly handler: number;
      readonly payload: unknown;
      readonly ask: RemoteAsk;
    }
  | { readonly kind: 'reply'; readonly ask: number; readonly value: unknown }
  | { readonly kind: 'refuse'; readonly ask: number; readonly reason: unknown }
  | { readonly kind: 'signal'; readonly signal: RemoteSignal };

/** A ref in a clone. */
class RefMarker {
  readonly ref: RemoteRef;
  constructor(ref: RemoteRef) {
    this.ref = ref;
  }
}

interface Thread {
  readonly world: TestSystem;
  receiver: ThreadReceiver;
}

export interface LinkOptions {
  readonly threads?: number;
  readonly seed?: number;
  /** Messages that fit between two threads. */
  readonly room?: number;
  readonly definitions?: readonly AnyDefinition[];
  readonly stuckAfterMs?: number;
}

/** Several systems in one process and one virtual time, joined as threads; the seed chooses the order of everything. */
export class LinkedSystems {
  readonly host: ManualHost;
  readonly worlds: TestSystem[] = [];
  private readonly threads: Thread[] = [];
  private readonly channels = new Map<string, Record[]>();
  private readonly full = new Set<string>();
  private readonly notes: Int32Array[] = [];
  private readonly random: SeededRandom;
  private readonly options: LinkOptions;

  constructor(options: LinkOptions = {}) {
    const { threads = 2, seed = 1 } = options;
    this.options = options;
    this.host = new ManualHost({ seed });
    this.random = new SeededRandom(seed ^ 0x717);
    for (let self = 0; self < threads; self += 1) this.threads.push(this.openThread(self));
  }

  get main(): TestSystem {
    return this.worlds[0] as TestSystem;
  }

  /** One step of a thread, or one record on its way, chosen by the seed; false when there is nothing to do. */
  private step(): boolean {
    const open = [...this.channels].filter(([, records]) => records.length > 0).map(([key]) => key);
    const choice = Math.floor(this.random.next() * (open.length + this.worlds.length));
    const key = open[choice];
    if (key !== undefined) return this.read(key);
    const first = choice - open.length;
    for (let i = 0; i < this.worlds.length; i += 1)
      if ((this.worlds[(first + i) % this.worlds.length] as TestSystem).step()) return true;
    return open[0] === undefined ? false : this.read(open[0]);
  }

  receiver(thread: number): ThreadReceiver {
    return (this.threads[thread] as Thread).receiver;
  }

  stepTimes(times: number): void {
    for (let left = times; left > 0 && this.step(); left -= 1);
  }

  /** Messages of a thread that another has not read. */
  unreadBy(thread: number, from: number): number {
    const records = this.channels.get(`${from}>${thread}`) ?? [];
    return records.filter(({ kind }) => kind === 'tell' || kind === 'ask').length;
  }

  async settle(): Promise<void> {
    for (;;) {
      while (this.step());
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (!this.host.runCallbacks() && !this.step()) break;
    }
    for (const { receiver } of this.threads) receiver.looked();
  }

  async advance(ms: number): Promise<void> {
    const until = this.host.now() + ms;
    await this.settle();
    for (let next = this.host.nextDue(); next !== undefined && next <= until; next = this.host.nextDue()) {
      this.host.moveTo(next);
      await this.settle();
    }
    this.host.moveTo(until);
    await this.settle();
  }

  /** Ends a thread with everything on it, and starts another in its place. */
  kill(thread: number, error: Error): void {
    for (let other = 0; other < this.worlds.length; other += 1) {
      if (other === thread) continue;
      const unread = (this.channels.get(`${other}>${thread}`) ?? []).flatMap((record): UnreadMessage[] => {
        if (record.kind !== 'tell' && record.kind !== 'ask') return [];
        const ask = record.kind === 'ask' ? record.ask.number : undefined;
        const payload = this.unclone(other, record.payload);
        return [{ at: record.at, handler: record.handler, payload, ask }];
      });
      this.channels.delete(`${other}>${thread}`);
      this.channels.delete(`${thread}>${other}`);
      this.full.delete(`${other}>${thread}`);
      const notes = other === 0 ? this.notes[thread] : undefined;
      (this.threads[other] as Thread).receiver.threadEnded(thread, error, unread, notes);
    }
    this.threads[thread] = this.openThread(thread);
  }

  async close(): Promise<void> {
    const ended = this.worlds.map(({ system }) => system.shutdown());
    await this.advance(20_000);
    await Promise.all(ended);
  }

  private openThread(self: number): Thread {
    let receiver: ThreadReceiver | undefined;
    const words = new Int32Array(MONITOR_WORDS);
    this.notes[self] = words;
    const threads: SystemThreads = {
      monitored: self === 0 ? undefined : { words, self },
      open: (given) => {
        receiver = given;
        return this.portOf(self);
      },
    };
    const { seed, stuckAfterMs } = this.options;
    const world = createTestSystem({ host: this.host, seed, threads, name: `thread-${self}`, stuckAfterMs });
    this.worlds[self] = world;
    return { world, receiver: receiver as unknown as ThreadReceiver };
  }

  private portOf(self: number): Threads {
    const write = (thread: number, record: Record): boolean => {
      const key = `${self}>${thread}`;
      const records = this.channels.get(key) ?? [];
      this.channels.set(key, records);
      records.push(record);
      const hasRoom = records.length < (this.options.room ?? 1_000);
      if (!hasRoom) this.full.add(key);
      return hasRoom;
    };
    /** The message is noted as written after this, and can be read at once. */
    const writeMessage = (thread: number, record: Record): boolean => {
      const hasRoom = write(thread, record);
      (this.threads[self] as Thread).receiver.published(1);
      return hasRoom;
    };
    const clone = (value: unknown): unknown => this.clone(self, value, '');
    const count = this.options.threads ?? 2;
    let next = 0;
    return {
      self,
      others: Array.from({ length: count }, (_, thread) => thread).filter((thread) => thread !== self),
      nameOf: (thread) => `thread-${thread}`,
      place: (on) => {
        if (on === 'main' || on === 'thread-0') return 0;
        if (on !== 'any-thread') return Number(on.split('-')[1]);
        next = (next % (count - 1)) + 1;
        return next;
      },
      checkPlaceable: () => undefined,
      tell: (thread, at, handler, payload) =>
        writeMessage(thread, { kind: 'tell', at, handler, payload: clone(payload) }),
      ask: (thread, at, handler, payload, ask) =>
        writeMessage(thread, { kind: 'ask', at, handler, payload: clone(payload), ask }),
      reply: (thread, ask, value) => void write(thread, { kind: 'reply', ask, value: clone(value) }),
      refuse: (thread, ask, reason) => void write(thread, { kind: 'refuse', ask, reason }),
      signal: (thread, signal) => void write(thread, { kind: 'signal', signal }),
      pack: (value) => clone(value),
      unpack: (packed) => this.unclone(self, packed),
      notesOf: (thread) => this.notes[thread] as Int32Array,
      load: (definition) => this.load(definition),
      close: () => undefined,
    };
  }

  private async load(wanted: RemoteDefinition): Promise<AnyDefinition> {
    const found = (this.options.definitions ?? []).find(({ name }) => name === wanted.name);
    if (found === undefined) throw new Error(`no definition is called ${wanted.name}`);
    return found;
  }

  private read(key: string): boolean {
    const records = this.channels.get(key) as Record[];
    const record = records.shift() as Record;
    const [from, to] = key.split('>').map(Number) as [number, number];
    const { receiver } = this.threads[to] as Thread;
    const unclone = (value: unknown): unknown => this.unclone(to, value);
    if (record.kind === 'tell') {
      const { thread, slot, generation } = record.at;
      receiver.told(from, thread, slot, generation, record.handler, unclone(record.payload));
    } else if (record.kind === 'ask') {
      receiver.asked(from, record.at, record.handler, unclone(record.payload), record.ask);
    } else if (record.kind === 'reply') receiver.replied(from, record.ask, unclone(record.value));
    else if (record.kind === 'refuse') receiver.refused(from, record.ask, record.reason);
    else receiver.signalled(from, record.signal);
    receiver.looked();
    if (records.length === 0 && this.full.delete(key)) (this.threads[from] as Thread).receiver.roomAgain(to);
    return true;
  }

  private clone(self: number, value: unknown, path: string): unknown {
    const { receiver } = this.threads[self] as Thread;
    if (typeof value === 'function') throw new TypeError(`${path}: a function cannot be cloned`);
    if (typeof value !== 'object' || value === null || value instanceof Error) return value;
    if (receiver.isRef(value)) return new RefMarker(receiver.exportRef(value as never));
    if (Array.isArray(value)) return value.map((item, i) => this.clone(self, item, `${path}[${i}]`));
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, this.clone(self, item, `${path}.${key}`)]),
    );
  }

  private unclone(self: number, value: unknown): unknown {
    if (value instanceof RefMarker) return (this.threads[self] as Thread).receiver.importRef(value.ref);
    if (typeof value !== 'object' || value === null || value instanceof Error) return value;
    if (Array.isArray(value)) return value.map((item) => this.unclone(self, item));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.unclone(self, item)]));
  }
}
