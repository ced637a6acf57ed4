import { PostgresServer } from '@troupe/postgres/testing';
import postgres from 'postgres';

const SETTINGS = {
  synchronous_standby_names: 'ANY 1 (*)',
  wal_keep_size: '256MB',
  wal_receiver_timeout: '5s',
};

/** A primary and two standbys, one of which has every acknowledged commit. */
export class ReplicatedServers implements AsyncDisposable {
  /** The primary first. */
  servers: PostgresServer[];

  private constructor(servers: PostgresServer[]) {
    this.servers = servers;
  }

  static async start(): Promise<ReplicatedServers> {
    const primary = await PostgresServer.start(SETTINGS);
    const standbys = [await primary.startStandby(SETTINGS), await primary.startStandby(SETTINGS)];
    return new ReplicatedServers([primary, ...standbys]);
  }

  /** The standby that has received most becomes the primary; new copies of it take the place of the others. */
  async failOver(): Promise<void> {
    const [dead, ...standbys] = this.servers as [PostgresServer, PostgresServer, PostgresServer];
    await dead.kill();
    const received = await Promise.all(standbys.map(receivedBytes));
    const next = (received[0] as number) >= (received[1] as number) ? standbys[0] : standbys[1];
    const other = next === standbys[0] ? standbys[1] : standbys[0];
    await (next as PostgresServer).promote();
    await dead[Symbol.asyncDispose]();
    await (other as PostgresServer)[Symbol.asyncDispose]();
    const primary = next as PostgresServer;
    this.servers = [primary, await primary.startStandby(SETTINGS), await primary.startStandby(SETTINGS)];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Standbys first: a primary that ends waits for them.
    for (const server of [...this.servers].reverse()) await server[Symbol.asyncDispose]();
  }
}

async function receivedBytes({ url }: PostgresServer): Promise<number> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  try {
    const [row] = await sql`select pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')::float8 as bytes`;
    return Number(row?.['bytes']);
  } finally {
    await sql.end({ timeout: 0 });
  }
}
