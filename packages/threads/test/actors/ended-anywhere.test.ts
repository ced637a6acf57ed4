import { MessageChannel } from 'node:worker_threads';
import {
  type ActorAddress,
  createSystem,
  MONITOR_WORDS,
  nodeHost,
  ThreadNotes,
  type ThreadReceiver,
} from '@troupe/core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ControlMemory } from '#src/actors/control-memory.js';
import { messagesIn } from '#src/actors/link/node-record-reader.js';
import { RetiredRings } from '#src/actors/link/retired-rings.js';
import { type PeerEnds, ThreadCarrier } from '#src/actors/node-thread-carrier.js';
import { ringMemory } from '#src/ring/byte-ring.js';
import { Counter } from './counter.js';

const endings = suite('a thread that ends anywhere');

const NAMES = ['main', 'thread-1', 'thread-2'];
const [MAIN, SELF, OTHER] = [0, 1, 2];
const AWAITED: ActorAddress = { thread: MAIN, slot: 5, generation: 0 };
const GONE: ActorAddress = { thread: SELF, slot: 500, generation: 0 };

/** Lets a thread end before or behind any call of its receiver: what it would do then has no effect. */
class Ending {
  /** Calls until then. */
  left = Number.POSITIVE_INFINITY;

  get isOver(): boolean {
    return this.left < 0;
  }

  wrap(receiver: ThreadReceiver): ThreadReceiver {
    return new Proxy(receiver, {
      get: (target, key) => {
        const value = Reflect.get(target, key) as unknown;
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          this.mayEnd();
          const result = Reflect.apply(value, target, args) as unknown;
          this.mayEnd();
          return result;
        };
      },
    });
  }

  private mayEnd(): void {
    this.left -= 1;
    if (this.isOver) throw new Error('the thread has ended');
  }
}

function pairOf(a: number, b: number): [PeerEnds, PeerEnds] {
  const [there, back] = [ringMemory(2 ** 15), ringMemory(2 ** 15)];
  const [records, bells] = [new MessageChannel(), new MessageChannel()];
  return [
    { thread: b, out: there, in: back, port: records.port1, bell: bells.port1 },
    { thread: a, out: back, in: there, port: records.port2, bell: bells.port2 },
  ];
}

/** One thread, and its rings to two others. */
class Thread {
  readonly ending = new Ending();
  readonly system: ReturnType<typeof createSystem>;
  carrier!: ThreadCarrier;
  readonly main: ThreadCarrier;
  private readonly words = new Int32Array(new SharedArrayBuffer(4 * MONITOR_WORDS));
  private readonly known = new RetiredRings();
  private readonly ends = [pairOf(MAIN, SELF), pairOf(OTHER, SELF)].map(([theirs, own]) => ({ theirs, own }));

  constructor() {
    const common = { names: NAMES, control: ControlMemory.of(NAMES.length), entry: undefined };
    const { ends, ending } = this;
    for (const { own } of ends) this.known.use(own.thread, SELF, [own.out, own.in]);
    const ignoring = new Proxy({}, { get: () => () => undefined }) as ThreadReceiver;
    const peers = [(ends[0] as { theirs: PeerEnds }).theirs];
    this.main = new ThreadCarrier({ ...common, self: MAIN, peers }, ignoring, () => undefined);
    this.system = createSystem({
      host: { ...nodeHost, log: () => undefined },
      warn: false,
      threads: {
        monitored: { words: this.words, self: SELF },
        open: (receiver) => {
          const spec = { ...common, self: SELF, peers: ends.map(({ own }) => own) };
          this.carrier = new ThreadCarrier(spec, ending.wrap(receiver), () => undefined);
          return this.carrier;
        },
      },
    });
  }

  otherEnded(): void {
    const [endHere, endThere] = pairOf(SELF, OTHER);
    this.known.threadEnded(OTHER, [SELF]);
    this.known.use(SELF, OTHER, [endHere.out, endHere.in]);
    this.ends.push({ own: endHere, theirs: endThere });
    this.carrier.replaced(endHere, new Error('the other has ended'));
  }

  /** Messages that main knows of when the thread has ended: from its notes and from the rings. */
  get accounted(): number {
    const notes = new ThreadNotes(this.words);
    notes.complete((ring) => this.known.positionsOf(ring));
    const rings = this.ends.flatMap(({ own }) => [own.out, own.in]);
    const unread = rings.reduce((sum, ring) => sum + messagesIn(ring), 0);
    return notes.messagesLeft + notes.deadLetters + unread;
  }

  async close(): Promise<void> {
    this.ending.left = Number.POSITIVE_INFINITY;
    await this.system.shutdown({ withinMs: 1 });
    void this.main.close();
    for (const { theirs } of this.ends) {
      theirs.port.close();
      theirs.bell.close();
    }
  }
}

/** Once for each call at which the thread can end in the step, and once to the end of it. */
async function checkEndings<T>(
  messages: number,
  prepare: (thread: Thread) => T,
  step: (thread: Thread, prepared: T) => void,
): Promise<void> {
  for (let calls = 0, isWhole = false; !isWhole; calls += 1) {
    const thread = new Thread();
    const prepared = prepare(thread);
    await new Promise(setImmediate);
    thread.ending.left = calls;
    try {
      step(thread, prepared);
    } catch (error) {
      if (!thread.ending.isOver) throw error;
    }
    isWhole = !thread.ending.isOver;
    const { accounted } = thread;
    await thread.close();
    assert.is(accounted, messages, `ended after ${calls} calls`);
  }
}

endings('while it reads: each message is in a ring or in its notes, and in one of them only', async () => {
  await checkEndings(
    40,
    () => undefined,
    ({ main, carrier }) => {
      for (let n = 0; n < 40; n += 1)
        main.tell(SELF, n % 4 === 0 ? GONE : AWAITED, 0, n, undefined, undefined);
      main.signal(SELF, { kind: 'type' } as never); // publishes
      carrier.exchange();
    },
  );
});

endings(
  'while it publishes: each message is in a ring or in its notes, and in one of them only',
  async () => {
    await checkEndings(
      30,
      ({ system }) => system.spawn(Counter, { args: 0, on: 'thread-2' }),
      ({ carrier }, ref) => {
        for (let n = 0; n < 30; n += 1) ref.tell.add(n);
        carrier.exchange();
      },
    );
  },
);

endings(
  'while it accounts for messages to a thread that has ended, also for those without room',
  async () => {
    await checkEndings(
      60,
      ({ system }) => system.spawn(Counter, { args: 0, on: 'thread-2' }),
      (thread, ref) => {
        for (let n = 0; n < 60; n += 1) ref.tell.echo(`${n}`.padEnd(1_000));
        thread.otherEnded();
      },
    );
  },
);

endings.run();
