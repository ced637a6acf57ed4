import type { Sql } from 'postgres';
import type { LogHead } from './log-database.js';

/** A leader as its lease names it. */
export interface LeaderName {
  /** For people. */
  readonly leader: string;
  /** Where clients and workers find it; a standby gives them as a hint. */
  readonly addresses: string;
}

export interface LeaseView extends LeaderName {
  /** A random number, also in `head` while its leader leads. */
  readonly id: number;
  /** Milliseconds until its end by the clock of the database; 0 and less: it has ended. */
  readonly leftMs: number;
}

export interface LeaseRequest {
  readonly name: LeaderName;
  readonly leaseId: number;
  readonly leaseMs: number;
}

export async function leaseOf(sql: Sql): Promise<LeaseView> {
  const [lease] = await sql<LeaseView[]>`
    select id, leader, addresses,
      case when ends_at = '-infinity' then 0
        else extract(epoch from ends_at - clock_timestamp())::float8 * 1000 end as "leftMs"
    from lease`;
  return lease as LeaseView; // the migration has inserted the row
}

/**
 * Written with the new epoch, in one transaction: from its commit on others leave the log alone. Undefined:
 * with `onlyIfFree`, another leader has the lease.
 */
export async function takeOver(
  sql: Sql,
  { name, leaseId, leaseMs }: LeaseRequest,
  { onlyIfFree }: { readonly onlyIfFree: boolean },
): Promise<LogHead | undefined> {
  return sql.begin(async (tx) => {
    // Of two standbys that see the end of a lease the second waits here, and finds a new one.
    const [lease] = await tx<{ isFree: boolean }[]>`
      select ends_at <= clock_timestamp() as "isFree" from lease for update`;
    if (onlyIfFree && lease?.isFree !== true) return undefined;
    const [taken] = await tx<LogHead[]>`
      update head set epoch = epoch + 1, lease = ${leaseId} returning epoch, lsn`;
    await tx`
      update lease set id = ${leaseId}, leader = ${name.leader}, addresses = ${name.addresses},
        ends_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond'`;
    return taken;
  });
}

/** False: another leader has the lease. */
export async function renewLease(sql: Sql, id: number, leaseMs: number): Promise<boolean> {
  const renewed = await sql`
    update lease set ends_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond' where id = ${id}`;
  return renewed.count === 1;
}

/** A leader that ends on purpose: the next one need not wait. */
export async function endLease(sql: Sql, id: number): Promise<void> {
  await sql`update lease set ends_at = '-infinity' where id = ${id}`;
}
