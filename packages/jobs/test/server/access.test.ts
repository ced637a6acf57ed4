// timeout: 60s
import { defineJob, handle, type JobsError, type LeaderServer } from '@troupe/jobs';
import { type DialerAuth, IdentityStore } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectClient, startLeader, startWorker } from '../checked-processes.js';
import { aString } from '../plain-schema.js';
import { Echo, Fail, sampleHandlers } from '../remote/sample-jobs.js';
import { tempFolder } from '../temp-folder.js';

const access = suite('access');

const keyOf = (digit: string): string => digit.repeat(64);
const authOf = (keyId: string, digit: string): DialerAuth => ({ kind: 'hmac', keyId, key: keyOf(digit) });

const identities = new IdentityStore([
  { name: 'ann', keys: [{ id: 'k-ann', key: keyOf('a') }], submit: ['job.submit.sample'] },
  { name: 'bob', keys: [{ id: 'k-bob', key: keyOf('b') }], submit: ['job.submit.other'] },
  { name: 'eve', keys: [{ id: 'k-eve', key: keyOf('c') }], submit: ['job.submit.sample'] },
  { name: 'crew', keys: [{ id: 'k-crew', key: keyOf('d') }], work: ['job.assign.sample.*'] },
  { name: 'all', keys: [{ id: 'k-all', key: keyOf('9') }], work: ['>'] },
  { name: 'idle', keys: [{ id: 'k-idle', key: keyOf('e') }], work: ['job.assign.other.*'] },
  { name: 'feeder', keys: [{ id: 'k-feeder', key: keyOf('8') }], feed: ['job.feed.sample'] },
  { name: 'ops', keys: [{ id: 'k-ops', key: keyOf('f') }], observe: ['>'], cancel: ['>'], admin: ['>'] },
]);

async function guarded(dir: string): Promise<LeaderServer> {
  return startLeader({
    dir,
    auth: { kind: 'hmac', identities },
    onFatal: (error) => {
      throw error;
    },
  });
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'no error',
    (error: JobsError) => error.code,
  );
}

access('a wrong key rejects at once, without retries until the time limit', async () => {
  await using folder = await tempFolder();
  await using leader = await guarded(folder.path);
  const startedAt = performance.now();
  const code = await codeOf(connectClient({ address: leader.address, auth: authOf('k-ann', 'b') }));
  assert.is(code, 'ERR_LEADER_REFUSED');
  assert.ok(performance.now() - startedAt < 5_000);
});

access('an address without a leader is ERR_LEADER_UNREACHABLE with the last attempt', async () => {
  const error = await connectClient({ address: { port: 1 }, withinMs: 200 }).then(
    () => undefined,
    (cause: Error) => cause,
  );
  assert.is((error as JobsError).code, 'ERR_LEADER_UNREACHABLE');
  assert.match(error?.message ?? '', /127\.0\.0\.1:1: no session within 200 ms \(.*ECONNREFUSED/);
});

access('a job is fed by its own identity, and by one with the rule; another is forbidden to', async () => {
  await using folder = await tempFolder();
  await using leader = await guarded(folder.path);
  const { address } = leader;
  const Fed = defineJob('sample.fed', { input: aString, output: aString, chunk: aString, feed: aString });
  const handlers = [
    handle(Fed, async function* (_input, { feed }) {
      for await (const item of feed) yield item;
    }),
  ];
  const heartbeatThread = false;
  await using _worker = await startWorker({
    address,
    name: 'w',
    auth: authOf('k-crew', 'd'),
    handlers,
    heartbeatThread,
  });
  await using ann = await connectClient({ address, auth: authOf('k-ann', 'a') });
  await using annToo = await connectClient({ address, auth: authOf('k-ann', 'a'), name: 'another' });
  await using eve = await connectClient({ address, auth: authOf('k-eve', 'c') });
  await using feeder = await connectClient({ address, auth: authOf('k-feeder', '8') });
  const job = await ann.submit(Fed, '', { streaming: true });
  assert.is(await codeOf(eve.open(Fed, job.id).feed('no')), 'ERR_FORBIDDEN');
  assert.is(await codeOf(eve.open(Fed, job.id).ready), 'ERR_FORBIDDEN');
  assert.is(await codeOf(eve.open(Fed, job.id).items().next()), 'ERR_JOB_UNKNOWN');
  await job.feed('a');
  await annToo.open(Fed, job.id).feed('b');
  await feeder.open(Fed, job.id).feed('c', { final: true });
  assert.is(await job.result(), 'abc');
});

// Identity belongs to the connection; the claims of a peer do not count.
access('an identity submits by its rules, and sees and cancels only its own jobs', async () => {
  await using folder = await tempFolder();
  await using leader = await guarded(folder.path);
  const { address } = leader;
  await using ann = await connectClient({ address, auth: authOf('k-ann', 'a'), name: 'same-name' });
  await using bob = await connectClient({ address, auth: authOf('k-bob', 'b'), name: 'same-name' });
  await using eve = await connectClient({ address, auth: authOf('k-eve', 'c'), name: 'same-name' });
  await using ops = await connectClient({ address, auth: authOf('k-ops', 'f') });
  assert.is(await codeOf(bob.submit(Echo, 1)), 'ERR_FORBIDDEN');
  const job = await ann.submit(Echo, 'private');
  assert.is(await codeOf(eve.open(Echo, job.id).result()), 'ERR_JOB_UNKNOWN');
  assert.is(await codeOf(eve.open(Echo, job.id).inspect()), 'ERR_JOB_UNKNOWN');
  assert.is(await codeOf(eve.open(Echo, job.id).cancel()), 'ERR_JOB_UNKNOWN');
  assert.equal(await eve.list('queued'), []);
  assert.is((await ops.list('queued')).length, 1);
  assert.is((await job.inspect()).client, 'ann/same-name');
  assert.is(await ops.open(Echo, job.id).cancel('by the operator'), 'cancelled');
  assert.is((await job.inspect()).state, 'cancelled');
});

access('idempotency keys of one identity are invisible to another under any client name', async () => {
  await using folder = await tempFolder();
  await using leader = await guarded(folder.path);
  const { address } = leader;
  await using ann = await connectClient({ address, auth: authOf('k-ann', 'a'), name: 'c' });
  await using too = await connectClient({ address, auth: authOf('k-ann', 'a'), name: 'x/y' });
  await using eve = await connectClient({ address, auth: authOf('k-eve', 'c'), name: 'ann/c' });
  const first = await ann.submit(Echo, 1, { key: 'k' });
  assert.is((await too.submit(Echo, 1, { key: 'k' })).id, first.id);
  assert.not.equal((await eve.submit(Echo, 2, { key: 'k' })).id, first.id);
});

access('counts and workers are shown to identities with an observe rule', async () => {
  await using folder = await tempFolder();
  await using leader = await guarded(folder.path);
  const { address } = leader;
  await using ann = await connectClient({ address, auth: authOf('k-ann', 'a') });
  await using ops = await connectClient({ address, auth: authOf('k-ops', 'f') });
  assert.is(await codeOf(ann.overview()), 'ERR_FORBIDDEN');
  assert.is((await ops.overview()).counts.queued, 0);
});

access(
  'the actors of a leader are shown to identities with an admin rule, with recent messages and log',
  async () => {
    await using folder = await tempFolder();
    await using leader = await guarded(folder.path);
    const { address } = leader;
    await using ann = await connectClient({ address, auth: authOf('k-ann', 'a') });
    await using ops = await connectClient({ address, auth: authOf('k-ops', 'f') });
    assert.is(await codeOf(ann.actors()), 'ERR_FORBIDDEN');
    const { root, stats, recent, log, lsn } = await ops.actors();
    assert.equal(
      root.children.map(({ path }) => path),
      ['/leader', '/listener'],
    );
    assert.ok(stats.actors > 4 && stats.handled > 0);
    assert.match(recent.join('\n'), /→ \/leader\.requestActors/);
    assert.ok(lsn > 0);
    assert.is(log.failedSnapshots, 0);
  },
);

access('a worker gets work by its rules only; dead letters need an admin rule', async () => {
  await using folder = await tempFolder();
  await using leader = await guarded(folder.path);
  const { address } = leader;
  const seen: string[] = [];
  const handlers = (name: string) => sampleHandlers(name, () => seen.push(name));
  await using _idle = await startWorker({
    address,
    auth: authOf('k-idle', 'e'),
    name: 'i',
    handlers: handlers('idle'),
  });
  await using ann = await connectClient({ address, auth: authOf('k-ann', 'a') });
  await using ops = await connectClient({ address, auth: authOf('k-ops', 'f') });
  const waiting = await ann.submit(Echo, 1);
  await using _crew = await startWorker({
    address,
    auth: authOf('k-crew', 'd'),
    name: 'c',
    handlers: handlers('crew'),
  });
  assert.is(await waiting.result(), 1);
  assert.equal(seen, ['crew']);
  assert.is(await codeOf(ann.run(Fail, 0)), 'ERR_JOB_FAILED');
  const [dead] = await ops.deadLetters();
  const id = ann.idOf(dead?.job ?? 0);
  assert.is(await ann.purge([id]), 0);
  assert.is(await ops.purge([id]), 1);
});

access('a client cannot reach the handlers of another group through a group it may submit to', async () => {
  await using folder = await tempFolder();
  await using leader = await guarded(folder.path);
  const { address } = leader;
  const ran: unknown[] = [];
  const handlers = [
    handle(Echo, (input) => {
      ran.push(input);
      return input;
    }),
  ];
  await using _crew = await startWorker({ address, auth: authOf('k-crew', 'd'), name: 'c', handlers });
  await using _all = await startWorker({ address, auth: authOf('k-all', '9'), name: 'a', handlers });
  await using bob = await connectClient({ address, auth: authOf('k-bob', 'b') });
  await using ann = await connectClient({ address, auth: authOf('k-ann', 'a') });
  const Disguised = defineJob(Echo.exec, { group: 'other', input: Echo.input, output: Echo.output });
  const smuggled = await bob.submit(Disguised, 'smuggled');
  for (let i = 0; i < 8; i += 1) await ann.run(Echo, i);
  assert.equal(ran, [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.is((await smuggled.inspect()).state, 'queued');
});

access('renewed identities: new keys may connect, sessions of removed keys end', async () => {
  await using folder = await tempFolder();
  await using leader = await guarded(folder.path);
  const { address } = leader;
  await using ann = await connectClient({ address, auth: authOf('k-ann', 'a') });
  const zoe = { address, auth: authOf('k-zoe', '9') };
  assert.is(await codeOf(connectClient(zoe)), 'ERR_LEADER_REFUSED');
  await leader.renew({
    identities: new IdentityStore([
      { name: 'zoe', keys: [{ id: 'k-zoe', key: keyOf('9') }], submit: ['job.submit.sample'] },
    ]),
  });
  await using newcomer = await connectClient(zoe);
  assert.ok((await newcomer.submit(Echo, 1)).id);
  assert.is(await codeOf(ann.submit(Echo, 1, { withinMs: 200 })), 'ERR_SUBMIT_WAIT');
  assert.is(await codeOf(leader.renew({ tls: { key: '', cert: '' } })), 'ERR_JOB_DEFINITION');
});

access.run();
