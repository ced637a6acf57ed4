// The log as an actor: others ask it, and its parent supervises it. A shell; the log is in ../log.

import { type ActorContext, type ActorDefinition, defineActor, type LaterReply } from '@troupe/core';
import type { SnapshotEntry } from '../format/manifest.js';
import type { BlobRef, RecordVisitor } from '../format/record.js';
import { AppendQueue } from '../log/append-queue.js';
import type { AppendOptions, Log, ReplayRange } from '../log/log.js';
import { openLog } from '../log/open-log.js';
import type { WalOptions } from '../log/options.js';
import type { WalStatus } from '../log/status.js';
import type { Fold } from '../snapshot/fold.js';
import type { Callback } from '../storage/storage.js';
import { WalClosedError, WalIoError } from '../wal-error.js';

export interface AppendRequest extends AppendOptions {
  /** Several survive a crash together or not at all. */
  readonly record: Uint8Array | readonly Uint8Array[];
}

export interface ReplayRequest extends ReplayRange {
  readonly visit: RecordVisitor;
}

export interface WalState {
  readonly options: WalOptions;
  log: Log | undefined;
  appends: AppendQueue | undefined;
}

const ESSENTIAL = { essential: true };

type WalContext = ActorContext<WalState>;

const handlers = {
  /** Replies with the LSN (of the last record, if several) once it is on the disk. */
  append(ctx: WalContext, request: Uint8Array | AppendRequest): LaterReply<number> {
    mustServe(ctx);
    const appended = ctx.later<number>();
    const done: Callback<number> = (error, lsn) =>
      error === null ? appended.reply(lsn) : appended.refuse(error);
    if (request instanceof Uint8Array) ctx.state.appends?.append(request, undefined, done);
    else ctx.state.appends?.append(request.record, request, done);
    return appended;
  },
  putBlob: (ctx: WalContext, bytes: Uint8Array): LaterReply<BlobRef> =>
    answer(ctx, (log, done) => log.putBlob(bytes, done)),
  readBlob: (ctx: WalContext, ref: BlobRef): LaterReply<Buffer> =>
    answer(ctx, (log, done) => log.readBlob(ref, done)),
  /** The visitor is called on this thread; replies when it has seen every record. */
  replay: (ctx: WalContext, request: ReplayRequest): LaterReply<void> =>
    answer(ctx, (log, done) => log.replay(request, request.visit, done)),
  restore: (ctx: WalContext, fold: Fold): LaterReply<unknown> =>
    answer(ctx, (log, done) => log.restore(fold, done)),
  snapshot: (ctx: WalContext): LaterReply<SnapshotEntry> => answer(ctx, (log, done) => log.makeSnapshot(done)),
  trim: (ctx: WalContext, lsn: number): LaterReply<number> => answer(ctx, (log, done) => log.trim(lsn, done)),
  status: (ctx: WalContext): WalStatus => mustServe(ctx).status(),
};

/**
 * Opens when it starts (messages wait for that), closes when it stops. A disk that fails ends the process; where the host prevents
 * that, the next message fails the actor, and a restart by its supervisor recovers from the directory.
 */
export const WalActor: ActorDefinition<typeof handlers, WalState, WalOptions> = defineActor('wal', {
  state: (options: WalOptions): WalState => ({ options, log: undefined, appends: undefined }),

  async started(ctx) {
    const log = await opened(ctx.state.options);
    ctx.state.log = log;
    ctx.state.appends = new AppendQueue(log);
  },

  handlers,

  stopped: (ctx) => closed(ctx.state),
  restarting: (ctx) => closed(ctx.state),

  mailbox: { capacity: 16_384, overflow: 'mute-sender' },
  stopWithinMs: 30_000,
});

function mustServe(ctx: WalContext): Log {
  const { log } = ctx.state;
  if (log === undefined) throw new WalClosedError('not open');
  const refusal = log.refusal(ESSENTIAL);
  if (refusal instanceof WalIoError) throw refusal;
  return log;
}

function answer<T>(ctx: WalContext, start: (log: Log, done: Callback<T>) => void): LaterReply<T> {
  const log = mustServe(ctx);
  const later = ctx.later<T>();
  start(log, (error, value) => (error === null ? later.reply(value) : later.refuse(error)));
  return later;
}

function opened(options: WalOptions): Promise<Log> {
  return new Promise((resolve, reject) => {
    openLog(options, (error, log) => (error === null ? resolve(log) : reject(error)));
  });
}

function closed({ log, appends }: WalState): Promise<void> {
  return new Promise((resolve, reject) => {
    if (log === undefined || appends === undefined) return resolve();
    appends.whenEmpty(() => log.close((error) => (error === null ? resolve() : reject(error))));
  });
}
