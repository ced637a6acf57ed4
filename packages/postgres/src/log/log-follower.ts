import type { Host } from '@troupe/core';
import type { Sql } from 'postgres';
import type { KeptConnection } from './kept-connection.js';
import { type LeaseRequest, type LeaseView, leaseOf, takeOver } from './lease.js';
import { assertNotShorter, headOf, type LogHead } from './log-database.js';
import { assertSameTail, type LogTail, type LogVisitor, readEntries } from './read-log.js';
import { isTransient } from './transient-error.js';

/** The delay until entries of the leader are read, and until the end of its lease is seen. */
const POLL_MS = 25;

/** Before a schema has had a leader its lease has this number, too. */
const NO_LEASE = 0;

/** The log, taken over, and the last batch that was read of it. */
export interface FollowedLog {
  readonly head: LogHead;
  readonly tail: LogTail;
  /** The time of this process before its lease was requested. */
  readonly takenAt: number;
}

/**
 * Reads the log as it grows, without leading, until its lease is free; then takes it over. Outlives the end
 * of its connection: a server that comes back, or another one in its place, must have everything that was
 * read.
 */
export class LogFollower {
  private readonly connection: KeptConnection;
  private readonly visitor: LogVisitor;
  private readonly request: LeaseRequest;
  /** Called when the leader that it follows is another one; undefined: that one has ended. */
  private readonly onStandby: (lease: LeaseView | undefined) => void;
  private readonly clock: Pick<Host, 'now' | 'setTimer'>;
  private tail: LogTail;
  private leaseId = NO_LEASE;
  /** The server may be another one than before. */
  private isUnsure = false;

  /** `after`: the position of the snapshot that was read. */
  constructor(
    connection: KeptConnection,
    after: number,
    visitor: LogVisitor,
    request: LeaseRequest,
    onStandby: (lease: LeaseView | undefined) => void,
    clock: Pick<Host, 'now' | 'setTimer'>,
  ) {
    this.connection = connection;
    this.visitor = visitor;
    this.request = request;
    this.onStandby = onStandby;
    this.clock = clock;
    this.tail = { lsn: after, batch: undefined };
  }

  async untilFree(): Promise<FollowedLog> {
    for (;;) {
      const followed = await this.look().catch((error: unknown) => {
        if (!isTransient(error)) throw error;
        this.isUnsure = true;
        return undefined;
      });
      if (followed !== undefined) return followed;
      await new Promise<void>((resolve) => this.clock.setTimer(POLL_MS, resolve));
    }
  }

  /** Undefined: another one leads. */
  private async look(): Promise<FollowedLog | undefined> {
    const { sql } = this.connection;
    const head = await headOf(sql);
    assertNotShorter(head, this.tail.lsn);
    if (this.isUnsure) await assertSameTail(sql, this.tail);
    this.isUnsure = false;
    await readEntries(sql, head.lsn, this.visitor, this.tail);
    const lease = await leaseOf(sql);
    if (lease.leftMs <= 0) return this.takeOver(sql);
    if (lease.id !== this.leaseId) this.onStandby(lease);
    this.leaseId = lease.id;
    return undefined;
  }

  /** From now on peers are not sent to the leader that has ended, unless it has its lease again. */
  private async takeOver(sql: Sql): Promise<FollowedLog | undefined> {
    this.leaseId = NO_LEASE;
    this.onStandby(undefined);
    const takenAt = this.clock.now();
    const head = await takeOver(sql, this.request, { onlyIfFree: true });
    return head === undefined ? undefined : { head, tail: this.tail, takenAt };
  }
}
