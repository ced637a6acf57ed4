import type { AnyDefinition, RemoteDefinition, ThreadReceiver } from '@troupe/core';
import { createTestSystem, type ManualHost, type TestSystem, VirtualThreads } from '@troupe/core/testing';
import type { ThreadPump } from '#src/testing/threads/virtual-threads.js';

export interface LinkOptions {
  readonly threads?: number;
  readonly seed?: number;
  /** Messages that fit between two threads. */
  readonly room?: number;
  /** Definitions that a thread finds. */
  readonly definitions?: readonly AnyDefinition[];
  readonly stuckAfterMs?: number;
}

/** Finds definitions by their names, later than it is asked for them, as an import does. */
class LoadingThreads extends VirtualThreads {
  private readonly findable: readonly AnyDefinition[];

  constructor({ threads = 2, room, definitions = [] }: LinkOptions) {
    super({ count: threads - 1, room });
    this.findable = definitions;
  }

  override async load(wanted: RemoteDefinition): Promise<AnyDefinition> {
    const found = this.findable.find(({ name }) => name === wanted.name);
    if (found === undefined) throw new Error(`no definition is called ${wanted.name}`);
    return found;
  }
}

/** The systems of several virtual threads, for tests of what lies between them. */
export class LinkedSystems {
  readonly main: TestSystem;
  private readonly threads: LoadingThreads;
  private readonly count: number;

  constructor(options: LinkOptions = {}) {
    const { threads = 2, seed = 1, stuckAfterMs } = options;
    this.count = threads;
    this.threads = new LoadingThreads(options);
    this.main = createTestSystem({ seed, stuckAfterMs, threads: this.threads });
  }

  get host(): ManualHost {
    return this.main.host;
  }

  get worlds(): readonly TestSystem[] {
    const others = Array.from({ length: this.count - 1 }, (_, i) => this.threads.worldOf(`thread-${i + 1}`));
    return [this.main, ...others];
  }

  receiver(thread: number): ThreadReceiver {
    return this.threads.receiverOf(thread);
  }

  stepTimes(times: number): void {
    for (let left = times; left > 0 && this.main.step(); left -= 1);
  }

  /** Turns of the main thread alone. */
  turnsOfMain(times: number): void {
    const main = this.main as TestSystem & ThreadPump;
    for (let left = times; left > 0 && main.runTurn(); left -= 1);
  }

  /** Messages of a thread that another has not read. */
  unreadBy(thread: number, from: number): number {
    return this.threads.channel(from, thread).messages;
  }

  settle(): Promise<void> {
    return this.main.settle();
  }

  advance(ms: number): Promise<void> {
    return this.main.advance(ms);
  }

  kill(thread: number, error: Error): void {
    this.threads.end(`thread-${thread}`, error);
  }

  async close(): Promise<void> {
    await this.main[Symbol.asyncDispose]();
  }
}
