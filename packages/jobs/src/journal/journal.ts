import type { PayloadStore } from '../job/payload-store.js';
import type { StoredPayload } from '../job/stored-payload.js';

/**
 * The log of a leader. One implementation is a file log; a replicated log is another. It does not know what
 * an entry means.
 */
export interface Journal {
  /**
   * Appends the entries in order. `done` runs once all of them are durable, with the position of the first;
   * the positions of one call are consecutive. An error is final: no entry of this call may be acted on, and
   * the leader stops. `stored`: the stored payload that an entry refers to, by the index of the entry; at
   * most one each.
   */
  append(
    entries: readonly Uint8Array[],
    done: (error: Error | null, firstLsn: number) => void,
    stored?: ReadonlyMap<number, StoredPayload>,
  ): void;
  /** The store of payloads that are too large for an entry, where the journal has one. */
  readonly payloads?: PayloadStore | undefined;
  /** New work should be refused, because disk space is running out. */
  readonly diskLow: boolean;
  /** New work should be refused, because writes take too long. */
  readonly diskSlow?: boolean | undefined;
  /**
   * False: another process has opened the log, so that the leader's state may be old. The leader stops. An
   * append that has worked needs no such look.
   */
  isOwner(): boolean;
  /** Figures for operators, where the journal has them. */
  status?(): JournalStatus;
  /**
   * Replaces the entries up to now by a snapshot, off the event loop. A log also does so by itself as it
   * grows.
   */
  snapshot(done: (error: Error | null, lsn: number) => void): void;
  /** Makes all entries durable and releases the log. */
  close(done: (error: Error | null) => void): void;
}

export interface JournalStatus {
  /** Bytes of its sealed segments. */
  readonly bytes: number;
  /** Bytes that its opening cut. */
  readonly cutBytes: number;
  /** Snapshots that failed since the last one that was made. */
  readonly failedSnapshots: number;
}

export const NO_STATUS: JournalStatus = { bytes: 0, cutBytes: 0, failedSnapshots: 0 };

/** Receives the contents of a journal while it is opened, before the first request is taken. */
export interface JournalReader {
  /** One chunk of the snapshot, in order. Valid only during the call. */
  snapshot(chunk: Uint8Array, lastLsn: number): void;
  /** `bytes` are valid only during the call. */
  entry(bytes: Uint8Array, lsn: number): void;
}

/** Opens a journal and reads it to its end. `journal` is there unless there is an error. */
export type OpenJournal = (
  reader: JournalReader,
  done: (error: Error | null, journal?: Journal) => void,
) => void;
