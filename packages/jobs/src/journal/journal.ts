import type { ActorContext } from '@troupe/core';
import type { CodecName, DurableReceiver, LogCondition } from '@troupe/wal';
import type { PayloadStore } from '../job/payload/payload-store.js';
import type { StoredPayload } from '../job/payload/stored-payload.js';
import type { LedgerFormat } from '../ledger/ledger-format.js';
import type { DurabilityLevel } from '../protocol/client/client-messages.js';

/**
 * The log of a leader. One implementation is a file log; a replicated log is another. It does not know what
 * an entry means.
 */
export interface Journal {
  /**
   * Appends the entries in order, and tells `to` once all of them are durable, in the order of the appends.
   * The entries are not changed until then. An error is final: no entry of this call may be acted on, and the
   * leader stops. `stored`: the stored payload that an entry refers to, by the index of the entry; at most
   * one each.
   */
  append(
    entries: readonly Uint8Array[],
    stored: ReadonlyMap<number, StoredPayload> | undefined,
    to: DurableReceiver,
  ): void;
  /**
   * The form of its entries. Default 'binary'. With 'jsonl' each record is one JSON text and an entry of its
   * own, so that a log of lines can be read without this program.
   */
  readonly codec?: CodecName | undefined;
  /** The durability of an append. */
  readonly level: DurabilityLevel;
  /** The largest entry that it takes. */
  readonly entryBytesMax: number;
  /** The store of payloads that are too large for an entry, where the journal has one. */
  readonly payloads?: PayloadStore | undefined;
  /** Its condition when it was opened. New work is refused while its disk is not `ok`. */
  readonly condition: LogCondition;
  /** Tells `watcher` its condition at every change, and that another leader has taken the log. */
  watch(watcher: JournalWatcher): void;
  /**
   * False: another process has opened the log, so that the leader's state may be old. The leader stops. It
   * looks before the answers of a turn leave.
   */
  isOwner(): boolean;
  /**
   * Replaces the entries up to now by a snapshot, off the event loop. A log also does so by itself as it
   * grows.
   */
  snapshot(done: (error: Error | null, lsn: number) => void): void;
  /** Makes all entries durable and releases the log. */
  close(done: (error: Error | null) => void): void;
}

/** The actor that a journal reports to: the leader. */
export interface JournalWatcher {
  readonly tell: {
    logChanged(condition: LogCondition): void;
    /** The log has another leader, or its lease is over: a JournalDeposedError. Nothing more is answered. */
    logLost(error: Error): void;
  };
}

/** Of a journal in memory. */
export const GOOD_CONDITION: LogCondition = { disk: 'ok', sealedBytes: 0, cutBytes: 0, failedSnapshots: 0 };

/** Receives the contents of a journal while it is opened, before the first request is taken. */
export interface JournalReader {
  /**
   * The format of the entries that will be appended. A journal keeps it beside its own version. A journal
   * with a format that cannot be read refuses to open, with LedgerVersionError, and changes nothing. One with
   * a lower minor keeps this format before the first append.
   */
  readonly format: LedgerFormat;
  /**
   * The journal follows another leader and will be opened when that one has ended. `address`: where that
   * leader listens, empty where it is not known. Called again when another one leads; undefined: that leader
   * has ended, and this journal takes over.
   */
  following?(address: string | undefined): void;
  /** One chunk of the snapshot, in order. Valid only during the call. */
  snapshot(chunk: Uint8Array, lastLsn: number): void;
  /** `bytes` are valid only during the call. */
  entry(bytes: Uint8Array, lsn: number): void;
}

/** The leader's actor: a journal that is an actor is its child. */
export type JournalOwner = Pick<ActorContext, 'spawn' | 'ask'>;

/** Opens a journal and reads it to its end. `journal` is there unless there is an error. */
export type OpenJournal = (
  reader: JournalReader,
  done: (error: Error | null, journal?: Journal) => void,
  owner: JournalOwner,
) => void;
