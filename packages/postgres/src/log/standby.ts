import type { Sql } from 'postgres';
import { type LeaderName, type LeaseView, leaseOf, takeOver } from './lease.js';
import type { LogHead } from './log-database.js';
import { type LogVisitor, readEntries } from './read-log.js';

/** The delay until entries of the leader are read, and until the end of its lease is seen. */
const POLL_MS = 50;

export interface StandbySettings {
  readonly name: LeaderName;
  readonly leaseMs: number;
  /** Called when the leader that it follows is another one. */
  readonly onStandby: (lease: LeaseView) => void;
}

/**
 * Reads the log as it grows, without leading, until its lease is free; then takes it over. `after`: the
 * position of the snapshot that was read. Resolves with the head, and with the position that was read.
 */
export async function followUntilFree(
  sql: Sql,
  after: number,
  visitor: LogVisitor,
  { name, leaseMs, onStandby }: StandbySettings,
): Promise<{ readonly head: LogHead; readonly read: number }> {
  let read = after;
  let epoch = 0;
  for (;;) {
    const [head] = await sql<{ lsn: number }[]>`select lsn from head`;
    read = await readEntries(sql, read, head?.lsn ?? 0, visitor);
    const lease = await leaseOf(sql);
    if (lease.leftMs <= 0) {
      const taken = await takeOver(sql, name, leaseMs, { onlyIfFree: true });
      if (taken !== undefined) return { head: taken, read };
    } else if (lease.epoch !== epoch) {
      epoch = lease.epoch;
      onStandby(lease);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
