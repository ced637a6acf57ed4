import { availableParallelism } from 'node:os';
import { MessageChannel, type ResourceLimits } from 'node:worker_threads';
import { type SystemThreads, ThreadNotes, type ThreadReceiver, type ThreadSettings } from '@troupe/core';
import { checkOptions, name, number, object, rule, wholeNumber } from '@troupe/core/option-check';
import { ringMemory } from '../ring/byte-ring.js';
import { findBootModule } from '../thread/node-boot-module.js';
import { NodeThread } from '../thread/node-thread.js';
import { ThreadBlockedError } from '../thread/thread-errors.js';
import type { TransferListItem } from '../value/transfer.js';
import { ControlMemory } from './control-memory.js';
import { RetiredRings } from './link/retired-rings.js';
import { type PeerEnds, ThreadCarrier } from './node-thread-carrier.js';
import type { ThreadData, ThreadMessage } from './thread-message.js';
import { ThreadWatch } from './thread-watch.js';

export interface ThreadsOptions {
  /** Beside the main thread. Default: one less than the processors, at least one. */
  readonly count?: number | undefined;
  /** The threads are called `name-1`, `name-2` and so on. Default `thread`. */
  readonly name?: string | undefined;
  /**
   * A thread that is in one handler, or in other code that does not let go of it, for this long is ended and
   * replaced, and its actors have failed. Default: never; long computation is what threads are for.
   */
  readonly blockedKillMs?: number | undefined;
  /**
   * A module that each thread imports before its system starts: its export `middleware` is the middleware of
   * that system, and its export `close`, if it has one, is awaited before the thread ends. Default: none.
   */
  readonly middleware?: URL | string | undefined;
  /** Of each thread. A thread that runs out of memory ends and is replaced; the process goes on. */
  readonly resourceLimits?: ResourceLimits | undefined;
}

const RULES = {
  count: wholeNumber(1, 128),
  name,
  blockedKillMs: number(1),
  middleware: rule('a URL or a text', (value) => value instanceof URL || typeof value === 'string'),
  resourceLimits: object,
};

const RING_BYTES = 2 ** 18;
/** A thread that does not come up is started again after this, and each time after twice as long. */
const RETRY_MS_FIRST = 100;
const RETRY_MS_MAX = 5_000;
/** How often threads are looked at, whether they are blocked; less often while none has anything to do. */
const WATCH_EVERY_MS = 250;
const WATCH_EVERY_MS_MAX = 2_000;
/** A thread that does not end by itself is terminated; one with a module of its own may have to flush. */
const CLOSE_WITHIN_MS = 500;
const FLUSH_WITHIN_MS = 5_000;

/** More threads for a system: `createSystem({ threads: threads({ count: 2 }) })`. */
export function threads(options: ThreadsOptions = {}): SystemThreads {
  checkOptions('threads', options, RULES);
  const {
    count = Math.max(1, availableParallelism() - 1),
    name: prefix = 'thread',
    blockedKillMs,
    middleware,
    resourceLimits,
  } = options;
  const names = ['main', ...Array.from({ length: count }, (_, i) => `${prefix}-${i + 1}`)];
  return {
    open: (receiver, settings) =>
      new ActorThreads(names, { resourceLimits, blockedKillMs, middleware }, receiver, settings).carrier,
  };
}

/** The options for each thread. */
type EachThread = Pick<ThreadsOptions, 'resourceLimits' | 'blockedKillMs' | 'middleware'>;

interface Started {
  thread: NodeThread | undefined;
  watch: ThreadWatch;
  /** The reason for which it is being ended. */
  endedFor: Error | undefined;
  isUp: boolean;
  failures: number;
}

/** Starts the threads of a system, and another in the place of each that ends. */
class ActorThreads {
  readonly carrier: ThreadCarrier;
  private readonly names: readonly string[];
  private readonly each: EachThread;
  private readonly settings: ThreadSettings;
  private readonly receiver: ThreadReceiver;
  private readonly control: SharedArrayBuffer;
  private readonly memory: ControlMemory;
  private watching: NodeJS.Timeout | undefined = undefined;
  private readonly started: Started[] = [];
  private readonly rings = new RetiredRings();
  private onAllEnded: (() => void) | undefined = undefined;
  private isClosing = false;

  constructor(
    names: readonly string[],
    each: EachThread,
    receiver: ThreadReceiver,
    settings: ThreadSettings,
  ) {
    this.names = names;
    this.each = each;
    this.receiver = receiver;
    this.settings = settingsOf(settings);
    this.control = ControlMemory.of(names.length);
    this.memory = new ControlMemory(names.length, this.control);
    const pairs = names.map((): PeerEnds[] => []);
    for (let a = 0; a < names.length; a += 1) {
      for (let b = a + 1; b < names.length; b += 1) {
        const [endOfA, endOfB] = pairOf(a, b);
        this.rings.use(a, b, [endOfA.out, endOfA.in]);
        pairs[a]?.push(endOfA);
        pairs[b]?.push(endOfB);
      }
    }
    const entry = process.argv[1];
    const { control } = this;
    const own = { self: 0, names, control, peers: pairs[0] as PeerEnds[], entry };
    this.carrier = new ThreadCarrier(own, receiver, () => this.close());
    for (let thread = 1; thread < names.length; thread += 1) {
      const watch = this.watchOf(thread);
      this.started[thread] = { thread: undefined, watch, endedFor: undefined, isUp: false, failures: 0 };
      this.start(thread, pairs[thread] as PeerEnds[]);
    }
    this.watchAfter(WATCH_EVERY_MS);
  }

  private start(self: number, peers: readonly PeerEnds[]): void {
    const state = this.started[self] as Started;
    const { names, control, settings } = this;
    const data: ThreadData = {
      carrier: { self, names, control, peers, entry: process.argv[1] },
      settings,
      middleware: this.each.middleware?.toString(),
    };
    state.isUp = false;
    state.watch.begin();
    state.thread = new NodeThread(
      {
        name: names[self] as string,
        boot: bootModule(names[self] as string),
        data,
        transfer: portsOf(peers),
        resourceLimits: this.each.resourceLimits,
      },
      {
        onMessage: () => {
          state.isUp = true;
          state.failures = 0;
        },
        onEnd: (error) => this.ended(self, error),
      },
    );
    state.thread.hold(false);
  }

  private ended(thread: number, error: Error): void {
    const state = this.started[thread] as Started;
    const reason = state.endedFor ?? error;
    state.thread = undefined;
    state.endedFor = undefined;
    if (this.isClosing) {
      if (this.started.every((other) => other?.thread === undefined)) this.onAllEnded?.();
      return;
    }
    if (state.isUp) {
      this.replace(thread, reason);
      return;
    }
    this.receiver.report(`thread ${this.names[thread]} did not start: ${error.message}`, { error });
    state.failures += 1;
    const ms = Math.min(RETRY_MS_MAX, RETRY_MS_FIRST * 2 ** (state.failures - 1));
    setTimeout(() => this.replace(thread, error), ms).unref();
  }

  private replace(thread: number, error: Error): void {
    if (this.isClosing) return;
    const own: PeerEnds[] = [];
    const others = this.names.map((_, other) => other).filter((other) => other !== 0 && other !== thread);
    const notes = new ThreadNotes(this.memory.notesOf(thread));
    notes.complete((ring) => this.rings.positionsOf(ring));
    this.receiver.lostBetween(this.rings.threadEnded(thread, others));
    for (let other = 0; other < this.names.length; other += 1) {
      if (other === thread) continue;
      const [endHere, endThere] = pairOf(other, thread);
      this.rings.use(other, thread, [endHere.out, endHere.in]);
      own.push(endThere);
      if (other === 0) this.carrier.replaced(endHere, error);
      else
        this.started[other]?.thread?.post(
          { kind: 'replaced', ends: endHere, error: this.carrier.pack(error) } satisfies ThreadMessage,
          portsOf([endHere]),
        );
    }
    this.start(thread, own);
  }

  private watchOf(thread: number): ThreadWatch {
    const limits = { reportMs: this.settings.stuckAfterMs, killMs: this.each.blockedKillMs };
    return new ThreadWatch(new ThreadNotes(this.memory.notesOf(thread)), limits);
  }

  private watchAfter(ms: number): void {
    this.watching = setTimeout(() => {
      const isIdle = this.names.every((_, thread) => thread === 0 || this.memory.isAsleep(thread));
      this.watch();
      this.watchAfter(isIdle ? Math.min(WATCH_EVERY_MS_MAX, 2 * ms) : WATCH_EVERY_MS);
    }, ms);
    this.watching.unref();
  }

  private watch(): void {
    const now = performance.now();
    for (let thread = 1; thread < this.names.length; thread += 1) {
      const state = this.started[thread] as Started;
      if (!state.isUp || state.endedFor !== undefined) continue;
      const blocked = state.watch.check(this.memory.isAsleep(thread), now);
      if (blocked?.limitMs !== undefined) this.endBlocked(thread, state, blocked.limitMs);
      else if (blocked !== undefined) this.receiver.blocked(thread, Math.round(blocked.ms));
    }
  }

  private endBlocked(thread: number, state: Started, limitMs: number): void {
    const message = this.receiver.messageOn(thread);
    state.endedFor = new ThreadBlockedError(this.names[thread] as string, message, limitMs);
    state.thread?.terminate();
  }

  private close(): Promise<void> {
    this.isClosing = true;
    clearTimeout(this.watching);
    const open = this.started.filter((one) => one?.thread !== undefined);
    if (open.length === 0) return Promise.resolve();
    // The timer holds the process until the threads have ended; a terminated one holds it by itself.
    for (const { thread } of open) thread?.post({ kind: 'close' } satisfies ThreadMessage);
    const withinMs = this.each.middleware === undefined ? CLOSE_WITHIN_MS : FLUSH_WITHIN_MS;
    const limit = setTimeout(() => {
      for (const { thread } of open) thread?.terminate();
    }, withinMs);
    return new Promise((resolve) => {
      this.onAllEnded = () => {
        clearTimeout(limit);
        resolve();
      };
    });
  }
}

/** The two ends of a new way between two threads. */
function pairOf(a: number, b: number): [endOfA: PeerEnds, endOfB: PeerEnds] {
  const [there, back] = [ringMemory(RING_BYTES), ringMemory(RING_BYTES)];
  const [records, bells] = [new MessageChannel(), new MessageChannel()];
  return [
    { thread: b, out: there, in: back, port: records.port1, bell: bells.port1 },
    { thread: a, out: back, in: there, port: records.port2, bell: bells.port2 },
  ];
}

function portsOf(ends: readonly PeerEnds[]): TransferListItem[] {
  return ends.flatMap(({ port, bell }) => [port, bell]);
}

function bootModule(thread: string): URL {
  return findBootModule(thread, {
    path: './node-actor-thread-main.js',
    from: import.meta.url,
    entry: '@troupe/threads/actor-thread',
  });
}

/** Only these cross: middleware, host and supervision are values of the main thread. */
function settingsOf({
  name,
  queuedMax,
  stuckAfterMs,
  askWithinMs,
  slice,
  recorder,
}: ThreadSettings): ThreadSettings {
  return { name, queuedMax, stuckAfterMs, askWithinMs, slice, recorder };
}
