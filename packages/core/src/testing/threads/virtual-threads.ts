import type { AnyDefinition } from '../../define/actor-definition.js';
import { OptionError } from '../../errors/error-classes.js';
import type { Middleware } from '../../middleware/middleware.js';
import { checkOptions, wholeNumber } from '../../option-check.js';
import { MONITOR_WORDS } from '../../remote/notes/thread-monitor.js';
import type {
  RemoteDefinition,
  SystemThreads,
  ThreadReceiver,
  ThreadSettings,
  Threads,
} from '../../remote/threads.js';
import type { TestSystem } from '../test-system.js';
import { VirtualChannel } from './virtual-channel.js';
import { VirtualPort } from './virtual-port.js';

export interface VirtualThreadsOptions {
  /** Beside the main thread. Default 1. */
  readonly count?: number | undefined;
  /** Records that fit between two threads. Default 1,000. */
  readonly room?: number | undefined;
}

/** The actors of one thread, and their turns. */
export interface ThreadPump {
  readonly readyCount: number;
  /** One turn of one ready actor. */
  runTurn(): boolean;
}

/** The world of another thread. */
export interface ThreadWorld extends TestSystem, ThreadPump {
  /** Its thread has ended: nothing runs it any more. */
  abandon(): void;
}

export interface WorldOptions extends ThreadSettings {
  readonly threads: SystemThreads;
  readonly middleware: readonly Middleware[];
}

/** The thread that runs the test. */
export interface MainThread {
  readonly pump: ThreadPump;
  /** A world of another thread, on the same host. */
  openWorld(options: WorldOptions): ThreadWorld;
  /** The place of the next step among so many; undefined: the first. */
  readonly choose: ((alternatives: number) => number) | undefined;
}

interface VirtualThread {
  readonly world: ThreadWorld | undefined;
  readonly port: VirtualPort;
  readonly notes: Int32Array;
}

/**
 * Threads of a test system, in one process and one virtual time: each has a system and a pump of its own,
 * and the seed chooses the order of turns and of records between them. A definition is the same object on
 * all threads, so that its module need not be importable; its module variables are shared, unlike those of
 * real threads.
 */
export class VirtualThreads implements SystemThreads {
  private readonly names: readonly string[];
  private readonly room: number;
  private readonly threads: VirtualThread[] = [];
  private readonly channels = new Map<string, VirtualChannel>();
  private readonly definitions = new WeakMap<RemoteDefinition, AnyDefinition>();
  private main: MainThread | undefined = undefined;
  private settings: ThreadSettings | undefined = undefined;

  constructor({ count = 1, room = 1_000 }: VirtualThreadsOptions = {}) {
    this.names = ['main', ...Array.from({ length: count }, (_, i) => `thread-${i + 1}`)];
    this.room = room;
  }

  /** The world on whose host they run. */
  join(main: MainThread): void {
    this.main = main;
  }

  open(receiver: ThreadReceiver, settings: ThreadSettings): Threads {
    this.settings = settings;
    const port = new VirtualPort(this, 0, receiver);
    this.threads[0] = { world: undefined, port, notes: new Int32Array(MONITOR_WORDS) };
    for (let thread = 1; thread < this.names.length; thread += 1) this.start(thread);
    return port;
  }

  /** The world of another thread. */
  worldOf(name: string): TestSystem {
    return this.threadOf(this.numberOf(name)).world as TestSystem;
  }

  receiverOf(thread: number): ThreadReceiver {
    return this.threadOf(thread).port.receiver;
  }

  get hasWork(): boolean {
    return this.pumps.length > 0;
  }

  /** One turn of an actor on some thread, or one record between two; false when there is none. */
  step(): boolean {
    const { pumps } = this;
    const pump = pumps[pumps.length === 0 ? 0 : (this.main?.choose?.(pumps.length) ?? 0)];
    pump?.();
    return pump !== undefined;
  }

  private get pumps(): (() => void)[] {
    const pumps: (() => void)[] = [];
    for (const pump of [this.main?.pump, ...this.threads.map(({ world }) => world)])
      if (pump !== undefined && pump.readyCount > 0) pumps.push(() => void pump.runTurn());
    for (const channel of this.channels.values()) if (!channel.isEmpty) pumps.push(() => this.read(channel));
    return pumps;
  }

  /** All threads look for records, and find none. */
  looked(): void {
    for (const { port } of this.threads) port.receiver.looked();
  }

  private read(channel: VirtualChannel): void {
    const receiver = this.receiverOf(channel.to);
    const hasRoomAgain = channel.read(receiver);
    receiver.looked();
    if (hasRoomAgain) this.receiverOf(channel.from).roomAgain(channel.to);
  }

  /** Ends a thread with everything on it; another takes its place. */
  end(name: string, error: Error = new Error(`${name} has ended`)): void {
    const thread = this.numberOf(name);
    if (thread === 0) throw new OptionError('endThread.name', name, 'needed a thread other than main');
    const ended = this.threadOf(thread);
    this.abandon(ended);
    const reports = this.others(thread).map((other) => {
      this.channel(thread, other).takeUnread();
      return { other, unread: this.channel(other, thread).takeUnread() };
    });
    for (const { other, unread } of reports) {
      const notes = other === 0 ? ended.notes : undefined;
      this.receiverOf(other).threadEnded(thread, error, unread, notes);
    }
    this.start(thread);
  }

  /** The system of the main thread has ended, and all threads with it. */
  close(): void {
    for (const thread of this.threads) this.abandon(thread);
  }

  private abandon({ port, world }: VirtualThread): void {
    port.isEnded = true;
    world?.abandon();
  }

  placed(remote: RemoteDefinition, definition: AnyDefinition): void {
    this.definitions.set(remote, definition);
  }

  /** The middleware of a thread's system; middleware of the test system is that of the main thread. */
  protected middlewareOf(_thread: string): readonly Middleware[] {
    return [];
  }

  load(wanted: RemoteDefinition): AnyDefinition | Promise<AnyDefinition> {
    return this.definitions.get(wanted) as AnyDefinition; // known since it was placed
  }

  private start(self: number): void {
    const notes = new Int32Array(MONITOR_WORDS);
    let port: VirtualPort | undefined;
    const threads: SystemThreads = {
      monitored: { words: notes, self },
      open: (receiver) => {
        port = new VirtualPort(this, self, receiver);
        return port;
      },
    };
    const { queuedMax, stuckAfterMs, askWithinMs, slice, recorder } = this.settings as ThreadSettings;
    const settings = { queuedMax, stuckAfterMs, askWithinMs, slice, recorder };
    const name = this.nameOf(self);
    const middleware = this.middlewareOf(name);
    const world = (this.main as MainThread).openWorld({ ...settings, name, middleware, threads });
    this.threads[self] = { world, port: port as unknown as VirtualPort, notes };
  }

  private threadOf(thread: number): VirtualThread {
    return this.threads[thread] as VirtualThread;
  }

  nameOf(thread: number): string {
    return this.names[thread] as string;
  }

  notesOf(thread: number): Int32Array {
    return this.threadOf(thread).notes;
  }

  numberOf(name: string): number {
    const thread = this.names.indexOf(name);
    if (thread < 0)
      throw new OptionError('spawn.on', name, `needed any-thread or one of ${this.names.join(', ')}`);
    return thread;
  }

  others(self: number): number[] {
    return this.names.map((_, thread) => thread).filter((thread) => thread !== self);
  }

  channel(from: number, to: number): VirtualChannel {
    const key = `${from}>${to}`;
    const channel = this.channels.get(key) ?? new VirtualChannel(from, to, this.room);
    this.channels.set(key, channel);
    return channel;
  }
}

const RULES = { count: wholeNumber(1, 128), room: wholeNumber(1) };

/** Threads for `createTestSystem({ threads: virtualThreads({ count: 2 }) })`. */
export function virtualThreads(options: VirtualThreadsOptions = {}): VirtualThreads {
  checkOptions('virtualThreads', options, RULES);
  return new VirtualThreads(options);
}
