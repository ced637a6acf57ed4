import type { JournalOwner, OpenJournal } from '../journal/journal.js';

/** Bytes behind those that are in a file already. */
export interface SpillWrite {
  readonly file: number;
  readonly position: number;
  /** Not changed until they are written. */
  readonly bytes: Uint8Array;
  /** Answered once the file is on the disk, not only in the memory of the system. */
  readonly isDurable: boolean;
  readonly to: SpillReceiver;
}

export interface SpillRead {
  /** Chosen by the reader; comes back with the bytes. */
  readonly number: number;
  readonly file: number;
  readonly position: number;
  readonly length: number;
  readonly to: SpillReceiver;
}

export interface SpillWritten {
  readonly error: Error | null;
}

/** With an error the bytes are meaningless. */
export interface SpillLoaded {
  readonly number: number;
  readonly error: Error | null;
  readonly bytes: Uint8Array;
}

/** An actor with these handlers. */
export interface SpillReceiver {
  readonly tell: {
    spillWritten(written: SpillWritten): void;
    spillLoaded(loaded: SpillLoaded): void;
  };
}

/**
 * Numbered files beside the journal, for chunks of streams that have no room in memory. A file is made by its
 * first write, is only written at its end, and one write at a time is under way. An error of a call is no
 * error of another: a leader whose spill fails goes on without it.
 */
export interface Spill {
  write(write: SpillWrite): void;
  read(read: SpillRead): void;
  /** A file that cannot be removed now is removed by the next opening. */
  remove(files: readonly number[]): void;
}

/**
 * Opens a spill: files that are not `named` are removed, and the content of each other is passed to `found`,
 * in the order of their numbers. `bytes` are valid only during the call. `spill` is there unless there is an
 * error.
 */
export type OpenSpill = (
  named: ReadonlySet<number>,
  found: (file: number, bytes: Uint8Array) => void,
  done: (error: Error | null, spill?: Spill) => void,
  owner: JournalOwner,
) => void;

/** A journal, and what a leader has by it. */
export type LeaderJournal = OpenJournal & {
  /** Keeps the chunks of streams: the spill of its leader, unless that has another one. */
  readonly spill?: OpenSpill | undefined;
  /**
   * Another leader goes on where this one ends: running jobs keep their attempts there, so that `close` need
   * not wait for them.
   */
  readonly handsOver?: boolean | undefined;
};
