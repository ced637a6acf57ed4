import type { Parts } from '../../actor/runtime-parts.js';
import { idOf } from '../proxy/route.js';
import type { RemoteRefs } from '../remote-refs.js';
import type { Threads, UnreadMessage } from '../threads.js';
import { type MonitoredType, ThreadNotes } from './thread-monitor.js';

const MAIN = 0;

/** Other threads as the main one sees them: their present messages, and those that they took along. */
export class WatchedThreads {
  /** Messages that threads took along when they ended, and dead letters of these threads. */
  private lost = 0;
  private readonly runtime: Parts<'deadLetters' | 'events' | 'log'>;
  private readonly threads: Threads;
  private readonly refs: RemoteRefs;
  /** By thread and number. */
  private readonly types = new Map<number, Map<number, MonitoredType>>();

  constructor(runtime: WatchedThreads['runtime'], threads: Threads, refs: RemoteRefs) {
    this.runtime = runtime;
    this.threads = threads;
    this.refs = refs;
  }

  /** A type of this thread, for the main thread. */
  announceType(number: number, { name, handlers }: MonitoredType): void {
    this.threads.signal(MAIN, { kind: 'type', number, name, handlers });
  }

  typeAnnounced(from: number, number: number, type: MonitoredType): void {
    const types = this.types.get(from) ?? new Map<number, MonitoredType>();
    this.types.set(from, types.set(number, type));
  }

  /** The message that a thread has begun last: the path of the actor, or its id, and the message. */
  messageOn(thread: number): { readonly path: string; readonly message: string } | undefined {
    const begun = new ThreadNotes(this.threads.notesOf(thread)).message;
    if (begun === undefined) return undefined;
    const { address, handler, hook } = begun;
    const type = this.types.get(thread)?.get(begun.type);
    const message = hook ?? type?.handlers[handler] ?? `message ${handler}`;
    const path = this.refs.find(address)?.path;
    return { path: path ?? `${type?.name ?? 'an actor'} (${idOf(address)})`, message };
  }

  /** A thread has not looked for messages for so long. */
  blocked(thread: number, ms: number): void {
    const name = this.threads.nameOf(thread);
    const begun = this.messageOn(thread);
    const where = begun === undefined ? 'code outside of messages' : `${begun.path}.${begun.message}`;
    const fields = { thread: name, path: begun?.path, message: begun?.message, ms };
    this.runtime.log.write('warn', `${name} has not answered for ${ms} ms: it is in ${where}`, fields);
    if (this.runtime.events.hasListeners) this.runtime.events.publish({ kind: 'blocked', ...fields });
  }

  /** Messages that were on their way are dead letters; of those in its mailboxes only the number is known. */
  threadEnded(thread: number, unread: readonly UnreadMessage[], notes: Int32Array | undefined): void {
    if (notes !== undefined) this.countLeft(thread, new ThreadNotes(notes));
    for (const { at, handler, payload, ask } of unread) {
      const proxy = this.refs.find(at);
      if (ask !== undefined || proxy === undefined) this.lost += 1;
      else this.runtime.deadLetters.undelivered(proxy, handler, payload, 'thread-ended');
    }
    this.types.delete(thread);
  }

  /** Dead letters of which this thread has no more than the number; the main one has those of all threads. */
  get deadLetters(): number {
    if (this.threads.self !== MAIN) return this.lost;
    return this.threads.others.reduce(
      (sum, thread) => sum + new ThreadNotes(this.threads.notesOf(thread)).deadLetters,
      this.lost,
    );
  }

  lostBetween(messages: number): void {
    this.lost += messages;
  }

  private countLeft(thread: number, notes: ThreadNotes): void {
    const lost = notes.messagesLeft;
    this.lost += notes.deadLetters;
    notes.clear();
    if (lost === 0) return;
    this.lost += lost;
    const name = this.threads.nameOf(thread);
    this.runtime.log.write('warn', `${name} has ended with ${lost} messages in the mailboxes of its actors`, {
      thread: name,
      lost,
    });
  }
}
