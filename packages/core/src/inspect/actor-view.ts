/** What an actor is, in one or more words; an actor that only waits for messages is `idle`. */
export type StatusWord =
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

/** One actor, as it was at the moment of the look. */
export interface ActorView {
  readonly path: string;
  readonly id: string;
  /** Name of its definition. */
  readonly actor: string;
  readonly phase: string | undefined;
  readonly status: readonly StatusWord[];
  /** What it is doing, for people. */
  readonly activity: string;
  /** Why it handles no messages, and for how long already (undefined where the runtime does not know). */
  readonly notRunning: { readonly why: string; readonly forMs: number | undefined } | undefined;
  /** Messages in its mailbox. */
  readonly depth: number;
  readonly stashed: number;
  /** 0 of an actor that is gone: its place may be somebody else's by now. */
  readonly handled: number;
  readonly restarts: number;
  readonly timers: number;
  readonly watchers: number;
  /** What the runtime holds for it, roughly, messages by their places only; its own state is not counted. */
  readonly bytes: number;
  /** The slowest message that the runtime happened to time: all asynchronous ones, of the others those that took a millisecond. */
  readonly slowest: { readonly message: string; readonly ms: number } | undefined;
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
