// The log as an actor, supervised by its parent. A wrapper of the log in ../log.

import { type Actor, defineActor, type LaterReply, type ProtocolContext } from '@troupe/core';
import type { BlobRef } from '../blob/blob-ref.js';
import type { RecordVisitor } from '../codec/record-codec.js';
import type { SnapshotEntry } from '../format/manifest.js';
import type { AppendOptions, Log } from '../log/log.js';
import type { LogCondition } from '../log/log-condition.js';
import type { ReplayRange } from '../log/log-reader.js';
import { openLog } from '../log/open-log.js';
import { WaitingAppends } from '../log/waiting-appends.js';
import type { WalOptions } from '../log/wal-options.js';
import type { WalStatus } from '../log/wal-status.js';
import type { Fold } from '../snapshot/state-fold.js';
import { promiseOf } from '../storage/coroutine.js';
import type { Callback } from '../storage/storage.js';
import { WalClosedError, WalIoError, WalRecordTooLargeError } from '../wal-error.js';

export interface AppendRequest extends AppendOptions {
  /** Several records survive a crash together or not at all. */
  readonly record: Uint8Array | readonly Uint8Array[];
}

/** Records that an actor has written in one message, and the actor that learns when they are durable. */
export interface WriteRequest {
  /** Not changed until they are durable. Each is at most `inlineBytesMax` long. */
  readonly records: readonly Uint8Array[];
  /** The stored blob that a record refers to, by the index of the record. */
  readonly blobs?: ReadonlyMap<number, BlobRef> | undefined;
  readonly to: DurableReceiver;
}

/** The answer to one `write`; an error is final, and none of the records may be acted on. */
export interface DurableWrite {
  readonly error: Error | null;
  /** The LSN of the first record; those of one `write` are consecutive. */
  readonly firstLsn: number;
}

/** An actor with a handler `durable`. */
export interface DurableReceiver {
  readonly tell: { durable(written: DurableWrite): void };
}

/** An actor with a handler `logChanged`. */
export interface LogWatcher {
  readonly tell: { logChanged(condition: LogCondition): void };
}

/** A log that is open already, in place of the options to open one. */
export interface OpenedLog {
  readonly log: Log;
}

export interface ReplayRequest extends ReplayRange {
  readonly visit: RecordVisitor;
}

export interface WalState {
  readonly args: WalOptions | OpenedLog;
  log: Log | undefined;
  appends: WaitingAppends | undefined;
  watcher: LogWatcher | undefined;
}

/** The messages of the log. */
export interface WalProtocol {
  /** Replies with the LSN (of the last record, if several) once the record is on the disk. */
  append(request: Uint8Array | AppendRequest): number;
  /**
   * Appends the records in order, also while the disk is low, and tells `to` when all are durable, in the
   * order of the writes.
   */
  write(request: WriteRequest): void;
  /** Tells the condition of the log now and at every change; the latest call replaces earlier ones. */
  watch(watcher: LogWatcher): void;
  putBlob(bytes: Uint8Array): BlobRef;
  readBlob(ref: BlobRef): Buffer;
  /** The visitor is called on this thread; replies after the last record. */
  replay(request: ReplayRequest): void;
  restore(fold: Fold): unknown;
  snapshot(): SnapshotEntry;
  trim(lsn: number): number;
  status(): WalStatus;
  /** Replies once all records are durable and the directory is released. */
  close(): void;
}

const ESSENTIAL = { essential: true };

type WalContext = ProtocolContext<WalProtocol, WalState>;

/**
 * Opens the log when it starts, while messages wait, and closes it when it stops. A disk failure ends the
 * process; where the host prevents that, the next message fails the actor, and a restart by its supervisor
 * recovers the directory.
 */
export const WalActor: Actor<WalProtocol, WalOptions | OpenedLog> = defineActor.of<WalProtocol>()('wal', {
  state: (args: WalOptions | OpenedLog): WalState => ({
    args,
    log: undefined,
    appends: undefined,
    watcher: undefined,
  }),

  async started(ctx) {
    const { signal, state } = ctx;
    const { args } = state;
    const log = 'log' in args ? args.log : await promiseOf<Log>((done) => openLog(args, done));
    // The actor was stopped or killed meanwhile. After a kill there is no hook that would close the log.
    if (signal.aborted) return promiseOf<void>((done) => log.close(done));
    state.log = log;
    state.appends = new WaitingAppends(log);
    log.watchCondition((condition) => state.watcher?.tell.logChanged(condition));
  },

  handlers: {
    append(ctx, request) {
      openLogOf(ctx);
      const appended = ctx.later<number>();
      const done: Callback<number> = (error, lsn) =>
        error === null ? appended.reply(lsn) : appended.refuse(error);
      if (request instanceof Uint8Array) ctx.state.appends?.append(request, undefined, done);
      else ctx.state.appends?.append(request.record, request, done);
      return appended;
    },
    write(ctx, request) {
      const { appends, log } = ctx.state;
      if (appends !== undefined && log !== undefined) write(appends, request, log.inlineBytesMax);
    },
    watch(ctx, watcher) {
      ctx.state.watcher = watcher;
      watcher.tell.logChanged(openLogOf(ctx).condition);
    },
    putBlob: (ctx, bytes) => replyWith(ctx, (log, done) => log.putBlob(bytes, done)),
    readBlob: (ctx, ref) => replyWith(ctx, (log, done) => log.readBlob(ref, done)),
    replay: (ctx, request) => replyWith(ctx, (log, done) => log.replay(request, request.visit, done)),
    restore: (ctx, fold) => replyWith(ctx, (log, done) => log.restore(fold, done)),
    snapshot: (ctx) => replyWith(ctx, (log, done) => log.makeSnapshot(done)),
    trim: (ctx, lsn) => replyWith(ctx, (log, done) => log.trim(lsn, done)),
    status: (ctx) => openLogOf(ctx).status(),
    close: (ctx) => close(ctx.state),
  },

  stopped: (ctx) => close(ctx.state),
  restarting: (ctx) => close(ctx.state),

  mailbox: { capacity: 16_384, overflow: 'mute-sender' },
  stopWithinMs: 30_000,
});

function openLogOf(ctx: WalContext): Log {
  const { log } = ctx.state;
  if (log === undefined) throw new WalClosedError('not open');
  const refusal = log.refusal(ESSENTIAL);
  if (refusal instanceof WalIoError) throw refusal;
  return log;
}

function write(appends: WaitingAppends, { records, blobs, to }: WriteRequest, recordBytesMax: number): void {
  const longest = records.reduce((bytes, record) => Math.max(bytes, record.length), 0);
  // It would become a blob, and the record would be empty when it is read again.
  if (longest > recordBytesMax)
    return to.tell.durable({ error: new WalRecordTooLargeError(longest, recordBytesMax), firstLsn: 0 });
  let failure: Error | null = null;
  records.forEach((record, i) => {
    const blob = blobs?.get(i);
    appends.append(record, blob === undefined ? ESSENTIAL : { ...ESSENTIAL, blob }, (error, lsn) => {
      failure ??= error;
      if (i < records.length - 1) return;
      to.tell.durable({ error: failure, firstLsn: failure === null ? lsn - i : 0 });
    });
  });
}

function replyWith<T>(ctx: WalContext, start: (log: Log, done: Callback<T>) => void): LaterReply<T> {
  const log = openLogOf(ctx);
  const later = ctx.later<T>();
  start(log, (error, value) => (error === null ? later.reply(value) : later.refuse(error)));
  return later;
}

async function close(state: WalState): Promise<void> {
  const { log, appends } = state;
  // Its watcher is its parent, which may be stopping.
  state.watcher = undefined;
  if (log === undefined || appends === undefined) return;
  await promiseOf<void>((done) => appends.whenEmpty(() => log.close(done)));
}
