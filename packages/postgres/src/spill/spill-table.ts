import type { Host } from '@troupe/core';
import type { JournalOwner, OpenSpill, Spill } from '@troupe/jobs/journal';
import { KeptConnection } from '../log/kept-connection.js';
import { arrayLiteral, type DatabaseOptions } from '../log/log-database.js';
import { SpillTableActor } from './spill-table-actor.js';

/**
 * Chunks of streams in the database of the log: the leader that takes over has them. A file is the rows of
 * one number, a write one row.
 */
export class SpillTable {
  private readonly database: DatabaseOptions;
  private readonly host: Host;
  /** Of the lease under which the journal was opened last. */
  private leaseId = 0;

  constructor(database: DatabaseOptions, host: Host) {
    this.database = database;
    this.host = host;
  }

  ledBy(leaseId: number): void {
    this.leaseId = leaseId;
  }

  readonly open: OpenSpill = (named, found, done, owner) => {
    this.read(named, found).then(
      () => done(null, this.spawn(owner)),
      (error: Error) => done(error),
    );
  };

  private spawn(owner: JournalOwner): Spill {
    const { database, leaseId, host } = this;
    const ref = owner.spawn(SpillTableActor, { args: { database, leaseId, host }, name: 'spill' });
    return {
      write: (write) => ref.tell.write(write),
      read: (read) => ref.tell.read(read),
      remove: (files) => ref.tell.remove(files),
    };
  }

  private async read(
    named: ReadonlySet<number>,
    found: (file: number, bytes: Uint8Array) => void,
  ): Promise<void> {
    const connection = new KeptConnection(this.database);
    try {
      await connection.sql`delete from spill where file <> all (${arrayLiteral(named)}::bigint[])`;
      const files = await connection.sql<{ file: number }[]>`select distinct file from spill order by file`;
      for (const { file } of files) {
        const rows = await connection.sql<{ bytes: Buffer }[]>`
          select bytes from spill where file = ${file} order by position`;
        found(file, Buffer.concat(rows.map(({ bytes }) => bytes)));
      }
    } finally {
      await connection.end();
    }
  }
}
