import type { AnyDefinition } from '../../define/actor-definition.js';
import type { PackedContexts } from '../../middleware/crossing-contexts.js';
import type {
  ActorAddress,
  RemoteAsk,
  RemoteDefinition,
  RemoteSignal,
  ThreadReceiver,
  Threads,
} from '../../remote/threads.js';
import { copyIn, copyOut } from './crossing-copy.js';
import type { VirtualRecord } from './virtual-channel.js';
import type { VirtualThreads } from './virtual-threads.js';

/** Virtual threads as one of them uses them. */
export class VirtualPort implements Threads {
  readonly self: number;
  readonly receiver: ThreadReceiver;
  /** Timers of a thread that has ended go on in the common host: they reach no other thread. */
  isEnded = false;
  private readonly threads: VirtualThreads;
  private lastPlace = 0;

  constructor(threads: VirtualThreads, self: number, receiver: ThreadReceiver) {
    this.threads = threads;
    this.self = self;
    this.receiver = receiver;
  }

  get others(): readonly number[] {
    return this.threads.others(this.self);
  }

  nameOf(thread: number): string {
    return this.threads.nameOf(thread);
  }

  place(on: string): number {
    if (on !== 'any-thread') return this.threads.numberOf(on);
    const others = this.threads.others(0);
    this.lastPlace = (this.lastPlace % others.length) + 1;
    return this.lastPlace;
  }

  checkPlaceable(remote: RemoteDefinition, definition: AnyDefinition): void {
    this.threads.placed(remote, definition);
  }

  tell(
    to: number,
    at: ActorAddress,
    handler: number,
    payload: unknown,
    contexts: PackedContexts | undefined,
  ): boolean {
    const { self } = this;
    const { thread, slot, generation } = at;
    const copy = this.copyOf({ payload, contexts });
    return this.writeMessage(to, {
      message: { at, handler, payload, ask: undefined },
      read: (receiver) => {
        const arrived = copyIn(receiver, copy) as typeof copy;
        receiver.told(self, thread, slot, generation, handler, arrived.payload, arrived.contexts);
      },
    });
  }

  ask(
    to: number,
    at: ActorAddress,
    handler: number,
    payload: unknown,
    ask: RemoteAsk,
    contexts: PackedContexts | undefined,
  ): boolean {
    const { self } = this;
    const copy = this.copyOf({ payload, contexts });
    return this.writeMessage(to, {
      message: { at, handler, payload, ask: ask.number },
      read: (receiver) => {
        const arrived = copyIn(receiver, copy) as typeof copy;
        receiver.asked(self, at, handler, arrived.payload, ask, arrived.contexts);
      },
    });
  }

  reply(to: number, ask: number, value: unknown): void {
    const { self } = this;
    const copy = copyOut(this.receiver, value, 'reply');
    this.write(to, (receiver) => receiver.replied(self, ask, copyIn(receiver, copy)));
  }

  refuse(to: number, ask: number, reason: unknown): void {
    const { self } = this;
    this.write(to, (receiver) => receiver.refused(self, ask, reason));
  }

  signal(to: number, signal: RemoteSignal): void {
    const { self } = this;
    this.write(to, (receiver) => receiver.signalled(self, signal));
  }

  pack(value: unknown): unknown {
    return copyOut(this.receiver, value, 'spawn');
  }

  unpack(packed: unknown): unknown {
    return copyIn(this.receiver, packed);
  }

  notesOf(thread: number): Int32Array {
    return this.threads.notesOf(thread);
  }

  load(definition: RemoteDefinition): AnyDefinition | Promise<AnyDefinition> {
    return this.threads.load(definition);
  }

  close(): undefined {
    if (this.self === 0) this.threads.close();
  }

  private copyOf<T extends { readonly payload: unknown; readonly contexts: unknown }>(message: T): T {
    const payload = copyOut(this.receiver, message.payload, 'payload');
    return { ...message, payload, contexts: copyOut(this.receiver, message.contexts, 'context') };
  }

  private write(to: number, read: VirtualRecord['read']): void {
    if (!this.isEnded) this.threads.channel(this.self, to).write({ message: undefined, read });
  }

  /** The message is noted as written after this, and can be read at once. */
  private writeMessage(to: number, record: VirtualRecord): boolean {
    if (this.isEnded) return true;
    const hasRoom = this.threads.channel(this.self, to).write(record);
    this.receiver.published(1);
    return hasRoom;
  }
}
