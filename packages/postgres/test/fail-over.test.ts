// timeout: 120s, needs: postgresql
// Another server in the place of the one before: found among several hosts, and refused where it lacks records.
import { connectClient, defineJob, type LeaderServer, startLeader } from '@troupe/jobs';
import { postgresJournal } from '@troupe/postgres';
import { PostgresServer } from '@troupe/postgres/testing';
import postgres from 'postgres';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { anything } from './plain-schema.js';

const failOvers = suite('fail-over of PostgreSQL');
const Echo = defineJob('sample.echo', { input: anything, output: anything });

/** Longer than the servers of a test need. */
const LEASE_MS = 30_000;

interface FailingLeader {
  readonly leader: LeaderServer;
  /** The error by which it ends. */
  readonly fatal: Promise<Error>;
}

async function lead(url: string, leaseMs = LEASE_MS): Promise<FailingLeader> {
  let end: (error: Error) => void = () => undefined;
  const fatal = new Promise<Error>((resolve) => {
    end = resolve;
  });
  const journal = postgresJournal({ url, leaseMs });
  return { leader: await startLeader({ journal, onFatal: end }), fatal };
}

/** As a server has it that was promoted without the last batch: its connections are new ones. */
async function loseLastBatch(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  await sql.begin(async (tx) => {
    await tx`update troupe.head set lsn = (select max(lsn) - 1 from troupe.batch)`;
    await tx`delete from troupe.batch where lsn = (select max(lsn) from troupe.batch)`;
  });
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'troupe'`;
  await sql.end();
}

failOvers('the primary is found among several hosts, also after the promotion of another one', async () => {
  await using primary = await PostgresServer.start();
  await using standby = await primary.startStandby();
  const hosts = [standby, primary].map(({ port }) => `127.0.0.1:${port}`).join(',');
  const { leader, fatal } = await lead(`postgres://troupe@${hosts}/postgres?target_session_attrs=read-write`);
  await using client = await connectClient({ address: leader.address, name: 'c' });
  const before = await client.submit(Echo, 1);
  await hasEverything(standby, primary);
  await primary.kill();
  await standby.promote();
  const after = await Promise.race([client.submit(Echo, 2), fatal]);
  assert.not.instance(after, Error);
  assert.is((await client.overview()).accepted, 2);
  assert.ok(before.id !== '');
  await leader.close();
});

failOvers('a standby outlives the time in which no host of several is a primary', async () => {
  await using primary = await PostgresServer.start();
  await using other = await primary.startStandby();
  const hosts = [other, primary].map(({ port }) => `127.0.0.1:${port}`).join(',');
  const url = `postgres://troupe@${hosts}/postgres`;
  const { leader } = await lead(url, 3_000);
  let followed: () => void = () => undefined;
  const isFollowed = new Promise<void>((resolve) => {
    followed = resolve;
  });
  const journal = postgresJournal({ url, standby: true, onStandby: () => followed() });
  const taking = startLeader({ journal, onFatal: () => undefined });
  await isFollowed;
  await hasEverything(other, primary);
  await primary.kill();
  await leader.close().catch(() => undefined); // its log is away
  await new Promise((resolve) => setTimeout(resolve, 500));
  await other.promote();
  await using next = await taking;
  await using client = await connectClient({ address: next.address, name: 'c' });
  await client.submit(Echo, 1);
});

failOvers('a leader ends where a record that it acknowledged is not in the log any more', async () => {
  await using server = await PostgresServer.start();
  const { leader, fatal } = await lead(server.url);
  await using client = await connectClient({ address: leader.address, name: 'c' });
  await client.submit(Echo, 1);
  await loseLastBatch(server.url);
  // An append that was waiting fails with it; without one it is the error itself.
  const error = await fatal;
  assert.is(((error.cause ?? error) as { code?: string }).code, 'ERR_POSTGRES_LOG_SHORT');
  await leader.close();
});

failOvers('a standby refuses a log that ends before what it has read', async () => {
  await using server = await PostgresServer.start();
  const { leader } = await lead(server.url);
  await using client = await connectClient({ address: leader.address, name: 'c' });
  await client.submit(Echo, 1);
  let followed: () => void = () => undefined;
  const isFollowed = new Promise<void>((resolve) => {
    followed = resolve;
  });
  const journal = postgresJournal({ url: server.url, standby: true, onStandby: () => followed() });
  const refused = startLeader({ journal, onFatal: () => undefined }).then(
    () => undefined,
    (error: { code?: string }) => error.code,
  );
  await isFollowed;
  await loseLastBatch(server.url);
  assert.is(await refused, 'ERR_POSTGRES_LOG_SHORT');
  await leader.close().catch(() => undefined); // it has ended by the same error
});

/** A standby that is promoted then lacks nothing. */
async function hasEverything(standby: PostgresServer, primary: PostgresServer): Promise<void> {
  const [from, to] = [standby, primary].map(({ url }) => postgres(url, { max: 1 })) as [
    postgres.Sql,
    postgres.Sql,
  ];
  const [end] = await to`select pg_current_wal_lsn()::text as lsn`;
  for (;;) {
    const [row] = await from`
      select pg_last_wal_replay_lsn() >= ${end?.['lsn'] as string}::pg_lsn as there`;
    if (row?.['there'] === true) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await Promise.all([from.end(), to.end()]);
}

failOvers.run();
