// timeout: 120s, needs: postgresql
import { type JournalPlace, journalConformance } from '@troupe/jobs/testing';
import { postgresJournal } from '@troupe/postgres';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { PostgresServer } from './postgres-server.js';

const journals = suite('log in PostgreSQL');
const server = PostgresServer.start({ fsync: 'on' });
let schemas = 0;

/** A schema of its own: a new log. */
async function place(): Promise<JournalPlace> {
  const { url } = await server;
  schemas += 1;
  const schema = `log_${schemas}`;
  return {
    open: () => postgresJournal({ url, schema }),
    fences: true,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

for (const { title, run } of journalConformance(place)) journals(title, run);

journals('the server of the tests ends', async () => {
  await (await server)[Symbol.asyncDispose]();
  assert.ok(schemas > 0);
});

journals.run();
