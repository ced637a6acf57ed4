import {
  type Actor,
  defineActor,
  type Host,
  type LaterReply,
  type ProtocolContext,
  type Ref,
} from '@troupe/core';
import {
  type DurabilityLevel,
  JournalDeposedError,
  type JournalWatcher,
  type LogCondition,
} from '@troupe/jobs/journal';
import type { Sql } from 'postgres';
import type { TakenRows } from '../outbox/taken-rows.js';
import { PostgresLogShortError, PostgresUnsafeError } from '../postgres-error.js';
import { assertDurable } from '../schema/durability.js';
import { addPartition, PARTITION_POSITIONS } from '../schema/migrations.js';
import { SnapshotMaker } from '../snapshots/snapshot-maker.js';
import { BatchQueue, type WaitingWrite, type WriteBatch } from './batch-queue.js';
import type { KeptConnection } from './kept-connection.js';
import { LeaseActor, type LeaseProtocol } from './lease-actor.js';
import type { LeaseHold } from './lease-hold.js';
import { appendBatch, type DatabaseOptions, type LogHead, takeOverAgain } from './log-database.js';

export interface PostgresLogArgs {
  readonly database: DatabaseOptions;
  /** By which the log was opened: its next statement is an append. */
  readonly connection: KeptConnection;
  readonly leaseConnection: KeptConnection;
  readonly head: LogHead;
  readonly leaseId: number;
  readonly leaseMs: number;
  readonly hold: LeaseHold;
  /** Of the receipts. */
  readonly level: DurabilityLevel;
  readonly snapshotBytes: number;
  readonly rows: TakenRows;
  readonly host: Host;
}

/** The messages of the log: of its leader, of the server's answers, and of its own timers. */
export interface PostgresLogProtocol {
  write(write: WaitingWrite): void;
  /** Answer of the server to the batch that it had; false: it was not appended. */
  answered(isCommitted: boolean): void;
  /** The connection broke while the server had a batch, whose outcome is unknown. */
  broken(error: Error): void;
  /** Nothing was appended since a connection broke, for many lengths of a lease. `reason`: how it broke. */
  slow(reason: string): void;
  /** The connection of the appends is new, with a new epoch; undefined: another leader has taken over. */
  reconnected(head: LogHead | undefined): void;
  reconnect(): void;
  /** The connection ended, perhaps while nothing was at the server: the next server may be another one. */
  closed(): void;
  /** A batch has been at the server for as long as a lease lasts. */
  overdue(batch: WriteBatch): void;
  /** Nothing more can be appended by this leader. */
  lost(error: Error): void;
  snapshotMade(made: { readonly lsn: number; readonly error: Error | undefined }): void;
  watch(watcher: JournalWatcher): void;
  snapshot(): number;
  close(): void;
}

const RECONNECT_MS = 100;
const END_WITHIN_MS = 1_000;
/** Without an append for so many lengths of a lease new work is refused: 30 seconds by default. */
const SLOW_LEASES = 30;
const DISK_FULL = '53100';

class PostgresLogState {
  readonly args: PostgresLogArgs;
  readonly queue: BatchQueue;
  readonly snapshots: SnapshotMaker;
  /** Of the present epoch. The next one of the connection may be of another server. */
  sql: Sql;
  epoch: number;
  /** A batch at the server has an unknown outcome. */
  reconnecting = false;
  lease: Ref<LeaseProtocol> | undefined = undefined;
  watcher: JournalWatcher | undefined = undefined;
  closing: LaterReply<void> | undefined = undefined;
  snapshotReplies: LaterReply<number>[] = [];
  bytesSinceSnapshot = 0;
  /** The first position without a partition. */
  partitionsEnd: number;
  failedSnapshots = 0;
  /** The connection broke, and nothing was appended since. */
  isBroken = false;
  disk: LogCondition['disk'] = 'ok';
  /** Why the disk is not `ok`. */
  reason: string | undefined = undefined;
  ended = false;

  constructor(args: PostgresLogArgs) {
    this.args = args;
    this.sql = args.connection.sql;
    this.epoch = args.head.epoch;
    this.queue = new BatchQueue(args.head.lsn, args.rows);
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
        sendNext(ctx);
      },
      answered(ctx, isCommitted) {
        // Another leader has the log, or the server is one without the end of it.
        if (!isCommitted) return reconnect(ctx);
        committed(ctx);
      },
      broken(ctx, error) {
        if (!isDiskFull(error)) return brokenOff(ctx, error.message);
        ctx.state.reconnecting = true;
        retry(ctx, error);
      },
      slow({ state }, reason) {
        if (!state.isBroken || state.disk !== 'ok') return;
        state.disk = 'slow';
        state.reason = `PostgreSQL has appended nothing for ${SLOW_LEASES * state.args.leaseMs} ms: ${reason}`;
        report(state);
      },
      reconnect,
      closed(ctx) {
        if (!ctx.state.reconnecting) brokenOff(ctx, 'closed');
      },
      reconnected(ctx, head) {
        if (head === undefined) return lose(ctx, new JournalDeposedError('another leader has taken the log'));
        resume(ctx, head);
      },
      overdue(ctx, batch) {
        // A connection whose peer is gone without a word gives no error.
        if (ctx.state.queue.sent === batch && !ctx.state.reconnecting) brokenOff(ctx, 'no answer in time');
      },
      lost: lose,
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
      const { connection, leaseConnection, leaseId, leaseMs, hold, host } = ctx.state.args;
      connection.onBroken = () => tellIfOpen(ctx, () => ctx.self.tell.closed());
      const args = { connection: leaseConnection, leaseId, leaseMs, hold, host, log: ctx.self };
      ctx.state.lease = ctx.spawn(LeaseActor, { args, name: 'lease' });
    },
    stopped: (ctx) => release(ctx.state),
    mailbox: { capacity: 16_384 },
  });

/** Sends the next batch, if the server has none. */
function sendNext(ctx: LogContext): void {
  const batch = ctx.state.queue.next();
  if (batch === undefined) return finish(ctx);
  sendBatch(ctx, batch);
}

function sendBatch(ctx: LogContext, batch: WriteBatch): void {
  const { state, self } = ctx;
  const { sql, epoch } = state;
  // Answers of a connection that was given up are not heard: its outcome is found on the next one.
  const isPresent = (): boolean => !state.ended && state.sql === sql && !state.reconnecting;
  ctx.after(state.args.leaseMs, self, { key: 'overdue' }).overdue(batch);
  addPartitions(state, batch)
    .then(() => appendBatch(sql, epoch, batch))
    .then(
      (isCommitted) => {
        if (isPresent()) self.tell.answered(isCommitted);
      },
      (error: Error) => {
        if (isPresent()) self.tell.broken(error);
      },
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
  recovered(state);
  if (state.bytesSinceSnapshot >= state.args.snapshotBytes) makeSnapshot(ctx);
  sendNext(ctx);
}

/** Where the disk of the server is full, it answers at once: another try waits, and so does new work. */
function retry(ctx: LogContext, error: Error): void {
  if (isDiskFull(error)) diskFull(ctx, error.message);
  ctx.after(RECONNECT_MS, ctx.self, { key: 'reconnect' }).reconnect();
}

function diskFull({ state, log }: LogContext, reason: string): void {
  if (state.disk === 'low') return;
  log.warn('the disk of PostgreSQL is full', { error: reason });
  state.disk = 'low';
  state.reason = reason;
  report(state);
}

function isDiskFull(error: Error): boolean {
  return (error as { readonly code?: unknown }).code === DISK_FULL;
}

/** The log has what was at the server, or nothing is. */
function recovered(state: PostgresLogState): void {
  state.isBroken = false;
  if (state.disk === 'ok') return;
  state.disk = 'ok';
  state.reason = undefined;
  report(state);
}

function brokenOff(ctx: LogContext, error: string): void {
  const { state, self } = ctx;
  ctx.log.warn('the connection of the log broke; its epoch is taken anew', { error });
  if (!state.isBroken) ctx.after(SLOW_LEASES * state.args.leaseMs, self, { key: 'slow' }).slow(error);
  state.isBroken = true;
  reconnect(ctx);
}

/**
 * On a new connection the leader takes a new epoch. The statement waits for the lock of one that may still be
 * under way, so the outcome of that one is certain afterwards; and its commit is behind it on every standby.
 * It has no time limit: a leader that waits for longer than its lease lasts steps down by that.
 */
function reconnect(ctx: LogContext): void {
  const { state, self } = ctx;
  if (state.hold.lostBy !== undefined) return;
  const { connection, leaseId, level } = state.args;
  state.reconnecting = true;
  connection.replace();
  const { sql } = connection;
  state.sql = sql;
  const reached = takeOverAgain(sql, leaseId, state.queue.lsn).then(async (head) => {
    if (head !== undefined) await assertDurable(sql, level);
    return head;
  });
  reached.then(
    (head) => {
      if (!state.ended) self.tell.reconnected(head);
    },
    (error: Error) => {
      if (state.ended) return;
      if (isFinal(error)) self.tell.lost(error);
      else retry(ctx, error);
    },
  );
}

/** Another try would find the same server. */
function isFinal(error: Error): boolean {
  return error instanceof PostgresLogShortError || error instanceof PostgresUnsafeError;
}

/** The batch that was at the server is in the log, or it is sent again. */
function resume(ctx: LogContext, head: LogHead): void {
  const { state } = ctx;
  const { queue } = state;
  state.epoch = head.epoch;
  state.reconnecting = false;
  const { sent } = queue;
  if (sent === undefined) {
    recovered(state);
    return sendNext(ctx);
  }
  if (head.lsn >= sent.firstLsn) return committed(ctx);
  sendBatch(ctx, sent);
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

function report({ watcher, disk, reason, failedSnapshots }: PostgresLogState): void {
  watcher?.tell.logChanged({ disk, reason, sealedBytes: 0, cutBytes: 0, failedSnapshots });
}

/** Closes once every write is answered. */
function finish(ctx: LogContext): void {
  const { state } = ctx;
  const { closing, lease } = state;
  if (closing === undefined || !state.queue.isIdle) return;
  state.closing = undefined;
  const isHeld = state.hold.lostBy === undefined && lease !== undefined;
  const ending = isHeld ? ctx.ask(lease, { withinMs: END_WITHIN_MS }).end() : Promise.resolve();
  ending
    .catch(() => undefined) // the lease ends by itself
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
  await state.snapshots.close();
  await state.args.connection.end();
}

/** Answers of the server may come after the end of the actor. */
function tellIfOpen({ state }: LogContext, tell: () => void): void {
  if (!state.ended) tell();
}
