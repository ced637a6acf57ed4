import { PostgresServer } from '@troupe/postgres/testing';
import postgres from 'postgres';

const SETTINGS = { synchronous_standby_names: 'ANY 1 (*)', synchronous_commit: 'on', wal_keep_size: '256MB' };
const CONNECT_MS = 100;

/** A primary and one synchronous standby on private folders: a commit is answered when both have it. */
export class DatabaseServers implements AsyncDisposable {
  readonly primary: PostgresServer;
  private readonly standby: PostgresServer;

  private constructor(primary: PostgresServer, standby: PostgresServer) {
    this.primary = primary;
    this.standby = standby;
  }

  static async start(): Promise<DatabaseServers> {
    const primary = await PostgresServer.start(SETTINGS);
    const servers = new DatabaseServers(primary, await primary.startStandby());
    await servers.isReplicated();
    return servers;
  }

  get url(): string {
    return this.primary.url;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The standby first: a primary that ends waits for it.
    await this.standby[Symbol.asyncDispose]();
    await this.primary[Symbol.asyncDispose]();
  }

  /** Peers connect as `postgres`. */
  private async isReplicated(): Promise<void> {
    const sql = postgres(this.url, { max: 1 });
    for (;;) {
      const synchronous = await sql`select from pg_stat_replication where sync_state in ('sync', 'quorum')`;
      if (synchronous.length > 0) break;
      await new Promise((resolve) => setTimeout(resolve, CONNECT_MS));
    }
    await sql`create role postgres superuser login`;
    await sql.end();
  }
}
