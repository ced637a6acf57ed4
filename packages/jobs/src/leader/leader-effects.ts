import type { StoredPayload } from '../job/payload/stored-payload.js';
import type { ActorsView } from '../protocol/client/actors-view.js';
import type { SpillRead, SpillWrite } from '../spill/spill.js';

/** The effects of a leader by name. An effect with an answer names the input that brings it. */
export interface LeaderEffects {
  /**
   * Leads to `turn`, after every message that has arrived by now: the sends of a thousand connections at one
   * moment are one turn.
   */
  requestTurn(): void;
  /** Leads to `tick` in so many milliseconds. */
  startTick(ms: number): void;
  /** Leads to `due` in so many milliseconds. The latest call replaces earlier ones. */
  startDueTimer(ms: number): void;
  /** Leads to `scheduleDue` in so many milliseconds. The latest call replaces earlier ones. */
  startScheduleTimer(ms: number): void;
  /**
   * Appends the entries in order, and leads to `appended`, in the order of the appends. The entries belong to
   * the log until then. `stored`: the stored payload that an entry refers to, by the index of the entry.
   */
  append(entries: readonly Uint8Array[], stored: ReadonlyMap<number, StoredPayload> | undefined): void;
  /** Writes at the end of a file of the spill, and leads to `spillWritten`. One at a time. */
  writeSpill(write: Omit<SpillWrite, 'to'>): void;
  /** Leads to `spillLoaded`. */
  readSpill(read: Omit<SpillRead, 'to'>): void;
  removeSpill(files: readonly number[]): void;
  /** Reads a part of a stored payload for a look at it, and leads to `inputRead`. One at a time. */
  readInput(payload: StoredPayload, from: number, max: number): void;
  /** The actors around the leader at this moment. */
  viewActors(): ActorsView;
  /** After `stop`: every staged record is durable and answered, and no effect follows. */
  finished(): void;
  /** The log failed: no further request is acknowledged. The process should end. */
  failed(error: Error): void;
}
