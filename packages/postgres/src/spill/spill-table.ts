import type { Host } from '@troupe/core';
import type { JournalOwner, OpenSpill, Spill } from '@troupe/jobs/journal';
import type { Sql } from 'postgres';
import type { KeptConnection } from '../log/kept-connection.js';
import { arrayLiteral, type DatabaseOptions } from '../log/log-database.js';
import { SpillTableActor } from './spill-table-actor.js';

/** The lease under which the journal was opened last, and the connection by which it was. */
interface LedBy {
  readonly leaseId: number;
  readonly connection: KeptConnection;
}

/**
 * Chunks of streams in the database of the log: the leader that takes over has them. A file is the rows of
 * one number, a write one row.
 */
export class SpillTable {
  private readonly database: DatabaseOptions;
  private readonly host: Host;
  private led: LedBy | undefined = undefined;

  constructor(database: DatabaseOptions, host: Host) {
    this.database = database;
    this.host = host;
  }

  ledBy(leaseId: number, connection: KeptConnection): void {
    this.led = { leaseId, connection };
  }

  readonly open: OpenSpill = (named, found, done, owner) => {
    // A leader opens its journal first.
    const { leaseId, connection } = this.led as LedBy;
    readFiles(connection.sql, named, found).then(
      () => done(null, this.spawn(leaseId, owner)),
      (error: Error) => done(error),
    );
  };

  private spawn(leaseId: number, owner: JournalOwner): Spill {
    const { database, host } = this;
    const ref = owner.spawn(SpillTableActor, { args: { database, leaseId, host }, name: 'spill' });
    return {
      write: (write) => ref.tell.write(write),
      read: (read) => ref.tell.read(read),
      remove: (files) => ref.tell.remove(files),
    };
  }
}

async function readFiles(
  sql: Sql,
  named: ReadonlySet<number>,
  found: (file: number, bytes: Uint8Array) => void,
): Promise<void> {
  await sql`delete from spill where file <> all (${arrayLiteral(named)}::bigint[])`;
  const files = await sql<{ file: number }[]>`select distinct file from spill order by file`;
  for (const { file } of files) {
    const rows = await sql<{ bytes: Buffer }[]>`
      select bytes from spill where file = ${file} order by position`;
    found(file, Buffer.concat(rows.map(({ bytes }) => bytes)));
  }
}
