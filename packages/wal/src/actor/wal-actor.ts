// The log as an actor, supervised by its parent. A wrapper of the log in ../log.

import { type Actor, defineActor, type LaterReply, type ProtocolContext } from '@troupe/core';
import type { BlobRef } from '../blob/blob-ref.js';
import type { RecordVisitor } from '../codec/record-codec.js';
import type { SnapshotEntry } from '../format/manifest.js';
import type { AppendOptions, Log } from '../log/log.js';
import type { ReplayRange } from '../log/log-reader.js';
import { openLog } from '../log/open-log.js';
import { WaitingAppends } from '../log/waiting-appends.js';
import type { WalOptions } from '../log/wal-options.js';
import type { WalStatus } from '../log/wal-status.js';
import type { Fold } from '../snapshot/state-fold.js';
import { promiseOf } from '../storage/coroutine.js';
import type { Callback } from '../storage/storage.js';
import { WalClosedError, WalIoError } from '../wal-error.js';

export interface AppendRequest extends AppendOptions {
  /** Several records survive a crash together or not at all. */
  readonly record: Uint8Array | readonly Uint8Array[];
}

export interface ReplayRequest extends ReplayRange {
  readonly visit: RecordVisitor;
}

export interface WalState {
  readonly options: WalOptions;
  log: Log | undefined;
  appends: WaitingAppends | undefined;
}

/** The messages of the log. */
export interface WalProtocol {
  /** Replies with the LSN (of the last record, if several) once the record is on the disk. */
  append(request: Uint8Array | AppendRequest): number;
  putBlob(bytes: Uint8Array): BlobRef;
  readBlob(ref: BlobRef): Buffer;
  /** The visitor is called on this thread; replies after the last record. */
  replay(request: ReplayRequest): void;
  restore(fold: Fold): unknown;
  snapshot(): SnapshotEntry;
  trim(lsn: number): number;
  status(): WalStatus;
}

const ESSENTIAL = { essential: true };

type WalContext = ProtocolContext<WalProtocol, WalState>;

/**
 * Opens the log when it starts, while messages wait, and closes it when it stops. A disk failure ends the
 * process; where the host prevents that, the next message fails the actor, and a restart by its supervisor
 * recovers the directory.
 */
export const WalActor: Actor<WalProtocol, WalOptions> = defineActor.of<WalProtocol>()('wal', {
  state: (options: WalOptions): WalState => ({ options, log: undefined, appends: undefined }),

  async started(ctx) {
    const { signal, state } = ctx;
    const log = await promiseOf<Log>((done) => openLog(state.options, done));
    // The actor was stopped or killed meanwhile. After a kill there is no hook that would close the log.
    if (signal.aborted) return promiseOf<void>((done) => log.close(done));
    state.log = log;
    state.appends = new WaitingAppends(log);
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
    putBlob: (ctx, bytes) => replyWith(ctx, (log, done) => log.putBlob(bytes, done)),
    readBlob: (ctx, ref) => replyWith(ctx, (log, done) => log.readBlob(ref, done)),
    replay: (ctx, request) => replyWith(ctx, (log, done) => log.replay(request, request.visit, done)),
    restore: (ctx, fold) => replyWith(ctx, (log, done) => log.restore(fold, done)),
    snapshot: (ctx) => replyWith(ctx, (log, done) => log.makeSnapshot(done)),
    trim: (ctx, lsn) => replyWith(ctx, (log, done) => log.trim(lsn, done)),
    status: (ctx) => openLogOf(ctx).status(),
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

function replyWith<T>(ctx: WalContext, start: (log: Log, done: Callback<T>) => void): LaterReply<T> {
  const log = openLogOf(ctx);
  const later = ctx.later<T>();
  start(log, (error, value) => (error === null ? later.reply(value) : later.refuse(error)));
  return later;
}

async function close({ log, appends }: WalState): Promise<void> {
  if (log === undefined || appends === undefined) return;
  await promiseOf<void>((done) => appends.whenEmpty(() => log.close(done)));
}
