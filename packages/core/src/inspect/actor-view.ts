/** State of an actor in one or more words; an actor that only waits for messages is `idle`. */
export type ActorStatus =
  | 'idle'
  | 'ready'
  | 'awaiting'
  | 'muted'
  | 'overloaded'
  | 'suspended'
  | 'failed'
  | 'draining'
  | 'stopping'
  | 'terminated';

/** One actor at the moment of the inspection. */
export interface ActorView {
  /** The place in the tree: `/parent/name`. */
  readonly path: string;
  /** Unique in its system for ever. */
  readonly id: string;
  /** Name of its definition. */
  readonly actor: string;
  /** Its present phase; undefined for an actor without phases. */
  readonly phase: string | undefined;
  /**
   * The thread on which it runs, if that is another: the rest is then about its proxy here, whose messages
   * count as handled when they are on their way.
   */
  readonly thread: string | undefined;
  /** Its state in words. */
  readonly status: readonly ActorStatus[];
  /** Its present activity, for people. */
  readonly activity: string;
  /** Why it handles no messages, and for how long already (undefined where the runtime does not know). */
  readonly notRunning: { readonly why: string; readonly forMs: number | undefined } | undefined;
  /** Messages in its mailbox. */
  readonly depth: number;
  /** Messages in its stash. */
  readonly stashed: number;
  /** Messages that it has handled; 0 of a terminated actor: its slot may belong to another actor. */
  readonly handled: number;
  /** How often it was restarted. */
  readonly restarts: number;
  /** Its armed timers. */
  readonly timers: number;
  /** Actors that watch it. */
  readonly watchers: number;
  /** Memory that the runtime holds for it, roughly; payloads and its own state are not counted. */
  readonly bytes: number;
  /**
   * The slowest timed message: all asynchronous ones are timed, of the others those that took a millisecond.
   */
  readonly slowest: { readonly message: string; readonly ms: number } | undefined;
  /** Its children, in the order of their start. */
  readonly children: readonly ActorView[];
  /** Children that were left out by `levels` or `childrenMax`. */
  readonly hidden: number;
}

export interface InspectOptions {
  /** Levels below the first. Default: 32. */
  readonly levels?: number | undefined;
  /** Children shown of each actor. Default: 1,000. */
  readonly childrenMax?: number | undefined;
}
