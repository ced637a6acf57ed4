import { createSystem, nodeHost } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { endWithSystem, spawnClient } from '#src/client/client-actor.js';
import { defineJob } from '#src/job/definition/define-job.js';
import { ClientClosedError } from '#src/jobs-error.js';
import type { ClientMessage, ToClient } from '#src/protocol/client/client-messages.js';
import type { PeerPort } from '#src/protocol/leader-interface.js';
import { anything } from '../plain-schema.js';

const actors = suite('client actor');

const job = defineJob('some.job', { input: anything, output: anything });

actors('calls and answers are messages with the names of the protocol', async () => {
  await using world = createTestSystem();
  const seen: string[] = [];
  const written: ClientMessage[] = [];
  let port: PeerPort<ToClient> | undefined;
  const middleware = [
    { name: 'names', afterMessage: ({ message }: { message: string }) => void seen.push(message) },
  ];
  const { client } = spawnClient(
    (definition, ...[options]) => world.system.spawn(definition, ...([{ ...options, middleware }] as never)),
    {
      name: 'ann',
      host: world.host,
      leader: {
        helloClient: (opened) => {
          port = opened.port;
          port.offer({ kind: 'welcome', tag: 'tag', outstandingMax: 10, payloadBytesMax: 100 });
        },
        fromClient: ({ message }) => void written.push(message),
      },
    },
  );
  const output = client.run(job, 1);
  await world.settle();
  const receipt = { seq: 1, jobs: [7], lsn: 1, duplicate: false, refusal: undefined };
  port?.offer({ kind: 'receipts', items: [receipt] });
  const outcome = { job: 7, state: 'done', result: '2', reason: '', failure: undefined } as const;
  port?.offer({ kind: 'outcomes', items: [outcome] });
  await world.settle();
  assert.is(await output, 2);
  assert.equal(seen.slice().sort(), ['define', 'outcomes', 'receipts', 'submit', 'welcome']);
  assert.equal(
    written.map(({ kind }) => kind),
    ['define', 'submit'],
  );
  client.close();
  await world.settle();
  assert.equal(world.eventsOf('dead-letter'), []);
});

actors('a failure of its system is the error of its calls, and of nothing else', async () => {
  const failures: string[] = [];
  const systemFailed = (report: string): (() => void) => {
    failures.push(report);
    return () => undefined;
  };
  const host = { ...nodeHost, log: () => undefined, systemFailed };
  const system = createSystem({ host, supervise: { decide: () => 'escalate' } });
  const helloClient = (): never => {
    throw new Error('no way');
  };
  const { client, end } = spawnClient((definition, ...rest) => system.spawn(definition, ...rest), {
    name: 'ann',
    host,
    leader: { helloClient, fromClient: () => undefined },
  });
  endWithSystem(system, end);
  const calls = [client.submit(job, 1), client.overview()];
  const reasons = (await Promise.allSettled(calls)).map(
    (one) => one.status === 'rejected' && String(one.reason),
  );
  assert.equal(reasons, ['Error: no way', 'Error: no way']);
  assert.equal(failures, []);
});

actors('a client of a system that is shut down is closed', async () => {
  const system = createSystem({ host: nodeHost });
  const leader = { helloClient: () => undefined, fromClient: () => undefined };
  const spawn: typeof system.spawn = (definition, ...rest) => system.spawn(definition, ...rest);
  const { client, end } = spawnClient(spawn, { name: 'ann', host: nodeHost, leader });
  endWithSystem(system, end);
  const outcome = client.submit(job, 1).catch((error: unknown) => error);
  await new Promise((resolve) => setImmediate(resolve));
  await system.shutdown();
  assert.instance(await outcome, ClientClosedError);
});

actors.run();
