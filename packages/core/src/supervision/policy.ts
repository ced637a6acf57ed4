/** What a parent does with a child that failed. */
export type Directive = 'resume' | 'restart' | 'stop' | 'escalate';
export const DIRECTIVES: readonly Directive[] = ['resume', 'restart', 'stop', 'escalate'];

/**
 * one-for-one   only the failed child is concerned
 * one-for-all   all children are restarted or stopped with it
 * rest-for-one  the failed child and those started after it
 */
export type Strategy = 'one-for-one' | 'one-for-all' | 'rest-for-one';

/**
 * permanent  is started again however it ended
 * transient  is started again when it failed (the default)
 * temporary  is never started again
 */
export type RestartType = 'permanent' | 'transient' | 'temporary';

export const RESTART_TYPES: readonly RestartType[] = ['permanent', 'transient', 'temporary'];

export interface Backoff {
  readonly fromMs: number;
  readonly toMs: number;
  /** How far the delay may stray, as a part of it: 0.2 is ± 20 %. */
  readonly jitter?: number;
  /** After this long without a failure the delay starts at `fromMs` again. Default: `toMs`. */
  readonly resetAfterMs?: number;
}

/** An actor's policy for its own children. */
export interface SupervisionPolicy {
  readonly strategy?: Strategy;
  /** At most this many restarts of one child within `withinMs`; one more escalates. */
  readonly restarts?: number;
  readonly withinMs?: number;
  /** The same limit over all children together. Default: none. */
  readonly restartsTotal?: number;
  readonly backoff?: Backoff;
  /** Chooses the directive by error; the limits still hold for restarts. Default: always restart. */
  readonly decide?: (error: Error) => Directive;
}

export const RESTARTS_DEFAULT = 5;
export const WITHIN_MS_DEFAULT = 30_000;
