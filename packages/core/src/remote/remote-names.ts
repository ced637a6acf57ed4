import type { Parts } from '../actor/runtime-parts.js';
import type { RemoteRef, Threads } from './threads.js';

/** Names between threads: every thread knows those of the others, a moment later than they do. */
export class RemoteNames {
  private readonly threads: Threads;
  private readonly runtime: Parts<'registry'>;
  /** By path: names that this thread has announced, and names of others. */
  private readonly own = new Map<string, RemoteRef>();
  private readonly others = new Map<string, RemoteRef>();

  constructor(threads: Threads, runtime: RemoteNames['runtime']) {
    this.threads = threads;
    this.runtime = runtime;
  }

  find(path: string): RemoteRef | undefined {
    return this.others.get(path);
  }

  announce(path: string, ref: RemoteRef): void {
    this.own.set(path, ref);
    for (const thread of this.threads.others) this.threads.signal(thread, { kind: 'named', path, ref });
  }

  withdraw(path: string): void {
    if (!this.own.delete(path)) return;
    for (const thread of this.threads.others) this.threads.signal(thread, { kind: 'unnamed', path });
  }

  taken(path: string, ref: RemoteRef): void {
    this.others.set(path, ref);
    this.runtime.registry.notify(path);
  }

  left(path: string): void {
    if (this.others.delete(path)) this.runtime.registry.notify(path);
  }

  /** The names of the thread are gone, and the one in its place has heard of none. */
  threadEnded(thread: number): void {
    for (const [path, ref] of [...this.others]) if (ref.thread === thread) this.left(path);
    for (const [path, ref] of this.own) this.threads.signal(thread, { kind: 'named', path, ref });
  }
}
