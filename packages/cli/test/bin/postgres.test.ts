// timeout: 120s, needs: postgresql
import { join } from 'node:path';
import { freePort, PostgresServer } from '@troupe/postgres/testing';
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

postgres('a standby names the leader to its peers, and `check` looks at each address', async () => {
  await using server = await PostgresServer.start();
  const leading = `127.0.0.1:${await freePort()}`;
  const standing = `127.0.0.1:${await freePort()}`;
  const vacant = `127.0.0.1:${await freePort()}`;
  const words = (address: string): string[] => [
    'leader',
    '--port',
    address.split(':')[1] as string,
    '--postgres',
    server.url,
  ];
  await using first = new Running(words(leading));
  await first.first;
  await using second = new Running(words(standing));
  await second.said(/"kind":"standby"/);
  const submitted = await inProcess(['submit', 'math.add', '[1,2]', '--leader', standing]);
  assert.is(submitted.code, 0, submitted.err);
  const both = await inProcess(['check', '--leader', `${leading},${standing}`]);
  assert.is(both.code, 0, both.out);
  assert.match(both.out, `${leading} leads\n${standing} stands by\n`);
  const three = await inProcess(['check', '--leader', `${leading},${vacant}`, '--connect-within', '500ms']);
  assert.is(three.code, 75);
  assert.match(three.out, `no leader and no standby at ${vacant}`);
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
