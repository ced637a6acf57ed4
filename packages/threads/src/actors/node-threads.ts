import { availableParallelism } from 'node:os';
import { MessageChannel, type ResourceLimits, type TransferListItem } from 'node:worker_threads';
import type { SystemThreads, ThreadReceiver, ThreadSettings } from '@troupe/core';
import { checkOptions, name, object, wholeNumber } from '@troupe/core/option-check';
import { ringMemory } from '../ring/byte-ring.js';
import { findBootModule } from '../thread/node-boot-module.js';
import { NodeThread } from '../thread/node-thread.js';
import { controlMemory, type PeerEnds, ThreadCarrier } from './node-thread-carrier.js';
import type { ThreadData, ThreadMessage } from './thread-message.js';

export interface ThreadsOptions {
  /** Beside the main thread. Default: one less than the processors, at least one. */
  readonly count?: number | undefined;
  /** The threads are called `name-1`, `name-2` and so on. Default `thread`. */
  readonly name?: string | undefined;
  /** Of each thread. A thread that runs out of memory ends and is replaced; the process goes on. */
  readonly resourceLimits?: ResourceLimits | undefined;
}

const RULES = { count: wholeNumber(1, 128), name, resourceLimits: object };

const RING_BYTES = 2 ** 18;
/** A thread that does not come up is started again after this, and each time after twice as long. */
const RETRY_MS_FIRST = 100;
const RETRY_MS_MAX = 5_000;
/** A thread that does not end by itself is terminated. */
const CLOSE_WITHIN_MS = 500;

/** More threads for a system: `createSystem({ threads: threads({ count: 2 }) })`. */
export function threads(options: ThreadsOptions = {}): SystemThreads {
  checkOptions('threads', options, RULES);
  const {
    count = Math.max(1, availableParallelism() - 1),
    name: prefix = 'thread',
    resourceLimits,
  } = options;
  const names = ['main', ...Array.from({ length: count }, (_, i) => `${prefix}-${i + 1}`)];
  return {
    open: (receiver, settings) => new ActorThreads(names, resourceLimits, receiver, settings).carrier,
  };
}

interface Started {
  thread: NodeThread | undefined;
  isUp: boolean;
  failures: number;
}

/** Starts the threads of a system, and another in the place of each that ends. */
class ActorThreads {
  readonly carrier: ThreadCarrier;
  private readonly names: readonly string[];
  private readonly resourceLimits: ResourceLimits | undefined;
  private readonly settings: ThreadSettings;
  private readonly receiver: ThreadReceiver;
  private readonly control: SharedArrayBuffer;
  private readonly started: Started[] = [];
  private onAllEnded: (() => void) | undefined = undefined;
  private isClosing = false;

  constructor(
    names: readonly string[],
    resourceLimits: ResourceLimits | undefined,
    receiver: ThreadReceiver,
    settings: ThreadSettings,
  ) {
    this.names = names;
    this.resourceLimits = resourceLimits;
    this.receiver = receiver;
    this.settings = settingsOf(settings);
    this.control = controlMemory(names.length);
    const pairs = names.map((): PeerEnds[] => []);
    for (let a = 0; a < names.length; a += 1) {
      for (let b = a + 1; b < names.length; b += 1) {
        const [endOfA, endOfB] = pairOf(a, b);
        pairs[a]?.push(endOfA);
        pairs[b]?.push(endOfB);
      }
    }
    const entry = process.argv[1];
    const { control } = this;
    const own = { self: 0, names, control, peers: pairs[0] as PeerEnds[], entry };
    this.carrier = new ThreadCarrier(own, receiver, () => this.close());
    for (let thread = 1; thread < names.length; thread += 1) {
      this.started[thread] = { thread: undefined, isUp: false, failures: 0 };
      this.start(thread, pairs[thread] as PeerEnds[]);
    }
  }

  private start(self: number, peers: readonly PeerEnds[]): void {
    const state = this.started[self] as Started;
    const { names, control, settings } = this;
    const data: ThreadData = {
      carrier: { self, names, control, peers, entry: process.argv[1] },
      settings,
    };
    state.isUp = false;
    state.thread = new NodeThread(
      {
        name: names[self] as string,
        boot: bootModule(names[self] as string),
        data,
        transfer: portsOf(peers),
        resourceLimits: this.resourceLimits,
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
    state.thread = undefined;
    if (this.isClosing) {
      if (this.started.every((other) => other?.thread === undefined)) this.onAllEnded?.();
      return;
    }
    if (state.isUp) {
      this.replace(thread, error);
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
    for (let other = 0; other < this.names.length; other += 1) {
      if (other === thread) continue;
      const [endHere, endThere] = pairOf(other, thread);
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

  private close(): Promise<void> {
    this.isClosing = true;
    const open = this.started.filter((one) => one?.thread !== undefined);
    if (open.length === 0) return Promise.resolve();
    for (const { thread } of open) thread?.post({ kind: 'close' } satisfies ThreadMessage);
    const limit = setTimeout(() => {
      for (const { thread } of open) thread?.terminate();
    }, CLOSE_WITHIN_MS);
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
