import { type Actor, defineActor, type Host, type LaterReply, type ProtocolContext } from '@troupe/core';
import { JournalDeposedError, type JournalWatcher } from '@troupe/jobs/journal';
import type { Sql } from 'postgres';
import { addPartition, PARTITION_POSITIONS } from '../schema/migrations.js';
import { SnapshotMaker } from '../snapshots/snapshot-maker.js';
import { BatchQueue, type WaitingWrite, type WriteBatch } from './batch-queue.js';
import { endLease, moveLease, renewLease } from './lease.js';
import type { LeaseHold } from './lease-hold.js';
import {
  appendBatch,
  assertNotShorter,
  connect,
  type DatabaseOptions,
  type LogHead,
  takeOverFrom,
} from './log-database.js';

export interface PostgresLogArgs {
  readonly database: DatabaseOptions;
  readonly head: LogHead;
  /** The connection of the appends. */
  readonly sql: Sql;
  /** Another one, whose commits wait for no standby: a lease must not wait behind an append. */
  readonly leaseSql: Sql;
  readonly leaseMs: number;
  readonly hold: LeaseHold;
  readonly snapshotBytes: number;
  readonly host: Host;
}

/** The connection of the appends is new, with a new epoch; undefined: another leader has taken over. */
interface Reconnection {
  readonly sql: Sql;
  readonly head: LogHead | undefined;
}

/** The messages of the log: of its leader, of the server's answers, and of its own timers. */
export interface PostgresLogProtocol {
  write(write: WaitingWrite): void;
  /** Answer of the server to the batch that it had; false: the leader is deposed. */
  answered(isCommitted: boolean): void;
  /** The connection broke while the server had a batch, whose outcome is unknown. */
  broken(error: Error): void;
  reconnected(reconnection: Reconnection): void;
  reconnect(): void;
  renew(): void;
  /** The time of this process at which the lease ends; undefined: it is another leader's. */
  renewed(endsAt: number | undefined): void;
  snapshotMade(made: { readonly lsn: number; readonly error: Error | undefined }): void;
  watch(watcher: JournalWatcher): void;
  snapshot(): number;
  close(): void;
}

const RECONNECT_MS = 100;

class PostgresLogState {
  readonly args: PostgresLogArgs;
  readonly queue: BatchQueue;
  readonly snapshots: SnapshotMaker;
  sql: Sql;
  epoch: number;
  watcher: JournalWatcher | undefined = undefined;
  closing: LaterReply<void> | undefined = undefined;
  snapshotReplies: LaterReply<number>[] = [];
  bytesSinceSnapshot = 0;
  /** The first position without a partition. */
  partitionsEnd: number;
  failedSnapshots = 0;
  ended = false;

  constructor(args: PostgresLogArgs) {
    this.args = args;
    this.sql = args.sql;
    this.epoch = args.head.epoch;
    this.queue = new BatchQueue(args.head.lsn);
    this.snapshots = new SnapshotMaker(args.database);
    // The opening has made the partitions of the present and of the next positions.
    this.partitionsEnd = (Math.floor(args.head.lsn / PARTITION_POSITIONS) + 2) * PARTITION_POSITIONS;
  }

  get hold(): LeaseHold {
    return this.args.hold;
  }
}

type LogContext = ProtocolContext<PostgresLogProtocol, PostgresLogState>;

/**
 * The log as an actor. Promises of the client library never change its state: their outcomes are messages.
 * A leader whose lease ends, or whose epoch is another's, is told so, and every later append fails.
 */
export const PostgresLogActor: Actor<PostgresLogProtocol, PostgresLogArgs> =
  defineActor.of<PostgresLogProtocol>()('postgres-log', {
    state: (args: PostgresLogArgs) => new PostgresLogState(args),
    handlers: {
      write(ctx, write) {
        const { state } = ctx;
        if (state.hold.lostBy !== undefined)
          return write.to.tell.durable({ error: state.hold.lostBy, firstLsn: 0 });
        state.queue.add(write);
        send(ctx);
      },
      answered(ctx, isCommitted) {
        if (!isCommitted) return lose(ctx, new JournalDeposedError('another leader has taken the log'));
        committed(ctx);
      },
      broken(ctx, error) {
        ctx.log.warn('the connection of the log broke; its epoch is taken anew', { error: error.message });
        reconnect(ctx);
      },
      reconnect,
      reconnected(ctx, { sql, head }) {
        const { state } = ctx;
        state.sql = sql;
        if (head === undefined) return lose(ctx, new JournalDeposedError('another leader has taken the log'));
        resume(ctx, head);
      },
      renew(ctx) {
        renew(ctx);
      },
      renewed(ctx, endsAt) {
        const { state } = ctx;
        if (endsAt === undefined) return lose(ctx, new JournalDeposedError('its lease is another leader’s'));
        state.hold.extend(endsAt);
        scheduleRenewal(ctx);
      },
      snapshotMade(ctx, { lsn, error }) {
        const { state } = ctx;
        state.failedSnapshots = error === undefined ? 0 : state.failedSnapshots + 1;
        if (error !== undefined) ctx.log.warn('a snapshot failed', { error: error.message });
        for (const reply of state.snapshotReplies.splice(0))
          if (error === undefined) reply.reply(lsn);
          else reply.refuse(error);
        report(state);
      },
      watch(ctx, watcher) {
        ctx.state.watcher = watcher;
        report(ctx.state);
      },
      snapshot(ctx) {
        const reply = ctx.later<number>();
        ctx.state.snapshotReplies.push(reply);
        makeSnapshot(ctx);
        return reply;
      },
      close(ctx) {
        const reply = ctx.later<void>();
        ctx.state.closing = reply;
        finish(ctx);
        return reply;
      },
    },
    started(ctx) {
      scheduleRenewal(ctx);
    },
    stopped: (ctx) => release(ctx.state),
    mailbox: { capacity: 16_384 },
  });

/** Sends the next batch, if the server has none. */
function send(ctx: LogContext): void {
  const { state, self } = ctx;
  const batch = state.queue.next();
  if (batch === undefined) return finish(ctx);
  const { sql, epoch } = state;
  addPartitions(state, batch)
    .then(() => appendBatch(sql, epoch, batch))
    .then(
      (isCommitted) => tellIfOpen(ctx, () => self.tell.answered(isCommitted)),
      (error: Error) => tellIfOpen(ctx, () => self.tell.broken(error)),
    );
}

/** Partitions are made one ahead, so that an append seldom waits for one. */
async function addPartitions(state: PostgresLogState, { firstLsn, entries }: WriteBatch): Promise<void> {
  const last = firstLsn + entries.length;
  while (last + PARTITION_POSITIONS / 2 >= state.partitionsEnd) {
    await addPartition(state.sql, state.args.database.schema, state.partitionsEnd);
    state.partitionsEnd += PARTITION_POSITIONS;
  }
}

function committed(ctx: LogContext): void {
  const { state } = ctx;
  for (const { length } of state.queue.sent?.entries ?? []) state.bytesSinceSnapshot += length;
  state.queue.committed();
  if (state.bytesSinceSnapshot >= state.args.snapshotBytes) makeSnapshot(ctx);
  send(ctx);
}

/**
 * On a new connection the leader takes a new epoch. The statement waits for the lock of one that may still be
 * under way, so the outcome of that one is certain afterwards; and its commit is behind it on every standby.
 */
function reconnect(ctx: LogContext): void {
  const { state, self } = ctx;
  if (state.hold.lostBy !== undefined) return;
  const { database } = state.args;
  const { epoch, sql: old } = state;
  void old.end({ timeout: 0 }).catch(() => undefined);
  const sql = connect(database);
  takeOverFrom(sql, epoch).then(
    (head) => tellIfOpen(ctx, () => self.tell.reconnected({ sql, head })),
    () => {
      void sql.end({ timeout: 0 }).catch(() => undefined);
      tellIfOpen(ctx, () => void ctx.after(RECONNECT_MS, self, { key: 'reconnect' }).reconnect());
    },
  );
}

/** The batch that was at the server is in the log, or it is sent again. */
function resume(ctx: LogContext, head: LogHead): void {
  const { state } = ctx;
  const { queue, args } = state;
  try {
    assertNotShorter(head, queue.lsn);
  } catch (error) {
    return lose(ctx, error as Error); // assertNotShorter throws nothing else
  }
  const before = state.epoch;
  state.epoch = head.epoch;
  moveLease(args.leaseSql, before, head.epoch, args.leaseMs).catch((error: Error) =>
    ctx.log.warn('the lease could not be moved', { error: error.message }),
  );
  const { sent } = queue;
  if (sent === undefined) return send(ctx);
  if (head.lsn >= sent.firstLsn) return committed(ctx);
  sendAgain(ctx, sent);
}

function sendAgain(ctx: LogContext, batch: WriteBatch): void {
  const { self, state } = ctx;
  appendBatch(state.sql, state.epoch, batch).then(
    (isCommitted) => tellIfOpen(ctx, () => self.tell.answered(isCommitted)),
    (error: Error) => tellIfOpen(ctx, () => self.tell.broken(error)),
  );
}

function scheduleRenewal(ctx: LogContext): void {
  ctx.after(ctx.state.args.leaseMs / 4, ctx.self, { key: 'renew' }).renew();
}

/** The end is counted from before the request: the leader never believes in a lease that has ended. */
function renew(ctx: LogContext): void {
  const { state, self } = ctx;
  const { leaseSql, leaseMs, host } = state.args;
  if (state.hold.lostBy !== undefined) return;
  if (!state.hold.isHeld) return lose(ctx, new JournalDeposedError('its lease could not be renewed in time'));
  const requestedAt = host.now();
  renewLease(leaseSql, state.epoch, leaseMs).then(
    (isRenewed) => tellIfOpen(ctx, () => self.tell.renewed(isRenewed ? requestedAt + leaseMs : undefined)),
    () => tellIfOpen(ctx, () => scheduleRenewal(ctx)),
  );
}

/** Nothing more is written; the leader learns why. */
function lose(ctx: LogContext, error: Error): void {
  const { state } = ctx;
  if (state.hold.lostBy !== undefined) return;
  state.hold.lostBy = error;
  state.queue.failed(error);
  state.watcher?.tell.logLost(error);
  finish(ctx);
}

function makeSnapshot(ctx: LogContext): void {
  const { state, self } = ctx;
  state.bytesSinceSnapshot = 0;
  state.snapshots.make(state.epoch).then(
    (lsn) => tellIfOpen(ctx, () => self.tell.snapshotMade({ lsn, error: undefined })),
    (error: Error) => tellIfOpen(ctx, () => self.tell.snapshotMade({ lsn: 0, error })),
  );
}

function report({ watcher, failedSnapshots }: PostgresLogState): void {
  watcher?.tell.logChanged({ disk: 'ok', sealedBytes: 0, cutBytes: 0, failedSnapshots });
}

/** Closes once every write is answered. */
function finish(ctx: LogContext): void {
  const { state } = ctx;
  const { closing } = state;
  if (closing === undefined || !state.queue.isIdle) return;
  state.closing = undefined;
  const ending =
    state.hold.lostBy === undefined ? endLease(state.args.leaseSql, state.epoch) : Promise.resolve();
  ending
    .catch(() => undefined) // it ends by itself
    .then(() => release(state))
    .then(
      () => closing.reply(),
      (error: Error) => closing.refuse(error),
    );
}

async function release(state: PostgresLogState): Promise<void> {
  if (state.ended) return;
  state.ended = true;
  state.watcher = undefined;
  const { sql, args, snapshots } = state;
  await snapshots.close();
  await Promise.all([sql.end({ timeout: 1 }), args.leaseSql.end({ timeout: 1 })]);
}

/** Answers of the server may come after the end of the actor. */
function tellIfOpen({ state }: LogContext, tell: () => void): void {
  if (!state.ended) tell();
}
