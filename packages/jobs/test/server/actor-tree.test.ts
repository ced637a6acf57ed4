import type { Middleware } from '@troupe/core';
import { handle } from '@troupe/jobs';
import { memoryJournal } from '@troupe/jobs/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { defineJob } from '#src/job/definition/define-job.js';
import { connectClient, embedded, startLeader, startWorker } from '../checked-processes.js';
import { anything } from '../plain-schema.js';

const trees = suite('actor tree');

const job = defineJob('some.job', { input: anything, output: anything });

/** Names and depth only: numbers and activity differ from run to run. */
function shape(tree: string): string[] {
  const lines = tree.trimEnd().split('\n').slice(1);
  return lines.map((line) =>
    line.replace(
      /^([^a-z]*)([a-z]+).*$/,
      (_, depth: string, name: string) => '.'.repeat(depth.length / 3) + name,
    ),
  );
}

/** Names of the messages that actors have handled. */
function names(seen: Set<string>): Middleware {
  return { name: 'names', afterMessage: ({ actor, message }) => void seen.add(`${actor}.${message}`) };
}

const later = (run: () => void): void => void setImmediate(run);

trees('every process shows its actors by name, and middleware sees the messages of one job', async () => {
  const seen = new Set<string>();
  const middleware = [names(seen)];
  const journal = memoryJournal({ entries: [] }, later);
  await using leader = await startLeader({ journal, middleware, onFatal: assert.unreachable });
  const { address } = leader;
  await using client = await connectClient({ address, middleware });
  const handlers = [handle(job, async (value) => value)];
  await using worker = await startWorker({
    address,
    name: 'w',
    handlers,
    middleware,
    heartbeatThread: false,
  });
  assert.is(await client.run(job, 1), 1);
  assert.equal(shape(leader.tree()), ['.leader', '.listener', '..client', '..worker']);
  assert.equal(shape(client.tree()), ['.dialer', '..connection', '.client']);
  assert.equal(shape(worker.tree()), ['.dialer', '..connection', '.worker']);
  for (const name of ['leader.submit', 'leader.report', 'leader.durable', 'leader.turn'])
    assert.ok(seen.has(name), name);
  for (const name of ['worker.assign', 'worker.attemptEnded', 'worker.report'])
    assert.ok(seen.has(name), name);
  for (const name of ['client.submit', 'client.receipts', 'client.outcomes']) assert.ok(seen.has(name), name);
  assert.equal(
    [...seen].filter((name) => name.endsWith('.run')),
    [],
  );
});

trees('an embedded leader shows its workers and clients', async () => {
  await using app = await embedded({ journal: memoryJournal({ entries: [] }, later) });
  app.worker({ handlers: [handle(job, (value) => value)] });
  await app.client().run(job, 1);
  assert.equal(shape(app.tree()), ['.leader', '.roles', '..worker', '..client']);
});

trees.run();
