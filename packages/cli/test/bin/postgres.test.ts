// timeout: 120s, needs: postgresql
import { join } from 'node:path';
import { PostgresServer } from '@troupe/postgres/testing';
import postgresClient from 'postgres';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { folder, inProcess, Running, workerOf } from './troupe.js';

const postgres = suite('leaders on PostgreSQL by the command');

postgres('one leads, the other stands by and takes over; clients are given both addresses', async () => {
  await using server = await PostgresServer.start();
  const words = ['leader', '--port', '0', '--postgres', server.url, '--schema', 'jobs'];
  await using first = new Running(words);
  const { address } = (await first.first) as { address: string };
  await using second = new Running(words);
  assert.is((await second.first)['kind'], 'standby');
  const id = (await inProcess(['submit', 'math.add', '[1,2]', '--leader', address])).out.trim();
  assert.is(await first.end('SIGTERM'), 0);
  await second.said(/"kind":"ready"/);
  const next = /"address":"([^"]+)"/.exec(second.printed.split('\n')[1] ?? '')?.[1] as string;
  const shown = await inProcess(['show', id, '--leader', `${address},${next}`]);
  assert.match(shown.out, /state +queued/);
});

postgres('a leader on files takes the outbox of a database', async () => {
  await using server = await PostgresServer.start();
  await using f = await folder();
  const words = ['leader', '--port', '0', '--dir', join(f.dir, 'state'), '--outbox', server.url];
  await using leader = new Running(words);
  const { address } = (await leader.first) as { address: string };
  await using worker = await workerOf(address, f.dir);
  assert.ok(worker);
  const sql = postgresClient(server.url, { onnotice: () => undefined });
  // The tables are there once the relay has started.
  for (;;) {
    const [row] = await sql`select to_regproc('troupe.submit') as name`;
    if (row?.['name'] !== null) break;
  }
  await sql`select troupe.submit('math.add', '[1, 2]')`;
  for (;;) {
    const { out } = await inProcess(['ls', '--state', 'done', '--leader', address]);
    if (out.includes('math.add')) break;
  }
  await sql.end();
  assert.is(await leader.end('SIGTERM'), 0);
});

postgres('a database that is not there is one line and exit 69', async () => {
  const url = 'postgres://troupe@127.0.0.1:1/postgres';
  const { code, err } = await inProcess(['leader', '--port', '0', '--postgres', url]);
  assert.is(code, 69);
  assert.match(err, /^troupe: PostgreSQL: cannot be reached \(ECONNREFUSED\).*\n$/);
});

postgres.run();
