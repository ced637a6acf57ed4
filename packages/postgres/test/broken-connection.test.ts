// timeout: 120s, needs: postgresql
import { type Client, connectClient, defineJob, handle, startLeader, startWorker } from '@troupe/jobs';
import { postgresJournal } from '@troupe/postgres';
import { PostgresServer } from '@troupe/postgres/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AnswerProxy } from './answer-proxy.js';
import { anything } from './plain-schema.js';

const connections = suite('broken connection to PostgreSQL');
const Echo = defineJob('sample.echo', { input: anything, output: anything });

/** A leader whose database is behind a proxy, a worker and a client. */
async function withLeader(
  use: (client: Client, proxy: AnswerProxy, server: PostgresServer) => Promise<void>,
): Promise<void> {
  await using server = await PostgresServer.start();
  await using proxy = await AnswerProxy.before(server.port);
  const failures: Error[] = [];
  await using leader = await startLeader({
    // Longer than a restart of the server takes, so that the leader outlives it.
    journal: postgresJournal({ url: proxy.url, leaseMs: 30_000 }),
    onFatal: (error) => void failures.push(error),
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
  await use(client, proxy, server);
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

connections('a crash and restart of the server is waited for', () =>
  withLeader(async (client, _proxy, server) => {
    assert.is(await client.run(Echo, 1), 1);
    await server.kill();
    const waiting = client.run(Echo, 2);
    await server.restart();
    assert.is(await waiting, 2);
  }),
);

connections.run();
