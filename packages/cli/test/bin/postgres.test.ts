// timeout: 120s, needs: postgresql
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, PostgresServer } from '@troupe/postgres/testing';
import postgresClient from 'postgres';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { folder, inProcess, lines, Running, workerOf } from './troupe.js';

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

postgres('a row is one job if the leader is killed before its delete, whatever the key window', async () => {
  await using server = await PostgresServer.start();
  await using f = await folder();
  const config = join(f.dir, 'leader.json');
  await writeFile(config, JSON.stringify({ limits: { keyWindowMs: 1 } }));
  const state = join(f.dir, 'state');
  const words = ['leader', '--port', '0', '--dir', state, '--outbox', server.url, '--config', config];
  const sql = postgresClient(server.url, { max: 2, onnotice: () => undefined });
  const queued = async (leader: Running): Promise<number> => {
    const { out } = await inProcess([
      'ls',
      '--state',
      'queued',
      '--json',
      '--leader',
      String((await leader.first)['address']),
    ]);
    return out.split('\n').filter((line) => line.includes('math.add')).length;
  };
  await using killed = new Running(words);
  await killed.first;
  await until(async () => (await sql`select to_regproc('troupe.submit') as name`)[0]?.['name'] !== null);
  // The relay reads the row, and can neither mark nor delete it: its submit is durable by then.
  let free: () => void = () => undefined;
  let ready: () => void = () => undefined;
  const isLocked = new Promise<void>((resolve) => {
    ready = resolve;
  });
  await sql`create function stop() returns trigger language plpgsql as
    'begin perform pg_advisory_xact_lock(7); return coalesce(new, old); end'`;
  await sql`create trigger stop before update or delete on troupe.outbox for each row execute function stop()`;
  const locked = sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(7)`;
    ready();
    await new Promise<void>((resolve) => {
      free = resolve;
    });
  });
  await isLocked;
  await sql`select troupe.submit('math.add', '[1, 2]', '{"key": "order-7"}')`;
  await until(async () => (await queued(killed)) === 1);
  await killed.end('SIGKILL');
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'troupe'`;
  free();
  await locked;
  assert.is((await sql`select from troupe.outbox where not taken`).length, 1);
  await using next = new Running(words);
  await until(
    async () => (await next.first) !== undefined && (await sql`select from troupe.outbox`).length === 0,
  );
  assert.is(await queued(next), 1);
  assert.is(await next.end('SIGTERM'), 0);
  await sql.end();
});

postgres(
  'groups have leaders of their own: submits and a worker go to each, lists and ids find them',
  async () => {
    await using f = await folder();
    const leaderOf = (name: string): Running =>
      new Running(['leader', '--port', '0', '--dir', join(f.dir, name)]);
    await using math = leaderOf('math');
    await using others = leaderOf('others');
    const [first, second] = [(await math.first)['address'], (await others.first)['address']];
    const map = ['--group-leader', `math=${first}`, '--group-leader', `*=${second}`];
    const submit = async (exec: string): Promise<string> =>
      (await inProcess(['submit', exec, '[1,2]', ...map])).out.trim();
    const [added, mailed] = [await submit('math.add'), await submit('mail.send')];
    assert.is.not(added.split('-')[0], mailed.split('-')[0], 'the ids have the tags of two leaders');
    const listed = await inProcess(['ls', '--json', ...map]);
    assert.match(listed.out, added);
    assert.match(listed.out, mailed);
    assert.match((await inProcess(['show', mailed, ...map])).out, /exec +mail\.send/);
    assert.match((await inProcess(['explain', mailed, ...map])).out, `${mailed} waits:`);
    assert.match((await inProcess(['dlq', 'show', mailed, ...map])).err, 'not a dead letter, it is queued');
    const stats = lines(await inProcess(['queue', 'stats', '--json', ...map]));
    assert.equal(stats.map(({ exec }) => exec).sort(), ['mail.send', 'math.add']);
    assert.is((await inProcess(['cancel', mailed, ...map])).out, `${mailed} cancelled\n`);
    await using worker = new Running([
      'worker',
      join(f.dir, 'handlers.mjs'),
      '--slots',
      '2',
      '--name',
      'w9',
      ...map,
    ]);
    await worker.first;
    assert.is((await inProcess(['await', added, ...map])).out, '3\n');
    const workers = await inProcess(['workers', 'ls', '--json', ...map]);
    assert.match(workers.out, /w9/);
    const unknown = await inProcess(['submit', 'mail.send', '1', '--group-leader', `math=${first}`]);
    assert.is(unknown.code, 64);
    assert.match(unknown.err, /group mail has no leader/);
  },
);

postgres('a database that is not there is one line and exit 69', async () => {
  const url = 'postgres://troupe@127.0.0.1:1/postgres';
  const { code, err } = await inProcess(['leader', '--port', '0', '--postgres', url]);
  assert.is(code, 69);
  assert.match(err, /^troupe: PostgreSQL: cannot be reached \(ECONNREFUSED\).*\n$/);
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('it does not come to hold');
}

postgres.run();
