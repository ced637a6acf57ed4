// timeout: 120s, needs: postgresql
import {
  type Client,
  connectClient,
  defineJob,
  handle,
  type JobRefusedError,
  startLeader,
  startWorker,
} from '@troupe/jobs';
import { postgresJournal } from '@troupe/postgres';
import { PostgresServer } from '@troupe/postgres/testing';
import postgres from 'postgres';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AnswerProxy, TAKE_OVER } from './answer-proxy.js';
import { anything } from './plain-schema.js';

const connections = suite('broken connection to PostgreSQL');
const Echo = defineJob('sample.echo', { input: anything, output: anything });

/** A busy machine renews it in time, too. */
const LEASE_MS = 3_000;

const starting = PostgresServer.start();
let databases = 0;

/** A leader whose database is behind a proxy, a worker and a client. */
async function withLeader(
  use: (client: Client, proxy: AnswerProxy, server: PostgresServer) => Promise<void>,
  // Longer than a restart of the server takes, so that the leader outlives it.
  { leaseMs = 30_000 } = {},
): Promise<void> {
  const server = await starting;
  databases += 1;
  await server.database(`broken_${databases}`);
  await using proxy = await AnswerProxy.before(server.port, `broken_${databases}`);
  const failures: Error[] = [];
  let rejectUse: (error: Error) => void = () => undefined;
  await using leader = await startLeader({
    journal: postgresJournal({ url: proxy.url, leaseMs }),
    onFatal: (error) => {
      failures.push(error);
      rejectUse(error);
    },
  });
  const { address } = leader;
  await using worker = await startWorker({
    address,
    name: 'w',
    cpuCap: 1,
    handlers: [handle(Echo, (input) => input)],
  });
  assert.ok(worker.execs.length > 0);
  await using client = await connectClient({ address, name: 'c' });
  // Calls to a leader that has stepped down wait for the next one, which there is none of.
  const steppedDown = new Promise<never>((_resolve, reject) => {
    rejectUse = reject;
  });
  await Promise.race([use(client, proxy, server), steppedDown]);
  assert.equal(failures, []);
}

connections('an append whose answer was lost is found in the log, and the leader goes on', () =>
  withLeader(async (client, proxy) => {
    // The statement has its text on the wire only when it is new to the connection.
    proxy.cut();
    proxy.loseNextAnswer();
    assert.is(await client.run(Echo, 1), 1);
    assert.is(await client.run(Echo, 2), 2);
  }),
);

connections('a new epoch whose answer was lost is the leader’s own', () =>
  withLeader(async (client, proxy) => {
    assert.is(await client.run(Echo, 1), 1);
    proxy.loseNextAnswer(TAKE_OVER);
    const running = client.run(Echo, 2);
    proxy.cut();
    assert.is(await running, 2);
    assert.is(await client.run(Echo, 3), 3);
  }),
);

connections('a lease outlives the connections of its leader', () =>
  withLeader(
    async (client, proxy) => {
      const startedAt = performance.now();
      for (let round = 0; performance.now() - startedAt < 2 * LEASE_MS; round += 1) {
        const running = client.run(Echo, round);
        proxy.cut();
        assert.is(await running, round);
        // A renewal takes a connection and a statement: most of them come between two cuts.
        await new Promise((resolve) => setTimeout(resolve, 150));
      }
    },
    { leaseMs: LEASE_MS },
  ),
);

connections('connections that are cut at any time lose nothing and double nothing', () =>
  withLeader(async (client, proxy) => {
    const done: unknown[] = [];
    for (let round = 0; round < 5; round += 1) {
      const jobs = Array.from({ length: 40 }, (_, i) => client.run(Echo, round * 40 + i));
      setTimeout(() => proxy.cut(), round * 3);
      done.push(...(await Promise.all(jobs)));
    }
    assert.is(new Set(done).size, 200);
    const { accepted, counts } = await client.overview();
    assert.equal([accepted, counts.done], [200, 200]);
  }),
);

connections('a server that loses commits is led no more after a reconnect', async () => {
  await using server = await PostgresServer.start();
  let end: (error: Error) => void = () => undefined;
  const fatal = new Promise<Error>((resolve) => {
    end = resolve;
  });
  await using leader = await startLeader({
    journal: postgresJournal({ url: server.url, leaseMs: 30_000 }),
    onFatal: end,
  });
  await using client = await connectClient({ address: leader.address, name: 'c' });
  await client.submit(Echo, 1);
  await server.kill();
  await server.restart({ fsync: 'off' });
  void client.submit(Echo, 2).catch(() => undefined);
  // An append that was waiting fails with it; without one it is the error itself.
  const error = await fatal;
  assert.is(((error.cause ?? error) as { code?: string }).code, 'ERR_POSTGRES_UNSAFE');
});

connections('a crash and restart of the server is waited for', () =>
  withLeader(async (client, _proxy, server) => {
    assert.is(await client.run(Echo, 1), 1);
    await server.kill();
    const waiting = client.run(Echo, 2);
    await server.restart();
    assert.is(await waiting, 2);
  }),
);

connections('a full disk of the server refuses new work with its reason until there is room', () =>
  withLeader(async (client, _proxy, server) => {
    const database = postgres(server.url.replace(/[^/]*$/, `broken_${databases}`), { max: 1 });
    await database.unsafe(`
      create function troupe.no_room() returns trigger language plpgsql as $$
        begin raise exception 'could not extend file: No space left' using errcode = '53100'; end $$;
      create trigger no_room before insert on troupe.batch for each row execute function troupe.no_room()`);
    const waiting = client.run(Echo, 1);
    await until(async () => (await client.overview()).diskLow);
    const problem = 'the disk is nearly full: could not extend file: No space left';
    assert.equal((await client.overview()).refusing, [{ code: 'ERR_DISK_LOW', problem }]);
    const refused = await client.submit(Echo, 2).catch((error: JobRefusedError) => error);
    assert.is((refused as JobRefusedError).code, 'ERR_DISK_LOW');
    await database.unsafe('drop function troupe.no_room cascade');
    assert.is(await waiting, 1);
    await until(async () => (await client.overview()).refusing.length === 0);
    assert.is(await client.run(Echo, 3), 3);
    await database.end();
  }),
);

connections('a server that appends nothing for long refuses new work with its reason', () =>
  withLeader(
    async (client, _proxy, server) => {
      const database = postgres(server.url.replace(/[^/]*$/, `broken_${databases}`), { max: 1 });
      let release: () => void = () => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      await new Promise<void>((locked) => {
        void database.begin(async (tx) => {
          await tx`select from troupe.head for update`;
          locked();
          await released;
        });
      });
      const waiting = client.run(Echo, 1);
      await until(async () => (await client.overview()).refusing.length > 0);
      assert.equal((await client.overview()).refusing, [
        {
          code: 'ERR_DISK_SLOW',
          problem:
            'the disk answers too slowly: PostgreSQL has appended nothing for 12000 ms: no answer in time',
        },
      ]);
      release();
      assert.is(await waiting, 1);
      assert.equal((await client.overview()).refusing, []);
      await database.end();
    },
    { leaseMs: 400 },
  ),
);

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20));
}

connections('the server of these tests ends', async () => {
  await (await starting)[Symbol.asyncDispose]();
  assert.ok(databases > 0);
});

connections.run();
