// Hot path: every message on a thread that others watch.

import type { ActorCell } from '../../actor/actor-cell.js';
import type { Handler } from '../../mailbox/mailbox-settings.js';

/** Words of memory that other threads can read, also after the end of this one. */
export const MONITOR_WORDS = 32;

// Counts only grow, modulo 2³².
/** Messages here at the last look, plus all begun and published and less all accepted until then. */
const KEPT = 0;
const BEGUN = 1;
const ACCEPTED = 2;
const LOOKS = 3;
/** The message or hook that was begun last: type, handler, address of the actor. */
const TYPE = 4;
const HANDLER = 5;
const HOME = 6;
const SLOT = 7;
const GENERATION = 8;
/** The time limit of the handler that runs; 0 without one. */
const LIMIT_MS = 9;
/** Messages to other threads that these can read. */
const PUBLISHED = 10;
/** Dead letters of the thread at its last look. */
const DEAD = 11;

// A step that moves messages is one store in a ring. It is noted before: its thread may end behind it.
/** A ring that is read, and the place that its reader is about to give back the room up to. */
const READ_RING = 12;
const READ_HEAD = 13;
/** `KEPT` and `DEAD` behind that store, and `LOOKS` when the step is over. */
const NEXT_KEPT = 14;
const NEXT_DEAD = 15;
const NEXT_LOOKS = 16;
/** A ring that is written, the place up to which it is about to be published, and `PUBLISHED` after that. */
const OUT_RING = 17;
const OUT_TAIL = 18;
const NEXT_PUBLISHED = 19;

/** In place of a handler: no message was begun since the last look. */
const NONE = -1;
/** In place of a handler: a hook, counted down from here. */
const FIRST_HOOK = -2;
const HOOKS = ['started', 'stopping', 'stopped', 'restarting', 'terminated', 'idle', 'enter', 'exit'];

/** A type of actors as other threads know it. */
export interface MonitoredType {
  readonly name: string;
  readonly handlers: readonly string[];
}

/** The places in a ring up to which it was read and published. */
export interface RingPositions {
  readonly head: number;
  readonly tail: number;
}

/** The message or hook that a thread has begun last. */
export interface BegunMessage {
  readonly address: { readonly thread: number; readonly slot: number; readonly generation: number };
  /** The number of its actor's type. */
  readonly type: number;
  readonly handler: number;
  /** The name of the hook, where it is none of the messages. */
  readonly hook: string | undefined;
}

/**
 * Notes of a thread about itself, in memory that it shares: the number of messages in its mailboxes, and the
 * message that it handles. Plain stores: they are read after the thread has ended, or by a thread that
 * compares two looks at them.
 */
export class ThreadMonitor {
  private readonly words: Int32Array;
  private readonly self: number;
  private readonly onType: (number: number, type: MonitoredType) => void;
  private types = 0;
  /** Messages to other threads that were written and are not published yet. */
  private unpublished = 0;
  /** The actor whose address is noted. */
  private noted: ActorCell | undefined = undefined;

  constructor(words: Int32Array, self: number, onType: ThreadMonitor['onType']) {
    this.words = words;
    this.self = self;
    this.onType = onType;
    words[HANDLER] = NONE;
  }

  /** Returns the number of the type. */
  addType(type: MonitoredType): number {
    this.types += 1;
    this.onType(this.types, type);
    return this.types;
  }

  /** The handler, which notes each of its messages. */
  watched(type: number, handler: number, run: Handler): Handler {
    const { words } = this;
    return ((cell: never, payload: never) => {
      words[TYPE] = type;
      words[HANDLER] = handler;
      if (cell !== this.noted) this.noteActor(cell);
      words[BEGUN] = (words[BEGUN] as number) + 1;
      return run(cell, payload);
    }) as Handler;
  }

  hookBegun(cell: ActorCell, hook: string): void {
    this.words[HANDLER] = FIRST_HOOK - Math.max(0, HOOKS.indexOf(hook));
    this.words[TYPE] = cell.type.monitored;
    this.noteActor(cell);
  }

  private noteActor(cell: ActorCell): void {
    const { words } = this;
    const home = cell.cold?.home?.address;
    this.noted = cell;
    words[HOME] = home?.thread ?? this.self;
    words[SLOT] = home?.slot ?? cell.slot;
    words[GENERATION] = home?.generation ?? cell.generation;
  }

  /** The handler that is about to run has a time limit; 0: it has returned. */
  limited(ms: number): void {
    this.words[LIMIT_MS] = Math.ceil(ms);
  }

  /** A message was put into a mailbox. */
  accepted(): void {
    this.words[ACCEPTED] = (this.words[ACCEPTED] as number) + 1;
  }

  /** A message to another thread was written. */
  written(): void {
    this.unpublished += 1;
    this.accepted();
  }

  /** So many messages are about to be published, up to that place in a ring. */
  publishing(messages: number, ring: number, tail: number): void {
    const { words } = this;
    words[OUT_RING] = 0;
    words[OUT_TAIL] = tail;
    words[NEXT_PUBLISHED] = (words[PUBLISHED] as number) + messages;
    words[OUT_RING] = ring;
  }

  /** So many messages can be read by other threads from now on. */
  published(messages: number): void {
    this.unpublished -= messages;
    this.words[PUBLISHED] = (this.words[PUBLISHED] as number) + messages;
  }

  /** So many messages that were not published are dead letters: their thread has ended. */
  dropped(messages: number): void {
    this.unpublished -= messages;
  }

  /** The room of records that were read is about to be given back, up to that place in a ring. */
  releasing(ring: number, head: number, waiting: number, deadLetters: number): void {
    const { words } = this;
    words[READ_RING] = ring;
    words[READ_HEAD] = head;
    words[NEXT_KEPT] = this.keptWith(waiting);
    words[NEXT_DEAD] = deadLetters;
    words[NEXT_LOOKS] = (words[LOOKS] as number) + 1;
  }

  /** It has been given back. */
  released(): void {
    this.noteLook(this.words[NEXT_KEPT] as number, this.words[NEXT_DEAD] as number);
  }

  /** The thread has looked for records, or served its actors, and so many messages are in its mailboxes. */
  looked(waiting: number, deadLetters: number): void {
    this.noteLook(this.keptWith(waiting), deadLetters);
  }

  private keptWith(waiting: number): number {
    const { words } = this;
    const gone = (words[BEGUN] as number) + (words[PUBLISHED] as number);
    return (waiting + this.unpublished + gone - (words[ACCEPTED] as number)) | 0;
  }

  private noteLook(kept: number, deadLetters: number): void {
    const { words } = this;
    words[KEPT] = kept;
    words[DEAD] = deadLetters;
    words[HANDLER] = NONE;
    words[LOOKS] = (words[LOOKS] as number) + 1;
    this.noted = undefined;
  }
}

/** The notes of another thread. */
export class ThreadNotes {
  private readonly words: Int32Array;

  constructor(words: Int32Array) {
    this.words = words;
  }

  /** Changes when the thread looks for records, or has served its actors for once. */
  get looks(): number {
    return Atomics.load(this.words, LOOKS);
  }

  /** Changes with every message that is begun. */
  get begun(): number {
    return Atomics.load(this.words, BEGUN);
  }

  /** The time limit of the handler that runs, where it has one. */
  get limitMs(): number | undefined {
    const limit = Atomics.load(this.words, LIMIT_MS);
    return limit === 0 ? undefined : limit;
  }

  /** The message that was begun last; undefined where none was since the last look. */
  get message(): BegunMessage | undefined {
    const { words } = this;
    const handler = Atomics.load(words, HANDLER);
    if (handler === NONE) return undefined;
    return {
      address: {
        thread: words[HOME] as number,
        slot: words[SLOT] as number,
        generation: words[GENERATION] as number,
      },
      type: words[TYPE] as number,
      handler,
      hook: handler <= FIRST_HOOK ? HOOKS[FIRST_HOOK - handler] : undefined,
    };
  }

  /** After its end: a step that the rings have, and these notes had not yet. */
  complete(positionsOf: (ring: number) => RingPositions | undefined): void {
    const { words } = this;
    const isReleasing = words[NEXT_LOOKS] === (((words[LOOKS] as number) + 1) | 0);
    if (isReleasing && positionsOf(words[READ_RING] as number)?.head === words[READ_HEAD]) {
      words[KEPT] = words[NEXT_KEPT] as number;
      words[DEAD] = words[NEXT_DEAD] as number;
    }
    if (positionsOf(words[OUT_RING] as number)?.tail === words[OUT_TAIL])
      words[PUBLISHED] = words[NEXT_PUBLISHED] as number;
  }

  /** Messages in its mailboxes or not published, after its end. */
  get messagesLeft(): number {
    const { words } = this;
    const gone = (words[BEGUN] as number) + (words[PUBLISHED] as number);
    return Math.max(0, ((words[KEPT] as number) - gone + (words[ACCEPTED] as number)) | 0);
  }

  /** Dead letters of the thread since its start. */
  get deadLetters(): number {
    return Atomics.load(this.words, DEAD);
  }

  /** For the thread that takes its place. */
  clear(): void {
    this.words.fill(0);
    this.words[HANDLER] = NONE;
  }
}
