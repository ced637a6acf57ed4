// timeout: 120s, needs: postgresql
import { type Client, connectClient, defineJob, handle, startLeader, startWorker } from '@troupe/jobs';
import { OutboxRelay, postgresJournal, submitIn } from '@troupe/postgres';
import { PostgresServer } from '@troupe/postgres/testing';
import postgres, { type Sql } from 'postgres';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { anything } from './plain-schema.js';

const submits = suite('submits in a transaction of the caller');
const Mail = defineJob('mail.send', { input: anything, output: anything });
const aNumber = {
  '~standard': {
    version: 1 as const,
    vendor: 'test',
    validate: (value: unknown) =>
      typeof value === 'number' ? { value } : { issues: [{ message: 'not a number' }] },
    types: undefined as { input: number; output: number } | undefined,
  },
};
const Square = defineJob('math.square', { input: aNumber, output: aNumber });

const Letter = defineJob('mail.send', {
  input: anything,
  output: anything,
  key: (input) => `letter-${input}`,
  orderKey: (input) => `letters of ${input}`,
});

const starting = PostgresServer.start();
let databases = 0;

/** A leader, a worker and a relay on one database, and the program of a user beside them. */
async function withOutbox(
  use: (sql: Sql, client: Client, ran: readonly unknown[], refused: readonly string[]) => Promise<void>,
): Promise<void> {
  const ran: unknown[] = [];
  const refused: string[] = [];
  databases += 1;
  const url = await (await starting).database(`outbox_${databases}`);
  const journal = postgresJournal({ url });
  await using leader = await startLeader({
    journal,
    onFatal: (error) => {
      throw error;
    },
  });
  const { address } = leader;
  const mail = handle(Mail, (input) => {
    ran.push(input);
    return input;
  });
  const handlers = [mail, handle(Square, (input) => input * input)];
  await using worker = await startWorker({ address, name: 'w', cpuCap: 1, handlers });
  assert.ok(worker.execs.length > 0);
  await using client = await connectClient({ address, name: 'app' });
  await using relay = await OutboxRelay.start({
    url,
    schema: 'troupe',
    client,
    journal,
    onRefused: ({ key }, { name }) => refused.push(`${key} ${name}`),
  });
  assert.ok(relay);
  const sql = postgres(url, { max: 4, onnotice: () => undefined });
  await sql`create table orders (id integer primary key)`;
  try {
    await use(sql, client, ran, refused);
  } finally {
    await sql.end();
  }
}

submits('a committed transaction is one job, a rolled back one is none', () =>
  withOutbox(async (sql, client) => {
    const key = await sql.begin(async (tx) => {
      await tx`insert into orders values (1)`;
      return submitIn(tx, Square, 12);
    });
    const given = await sql
      .begin(async (tx) => {
        await submitIn(tx, Square, 13, { key: 'rolled-back' });
        throw new Error('no');
      })
      .catch((error: Error) => error.message);
    assert.is(given, 'no');
    const job = await opened(client, key);
    assert.is(await job.result({ withinMs: 10_000 }), 144);
    assert.is(await client.openByKey(Square, 'rolled-back'), undefined);
    assert.is((await client.overview()).accepted, 1);
  }),
);

submits('a row is deleted by the transaction that appends its job', () =>
  withOutbox(async (sql, client) => {
    await sql.unsafe(`
      create table deletion (xid bigint);
      create function note() returns trigger language plpgsql as
        'begin insert into deletion values (txid_current()); return null; end';
      create trigger note after delete on troupe.outbox execute function note()`);
    const keys = await Promise.all(
      [1, 2, 3].map((number) => sql.begin((tx) => submitIn(tx, Square, number, { key: `row-${number}` }))),
    );
    for (const key of keys) await (await opened(client, key)).result({ withinMs: 10_000 });
    const elsewhere = await sql`
      select xid from deletion where not exists (select from troupe.batch where batch.xmin::text::bigint = xid)`;
    assert.equal([...elsewhere], []);
    assert.ok((await sql`select from deletion`).length > 0);
    assert.is((await sql`select from troupe.outbox`).length, 0);
  }),
);

submits('a row whose key an earlier job has is that job, and goes', () =>
  withOutbox(async (sql, client) => {
    await client.submit(Square, 3, { key: 'same' });
    await sql.begin((tx) => submitIn(tx, Square, 3, { key: 'same' }));
    while ((await sql`select from troupe.outbox`).length > 0)
      await new Promise((resolve) => setTimeout(resolve, 10));
    assert.is((await client.overview()).accepted, 1);
  }),
);

submits('a key of another exec does not take the row', () =>
  withOutbox(async (sql, client) => {
    await client.submit(Mail, 'x', { key: 'shared' });
    await sql.begin((tx) => submitIn(tx, Square, 5, { key: 'shared' }));
    assert.is(await (await opened(client, 'shared')).result({ withinMs: 10_000 }), 25);
  }),
);

submits('other languages submit by a function of the schema', () =>
  withOutbox(async (sql, client) => {
    // Any user: the schema is on no path of it.
    await sql`create role shop_${sql.unsafe(String(databases))} login`;
    await sql`grant usage on schema troupe to public`;
    await sql`grant select, insert, update on troupe.outbox to public`;
    const options = { key: 'from-elsewhere', orderKey: 'ann', priority: 7, policy: { group: 'math' } };
    for (let times = 0; times < 2; times += 1) {
      const keys = await sql.begin(async (tx) => {
        await tx`set local role shop_${tx.unsafe(String(databases))}`;
        await tx`set local search_path to public`;
        return tx<{ key: string }[]>`select troupe.submit('math.square', '5', ${tx.json(options)}) as key`;
      });
      assert.is(keys[0]?.key, 'from-elsewhere');
    }
    assert.is(await (await opened(client, 'from-elsewhere')).result({ withinMs: 10_000 }), 25);
    assert.is((await client.overview()).accepted, 1);
  }),
);

submits('a wrong input is refused before the row is written', () =>
  withOutbox(async (sql) => {
    const refused = await sql
      .begin((tx) => submitIn(tx, Square, 'five' as never))
      .catch((error: { code: string }) => error.code);
    assert.is(refused, 'ERR_JOB_SCHEMA');
    assert.is((await sql`select 1 from troupe.outbox`).length, 0);
  }),
);

submits('a row that no submit can take is refused once, and those behind it are jobs', () =>
  withOutbox(async (sql, client, _ran, refused) => {
    await sql`insert into troupe.outbox (key, exec, payload) values ('bad', 'math.square', 'not JSON')`;
    await sql.begin((tx) => submitIn(tx, Square, 4, { key: 'good' }));
    assert.is(await (await opened(client, 'good')).result({ withinMs: 20_000 }), 16);
    await until(async () => (await sql`select 1 from troupe.outbox`).length === 1);
    assert.equal(refused, ['bad JobDefinitionError']);
  }),
);

submits('rows that many transactions commit at once are each one job', () =>
  withOutbox(async (sql, client) => {
    const numbers = Array.from({ length: 40 }, (_, i) => i);
    await Promise.all(
      numbers.map((number) => sql.begin((tx) => submitIn(tx, Mail, number, { key: `mail-${number}` }))),
    );
    for (const number of numbers)
      await (await opened(client, `mail-${number}`, Mail)).result({ withinMs: 20_000 });
    assert.is((await client.overview()).accepted, 40);
    assert.is((await sql`select 1 from troupe.outbox`).length, 0);
  }),
);

submits('jobs of one order key come in the order of the commits', () =>
  withOutbox(async (sql, client, ran) => {
    const committed: number[] = [];
    let end: () => void = () => undefined;
    const first = sql.begin(async (tx) => {
      await submitIn(tx, Mail, 1, { orderKey: 'ann' });
      await new Promise<void>((resolve) => {
        end = resolve;
      });
    });
    await until(async () => (await sql`select from pg_locks where locktype = 'advisory'`).length > 0);
    const second = sql
      .begin((tx) => submitIn(tx, Mail, 2, { orderKey: 'ann', key: 'second' }))
      .then(() => committed.push(2));
    const free = await sql.begin((tx) => submitIn(tx, Square, 3, { orderKey: 'bob' }));
    await (await opened(client, free)).result({ withinMs: 10_000 });
    await until(async () => (await sql`select from pg_locks where not granted`).length === 1);
    end();
    await first;
    committed.unshift(1);
    await second;
    await (await opened(client, 'second', Mail)).result({ withinMs: 10_000 });
    assert.equal(
      [committed, ran],
      [
        [1, 2],
        [1, 2],
      ],
    );
  }),
);

submits('a submit has the key, the order key and the policy of its definition, and its own options', () =>
  withOutbox(async (sql, client) => {
    await client.queue('mail.send').pause();
    const key = await sql.begin((tx) => submitIn(tx, Letter, 'ann', { priority: 9, tags: ['vip'] }));
    assert.is(key, 'letter-ann');
    await opened(client, key, Letter);
    const next = await sql.begin((tx) => submitIn(tx, Letter, 'ann', { key: 'next-letter' }));
    const job = await opened(client, next, Letter);
    const { jobs } = await client.search({ tag: 'vip' });
    assert.equal(
      jobs.map(({ exec, tags }) => [exec, tags]),
      [['mail.send', ['vip']]],
    );
    assert.equal(
      (await job.explain()).reasons.map(({ kind }) => kind),
      ['paused', 'order-key'],
    );
  }),
);

submits('a key that waits in the outbox is the same job, and refused with another input', () =>
  withOutbox(async (sql) => {
    await sql.begin(async (tx) => {
      assert.is(await submitIn(tx, Square, 4, { key: 'once' }), 'once');
      assert.is(await submitIn(tx, Square, 4, { key: 'once' }), 'once');
      const refused = await submitIn(tx, Square, 5, { key: 'once' }).catch(
        (error: { code: string }) => error.code,
      );
      assert.is(refused, 'ERR_OUTBOX_KEY');
      assert.is((await tx`select from troupe.outbox where key = 'once'`).length, 1);
    });
  }),
);

submits('the server of these tests ends', async () => {
  await (await starting)[Symbol.asyncDispose]();
  assert.ok(databases > 0);
});

/** The handle, once the relay has taken the row. */
async function opened(client: Client, key: string, job = Square as typeof Square | typeof Mail) {
  let found = await client.openByKey(job, key);
  await until(async () => {
    found = await client.openByKey(job, key);
    return found !== undefined;
  });
  return found as NonNullable<typeof found>; // it is there
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('it does not come to hold');
}

submits.run();
