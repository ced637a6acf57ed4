import type { Attempt } from '../attempt/attempt.js';

/** Runs the handlers of attempts: inline, or on threads. */
export interface HandlerRunner {
  /** `group/exec` of every job that has a handler; undefined as long as that is not known. */
  readonly execs: readonly string[] | undefined;
  /** Whether the handler could begin now. A free slot is not enough where it needs a thread or a runner. */
  hasRoom(attempt: Attempt): boolean;
  /** Begins the handler. Returns true if it is still running; else the attempt has ended. */
  run(attempt: Attempt, tag: string): boolean;
  /** The signal of the attempt has fired. */
  aborted(attempt: Attempt): void;
  /** Nothing more begins. */
  stop(): void;
}
