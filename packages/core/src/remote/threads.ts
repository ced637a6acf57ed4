import type { AnyDefinition } from '../define/actor-definition.js';
import type { LayoutFields } from '../define/fixed-layout.js';
import type { ActorView, InspectOptions } from '../inspect/actor-view.js';
import type { OverflowPolicy } from '../mailbox/overflow-policy.js';
import type { PackedContexts } from '../middleware/crossing-contexts.js';
import type { AnyRef } from '../ref/actor-ref.js';
import type { RuntimeEvent, StopReason } from '../runtime-event.js';

/** An actor on all threads: its home, which is the thread of its supervisor, and its place there. */
export interface ActorAddress {
  readonly thread: number;
  readonly slot: number;
  readonly generation: number;
}

/** A definition as other threads know it. Its handlers are numbered in this order. */
export interface RemoteDefinition {
  readonly name: string;
  /** The module that has it among its exports, where that is known. */
  readonly module: string | undefined;
  readonly handlers: readonly string[];
  readonly capacity: number | undefined;
  readonly overflow: OverflowPolicy | undefined;
  /** By the number of the handler; undefined where no handler has one. */
  readonly layouts: readonly (LayoutFields | undefined)[] | undefined;
}

/** A ref on its way to another thread. */
export interface RemoteRef extends ActorAddress {
  /** The thread on which the actor runs. */
  readonly runsOn: number;
  readonly path: string;
  readonly definition: RemoteDefinition;
}

/** A request of another thread that is not a message of a user. `at`: the actor that it concerns. */
export type RemoteSignal =
  // From the home of an actor to the thread on which it runs.
  | {
      readonly kind: 'spawn';
      readonly at: ActorAddress;
      readonly path: string;
      readonly definition: RemoteDefinition;
      readonly parent: RemoteRef | undefined;
      /** Arguments and supervision policy, packed. */
      readonly packed: unknown;
    }
  | { readonly kind: 'resume'; readonly at: ActorAddress }
  /** Come to rest for a restart; `replace` follows when all siblings of the restart rest. */
  | { readonly kind: 'rest'; readonly at: ActorAddress; readonly error: Error }
  | { readonly kind: 'replace'; readonly at: ActorAddress }
  | { readonly kind: 'suspend'; readonly at: ActorAddress; readonly token: number; readonly reason: string }
  | { readonly kind: 'unsuspend'; readonly at: ActorAddress; readonly token: number }
  // From the thread on which an actor runs to its home.
  | {
      readonly kind: 'failed';
      readonly at: ActorAddress;
      readonly error: Error;
      readonly message: string;
      readonly unresumable: boolean;
      /** It cannot be started at all: a restart would fail in the same way. */
      readonly isFinal: boolean;
      /**
       * The sends before it on the thread of the actor, as lines; empty while no thread listens to events.
       */
      readonly messageHistory: readonly string[];
    }
  | { readonly kind: 'rested'; readonly at: ActorAddress }
  | { readonly kind: 'stopped'; readonly at: ActorAddress; readonly reason: StopReason }
  // To the home from any thread, and from the home to the thread on which it runs.
  | { readonly kind: 'end'; readonly at: ActorAddress; readonly how: 'stop' | 'drain' | 'kill' }
  // Between the home and the threads that have a ref.
  | { readonly kind: 'import'; readonly at: ActorAddress }
  | { readonly kind: 'ended'; readonly at: ActorAddress; readonly reason: StopReason }
  // From the thread on which an actor runs to the threads that send to it.
  | { readonly kind: 'pause'; readonly at: ActorAddress }
  | { readonly kind: 'unpause'; readonly at: ActorAddress }
  // Names, to all threads.
  | { readonly kind: 'named'; readonly path: string; readonly ref: RemoteRef }
  | { readonly kind: 'unnamed'; readonly path: string }
  // To the main thread: a type of actors, by the number that the notes of the thread have.
  | {
      readonly kind: 'type';
      readonly number: number;
      readonly name: string;
      readonly handlers: readonly string[];
    }
  // Events: the main thread has listeners; an event of another thread.
  | { readonly kind: 'listen' }
  | { readonly kind: 'event'; readonly event: RuntimeEvent }
  // An inspection of the residents of a thread, and its answer.
  | { readonly kind: 'inspect'; readonly number: number; readonly options: InspectOptions }
  | { readonly kind: 'inspected'; readonly number: number; readonly views: readonly ActorView[] }
  // Of an ask, to the thread that was asked.
  | { readonly kind: 'cancel'; readonly ask: number; readonly reason: unknown };

/** The terms of an ask on another thread. */
export interface RemoteAsk {
  /** Unique among the open asks of the asking thread. */
  readonly number: number;
  /** Milliseconds that are left to it. */
  readonly leftMs: number;
  /** The waiting actors that led to it, the asker first: an ask of one of them would wait for itself. */
  readonly chain: readonly RemoteRef[] | undefined;
}

/** A message that carries more than its payload. */
export interface RemoteTerms {
  /** Undefined for a tell. */
  readonly ask: RemoteAsk | undefined;
  readonly contexts: PackedContexts | undefined;
}

/** A message that was written to a thread and not read by it. */
export interface UnreadMessage {
  readonly at: ActorAddress;
  readonly handler: number;
  readonly payload: unknown;
  /** Undefined for a tell. */
  readonly ask: number | undefined;
}

/** The threads of a system as one of them uses them. Records to one thread arrive in their order. */
export interface Threads {
  /** The number of this thread. */
  readonly self: number;
  /** The others. */
  readonly others: readonly number[];
  nameOf(thread: number): string;
  /** The thread that `on` means, this one included; throws for a name that no thread has. */
  place(on: string): number;
  /** Throws when a restart on another thread could never succeed, or the definition cannot be found there. */
  checkPlaceable(remote: RemoteDefinition, definition: AnyDefinition): void;
  /**
   * Writes a message. `contexts`: those of middleware, packed; undefined without any. False when this was
   * the last for which there is room: `roomAgain` follows. Throws when the payload cannot be cloned, or
   * does not fit its layout.
   */
  tell(
    thread: number,
    at: ActorAddress,
    handler: number,
    payload: unknown,
    contexts: PackedContexts | undefined,
    layout: LayoutFields | undefined,
  ): boolean;
  ask(
    thread: number,
    at: ActorAddress,
    handler: number,
    payload: unknown,
    ask: RemoteAsk,
    contexts: PackedContexts | undefined,
    layout: LayoutFields | undefined,
  ): boolean;
  /** Throws when the value cannot be cloned. */
  reply(thread: number, ask: number, value: unknown): void;
  refuse(thread: number, ask: number, reason: unknown): void;
  signal(thread: number, signal: RemoteSignal): void;
  /** A clone that can be unpacked more than once, on any thread. Throws when it cannot be cloned. */
  pack(value: unknown): unknown;
  unpack(packed: unknown): unknown;
  /** The notes of another thread about itself. */
  notesOf(thread: number): Int32Array;
  /** Imports the module of a definition and finds it there. */
  load(definition: RemoteDefinition): AnyDefinition | Promise<AnyDefinition>;
  close(): Promise<void> | undefined;
}

/** The part of a system that takes the records of other threads. */
export interface ThreadReceiver {
  told(
    from: number,
    home: number,
    slot: number,
    generation: number,
    handler: number,
    payload: unknown,
    contexts: PackedContexts | undefined,
  ): void;
  asked(
    from: number,
    at: ActorAddress,
    handler: number,
    payload: unknown,
    ask: RemoteAsk,
    contexts: PackedContexts | undefined,
  ): void;
  replied(from: number, ask: number, value: unknown): void;
  refused(from: number, ask: number, reason: unknown): void;
  signalled(from: number, signal: RemoteSignal): void;
  roomAgain(thread: number): void;
  /**
   * A thread has ended, and another takes its number and name. `unread`: messages of this thread that it had
   * not read. `notes`: those of the thread about itself, where this thread is to count its messages.
   */
  threadEnded(
    thread: number,
    error: Error,
    unread: readonly UnreadMessage[],
    notes: Int32Array | undefined,
  ): void;
  /** So many messages of this thread are about to be published, up to that place in a ring. */
  publishing(messages: number, ring: number, tail: number): void;
  /** So many messages of this thread can be read by others from now on. */
  published(messages: number): void;
  /** So many messages were not published, and never will be. They are among the unread ones. */
  dropped(messages: number): void;
  /** The room of what this thread has read is about to be given back, up to that place in a ring. */
  releasing(ring: number, head: number): void;
  /** It has been given back: the thread has looked for records. */
  released(): void;
  /** This thread has looked for records, and there were none. */
  looked(): void;
  /** The message that another thread has begun last; undefined where it has begun none. */
  messageOn(thread: number): { readonly path: string; readonly message: string } | undefined;
  /** Another thread has not looked for records for so long. */
  blocked(thread: number, ms: number): void;
  /** Actors of this thread are ready to run. */
  readonly isBusy: boolean;
  isRef(value: object): boolean;
  exportRef(ref: AnyRef): RemoteRef;
  importRef(ref: RemoteRef): AnyRef;
  /** Messages between two other threads that have both ended. */
  lostBetween(messages: number): void;
  /** An error that belongs to no actor. */
  report(message: string, fields: Readonly<Record<string, unknown>>): void;
}

/** The option `threads` of a system. */
export interface SystemThreads {
  /** Where this system is that of a thread that others watch: its number, and the memory of its notes. */
  readonly monitored?: { readonly words: Int32Array; readonly self: number } | undefined;
  open(receiver: ThreadReceiver, settings: ThreadSettings): Threads;
}

/** The settings of a system that its other threads have too. */
export interface ThreadSettings {
  readonly name: string;
  readonly queuedMax: number;
  readonly stuckAfterMs: number;
  readonly askWithinMs: number;
  readonly slice: { readonly msMin: number; readonly msMax: number };
  readonly recorder: boolean;
}
