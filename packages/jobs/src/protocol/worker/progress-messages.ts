import type { AttemptRef } from './worker-messages.js';

/** The longest line of a log, and the longest note. More is cut. */
export const PROGRESS_TEXT_MAX = 500;
/** The lines of one attempt that are kept, and that one report of it carries. */
export const PROGRESS_LINES_MAX = 100;

/** Progress and log lines of one attempt since the last report. Never stored. */
export interface AttemptProgress extends AttemptRef {
  /** From 0 to 1. Absent: as before. */
  readonly share?: number | undefined;
  /** Absent: as before. */
  readonly note?: string | undefined;
  /** The warm runner that it waits for; empty: none any more. Absent: as before. */
  readonly waitsForRunner?: string | undefined;
  readonly lines: readonly string[];
  /** Lines before these that the worker did not keep. */
  readonly dropped: number;
}
