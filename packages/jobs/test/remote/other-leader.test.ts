// Another leader at the same address: a wiped folder, or another host.
import { readdir } from 'node:fs/promises';
import { defineJob, handle, type JobsError, type LeaderServer } from '@troupe/jobs';
import { Dialer, NO_HEADER, nodeClock, nodeNet } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import { encodeClientHello } from '#src/wire/client/client-codec.js';
import { connectClient, startLeader, startWorker } from '../checked-processes.js';
import { anything } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';

const others = suite('other leaders and strangers');

const Job = defineJob('other.job', {
  input: anything,
  output: anything,
  limits: { outputBytes: 4 * 1024 * 1024 },
});
const fatal = (error: Error): void => assert.unreachable(error.message);

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'no error',
    (error: JobsError) => error.code,
  );
}

function portOf({ address }: LeaderServer): number {
  return 'port' in address ? address.port : 0;
}

// A submit that one leader may have accepted is not sent to another, where the same numbers are other jobs.
others('a client that meets another leader at its address ends and rejects all open calls', async () => {
  await using first = await tempFolder();
  await using second = await tempFolder();
  const before = await startLeader({ dir: first.path, onFatal: fatal });
  const address = { port: portOf(before) };
  const client = await connectClient({ address, backoff: { fromMs: 10, toMs: 20 } });
  const waiting = await client.submit(Job, 'kept by the first');
  const outcome = codeOf(waiting.result());
  await before.close({ withinMs: 0 });
  const unanswered = codeOf(client.submit(Job, 'for the first'));
  await using after = await startLeader({ dir: second.path, address, onFatal: fatal });
  assert.is(await outcome, 'ERR_LEADER_CHANGED');
  assert.is(await unanswered, 'ERR_LEADER_CHANGED');
  assert.is(await codeOf(waiting.inspect()), 'ERR_LEADER_CHANGED');
  assert.is(await codeOf(client.run(Job, 'more')), 'ERR_LEADER_CHANGED');
  assert.is((await after.overview()).accepted, 0);
});

others('a worker that meets another leader runs its jobs anew, even with the same numbers', async () => {
  await using first = await tempFolder();
  await using second = await tempFolder();
  const before = await startLeader({ dir: first.path, onFatal: fatal });
  const address = { port: portOf(before) };
  const started: unknown[] = [];
  const aborted: unknown[] = [];
  const run = handle(Job, (input, { signal }) => {
    started.push(input);
    if (input !== 'old') return input;
    signal.addEventListener('abort', () => aborted.push(input));
    return new Promise(() => undefined);
  });
  const backoff = { fromMs: 10, toMs: 20 };
  await using worker = await startWorker({ address, name: 'w', handlers: [run], backoff, cpuCap: 1 });
  const early = await connectClient({ address });
  await early.submit(Job, 'old');
  while (started.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  early.close();
  await before.close({ withinMs: 0 });
  await using _after = await startLeader({ dir: second.path, address, onFatal: fatal });
  await using client = await connectClient({ address });
  assert.is(await client.run(Job, 'new', { withinMs: 10_000 }), 'new');
  assert.equal(started, ['old', 'new']);
  assert.equal(aborted, ['old']);
  // Before its leader closes, so that its ends are acknowledged.
  await worker.close();
});

others('names of clients, workers, jobs and keys never become file names', async () => {
  await using folder = await tempFolder();
  const evil = '../../../tmp/troupe-evil/../x\0y';
  const limits = { payloadBytesMax: 4 * 1024 * 1024 };
  await using leader = await startLeader({ dir: folder.path, limits, onFatal: fatal });
  const address = { port: portOf(leader) };
  assert.is(await codeOf(connectClient({ address, name: evil })), 'ERR_JOB_DEFINITION');
  assert.throws(() => defineJob(evil, { input: anything, output: anything }), /needed .* tokens/);
  await using client = await connectClient({ address, name: '..' });
  await using _worker = await startWorker({
    address,
    name: '..',
    handlers: [handle(Job, (input) => input)],
    cpuCap: 1,
  });
  // Large enough to become a file.
  const large = '../'.repeat(600_000);
  assert.is(((await client.run(Job, large, { key: '../../etc/passwd' })) as string).length, large.length);
  const files = await readdir(folder.path, { recursive: true });
  const strange = files.filter((name) => !/^[A-Za-z0-9._/-]+$/.test(name) || name.includes('..'));
  assert.equal(strange, []);
});

others('outcomes and receipts go to the session of the submit only', async () => {
  await using folder = await tempFolder();
  await using leader = await startLeader({ dir: folder.path, onFatal: fatal });
  const address = { port: portOf(leader) };
  const run = handle(Job, (input) => input);
  await using _worker = await startWorker({ address, name: 'w', handlers: [run], cpuCap: 1 });
  await using ann = await connectClient({ address, name: 'ann' });
  const types: string[] = [];
  const dialer = await new Promise<Dialer>((resolve) => {
    const dialing = new Dialer({
      net: nodeNet,
      clock: nodeClock,
      address,
      role: 'client',
      onConnection: (connection) => {
        encodeClientHello({ client: 'bob', token: 'b' }, new ByteWriter(), (type, out) =>
          connection.write(type, NO_HEADER, out.take()),
        );
        return {
          onFrame: ({ type }) => {
            types.push(String(type));
            resolve(dialing);
          },
          onClose: () => undefined,
        };
      },
    });
  });
  for (let i = 0; i < 20; i += 1) assert.is(await ann.run(Job, i), i);
  assert.equal(types, ['66'], 'the welcome, and nothing since');
  dialer.close();
});

others.run();
