import type { PayloadStore, StoredPayload } from '../job/stored-payload.js';

/**
 * What a leader needs of its log. One implementation is a file log; a replicated log is another. Nothing here knows what an
 * entry means.
 */
export interface Journal {
  /**
   * Appends the entries in order. `done` comes once all of them are durable, with the position of the first; positions of one
   * call are consecutive. An error is the end: nothing of this call may be acted on, and the leader stops. `stored`: what an entry
   * refers to, by its place among the entries; at most one each.
   */
  append(
    entries: readonly Uint8Array[],
    done: (error: Error | undefined, firstLsn: number) => void,
    stored?: ReadonlyMap<number, StoredPayload>,
  ): void;
  /** Where it keeps payloads that are too large for an entry, if it can. */
  readonly payloads?: PayloadStore | undefined;
  /** Whether new work should be refused because space is running out. */
  readonly low: boolean;
  /** Puts a snapshot in the place of the entries up to now, off the caller's loop. A log does so by itself as it grows. */
  snapshot(done: (error: Error | undefined, lsn: number) => void): void;
  /** Makes everything durable and lets go of the log. */
  close(done: (error: Error | undefined) => void): void;
}

/** What a journal found when it was opened, to be folded before the first request is taken. */
export interface JournalReader {
  /** One chunk of the snapshot, in order. Valid only during the call. */
  snapshot(chunk: Uint8Array, lastLsn: number): void;
  /** `bytes` are valid only during the call. */
  entry(bytes: Uint8Array, lsn: number): void;
}

/** Opens a journal and reads it to its end. */
export type OpenJournal = (
  reader: JournalReader,
  done: (error: Error | undefined, journal?: Journal) => void,
) => void;
