import type { Host } from '@troupe/core';
import type { KeptConnection } from './kept-connection.js';
import { type LeaseRequest, type LeaseView, leaseOf, takeOver } from './lease.js';
import { assertNotShorter, headOf, type LogHead } from './log-database.js';
import { assertSameTail, type LogTail, type LogVisitor, readEntries } from './read-log.js';
import { isTransient } from './transient-error.js';

/** The delay until entries of the leader are read, and until the end of its lease is seen. */
const POLL_MS = 25;

/** The log, taken over, and the last batch that was read of it. */
export interface FollowedLog {
  readonly head: LogHead;
  readonly tail: LogTail;
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
  /** Called when the leader that it follows is another one. */
  private readonly onStandby: (lease: LeaseView) => void;
  private readonly clock: Pick<Host, 'setTimer'>;
  private tail: LogTail;
  private leaseId = 0;
  /** The server may be another one than before. */
  private isUnsure = false;

  /** `after`: the position of the snapshot that was read. */
  constructor(
    connection: KeptConnection,
    after: number,
    visitor: LogVisitor,
    request: LeaseRequest,
    onStandby: (lease: LeaseView) => void,
    clock: Pick<Host, 'setTimer'>,
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
      const head = await this.look().catch((error: unknown) => {
        if (!isTransient(error)) throw error;
        this.isUnsure = true;
        return undefined;
      });
      if (head !== undefined) return { head, tail: this.tail };
      await new Promise<void>((resolve) => this.clock.setTimer(POLL_MS, resolve));
    }
  }

  /** Undefined: another one leads. */
  private async look(): Promise<LogHead | undefined> {
    const { sql } = this.connection;
    const head = await headOf(sql);
    assertNotShorter(head, this.tail.lsn);
    if (this.isUnsure) await assertSameTail(sql, this.tail);
    this.isUnsure = false;
    await readEntries(sql, head.lsn, this.visitor, this.tail);
    const lease = await leaseOf(sql);
    if (lease.leftMs <= 0) return takeOver(sql, this.request, { onlyIfFree: true });
    if (lease.id !== this.leaseId) this.onStandby(lease);
    this.leaseId = lease.id;
    return undefined;
  }
}
