// timeout: 120s, needs: postgresql
import { type JournalPlace, journalConformance } from '@troupe/jobs/testing';
import { type PostgresLogError, postgresJournal } from '@troupe/postgres';
import { freePort, PostgresServer } from '@troupe/postgres/testing';
import postgres from 'postgres';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AnswerProxy } from './answer-proxy.js';

const journals = suite('log in PostgreSQL');
const starting = PostgresServer.start();
let schemas = 0;

/** A schema of its own: a new log. */
async function place(): Promise<JournalPlace> {
  const { port } = await starting;
  const proxy = await AnswerProxy.before(port);
  schemas += 1;
  const schema = `log_${schemas}`;
  return {
    open: () => postgresJournal({ url: proxy.url, schema }),
    loseNextAnswer: () => proxy.loseNextAnswer(),
    loseNextRequest: () => proxy.loseNextRequest(),
    fences: true,
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}

/** The code of the error with which the opening ends. */
function refusalOf(url: string, schema: string): Promise<string> {
  return new Promise((resolve) => {
    const reader = {
      format: { name: 'troupe-ledger', major: 1, minor: 0, since: '0.1.0' },
      snapshot: () => undefined,
      entry: () => undefined,
    };
    const done = (error: Error | null): void => resolve((error as PostgresLogError | null)?.code ?? 'opened');
    postgresJournal({ url, schema })(reader, done, undefined as never); // the opening ends before it has an actor
  });
}

for (const { title, run } of journalConformance(place)) journals(title, run);

journals('a server whose settings lose commits is refused', async () => {
  await using server = await PostgresServer.start({ fsync: 'off' });
  assert.is(await refusalOf(server.url, 'troupe'), 'ERR_POSTGRES_UNSAFE');
});

journals('a server whose commits would wait for a standby that is not there is told as such', async () => {
  await using server = await PostgresServer.start({ synchronous_standby_names: 'ANY 1 (*)' });
  assert.is(await refusalOf(server.url, 'troupe'), 'ERR_POSTGRES_UNREACHABLE');
});

journals('tables of a newer version are refused', async () => {
  const { url } = await starting;
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  await sql.unsafe(
    'create schema newer; create table newer.version (version integer); insert into newer.version values (99)',
  );
  assert.is(await refusalOf(url, 'newer'), 'ERR_POSTGRES_SCHEMA');
  const tables = await sql`select 1 from pg_tables where schemaname = 'newer'`;
  assert.is(tables.length, 1, 'nothing was changed');
  await sql.end();
});

journals('a server that is not there is told as such', async () => {
  const url = `postgres://troupe@127.0.0.1:${await freePort()}/postgres`;
  assert.is(await refusalOf(url, 'troupe'), 'ERR_POSTGRES_UNREACHABLE');
});

journals('several hosts of which none accepts are told as such, each after one try', async () => {
  const [first, second] = [await freePort(), await freePort()];
  for (const query of ['', '?target_session_attrs=read-write']) {
    const url = `postgres://troupe@127.0.0.1:${first},127.0.0.1:${second}/postgres${query}`;
    assert.is(await refusalOf(url, 'troupe'), 'ERR_POSTGRES_UNREACHABLE');
  }
});

journals('several hosts of which none is a primary are told as such', async () => {
  await using primary = await PostgresServer.start();
  await using standby = await primary.startStandby();
  const url = `postgres://troupe@127.0.0.1:${standby.port},127.0.0.1:${await freePort()}/postgres`;
  assert.is(await refusalOf(url, 'troupe'), 'ERR_POSTGRES_UNREACHABLE');
});

journals('the server of these tests ends', async () => {
  await (await starting)[Symbol.asyncDispose]();
  assert.ok(schemas > 0);
});

journals.run();
