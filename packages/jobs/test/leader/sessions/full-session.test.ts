// The leader offers, and never waits for a session: a session without room keeps its messages in the leader.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { policyOf } from '../../ledger/random-records.js';
import { LeaderHarness, nth } from '../leader-harness.js';

/** Definitions that one session may announce; one more ends it. */
const DEFINITIONS_MAX = 4_096;

const sessions = suite('session without room');

sessions('receipts and answers wait in the session and are written when it is writable, in order', () => {
  const harness = new LeaderHarness();
  const slow = harness.client('slow', 's');
  slow.received.length = 0;
  slow.isFull = true;
  slow.submit('a');
  slow.write({ kind: 'call', call: 1, request: { kind: 'overview' } });
  slow.submit('b');
  assert.equal(slow.received, []);
  slow.isFull = false;
  harness.settle();
  assert.equal(slow.received, [], 'no attempt is made before it is writable');
  harness.leader.writable(slow.session);
  harness.settle();
  assert.equal(
    slow.received.map(({ kind }) => kind),
    ['answer', 'receipts'],
  );
  assert.equal(
    slow.receipts().map(({ seq, jobs }) => [seq, jobs]),
    [
      [1, [1]],
      [2, [2]],
    ],
  );
});

sessions('a session that does not report room is offered its messages again at the next tick', () => {
  const harness = new LeaderHarness();
  const slow = harness.client('slow', 's');
  slow.isFull = true;
  slow.submit('a');
  slow.isFull = false;
  assert.is(slow.receipts().length, 0);
  harness.advance(100);
  assert.is(slow.receipts().length, 1);
});

sessions('another client gets its receipts in the same turn as ever', () => {
  const harness = new LeaderHarness();
  const slow = harness.client('slow', 's');
  const other = harness.client('other', 'o');
  slow.isFull = true;
  for (let i = 1; i <= 1_000; i += 1) {
    slow.submit('a');
    other.submit('b');
    assert.is(other.receipts().length, i);
  }
  assert.is(slow.receipts().length, 0);
});

sessions('outcomes wait as numbers: one whose result is dropped meanwhile is unknown', () => {
  const harness = new LeaderHarness({ limits: { resultsMax: 1 } });
  const worker = harness.worker({ slots: 4 });
  const slow = harness.client('slow', 's');
  slow.submit('a');
  slow.submit('b');
  slow.isFull = true;
  for (const attempt of worker.assigned()) worker.succeed(attempt, '"done"');
  slow.isFull = false;
  harness.leader.writable(slow.session);
  harness.settle();
  assert.equal(
    slow.outcomes().map(({ job, state, result }) => [job, state, result]),
    [
      [1, 'unknown', undefined],
      [2, 'done', '"done"'],
    ],
  );
});

sessions('thousands of outcomes that waited are written in slices, each of them once', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  const jobs = 3_000;
  const numbers = Array.from({ length: jobs }, (_, i) => i + 1);
  client.isFull = true;
  client.write({ kind: 'await', jobs: numbers });
  client.isFull = false;
  harness.leader.writable(client.session);
  harness.settle();
  assert.equal(
    client.outcomes().map(({ job }) => job),
    numbers,
  );
  const messages = client.received.filter(({ kind }) => kind === 'outcomes').length;
  assert.ok(messages > 5, `${messages} messages`);
});

sessions('a client that never reads is ended before its outcomes fill the memory', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  client.isFull = true;
  const jobs = Array.from({ length: 65_536 }, (_, i) => i + 1);
  for (let i = 0; i < 16; i += 1) client.write({ kind: 'await', jobs });
  assert.not(client.isEnded);
  client.write({ kind: 'await', jobs });
  assert.ok(client.isEnded);
});

sessions('heartbeats that were not answered are answered once', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  const worker = harness.worker();
  client.isFull = true;
  worker.isFull = true;
  for (let i = 0; i < 10; i += 1) {
    client.write({ kind: 'heartbeat' });
    worker.report([]);
  }
  client.isFull = false;
  worker.isFull = false;
  harness.advance(100);
  for (const peer of [client, worker])
    assert.is(peer.received.filter(({ kind }) => kind === 'heartbeat').length, 1);
});

sessions('assignments wait in the session of their worker, whose credit is spent', () => {
  const harness = new LeaderHarness();
  const worker = harness.worker({ slots: 2 });
  const client = harness.client();
  worker.isFull = true;
  for (let i = 0; i < 3; i += 1) client.submit('x');
  assert.equal(harness.counts()['running'], 2);
  worker.isFull = false;
  harness.advance(100);
  assert.is(worker.assigned().length, 2);
  worker.succeed(nth(worker.assigned(), 0));
  assert.is(worker.assigned().length, 3);
});

sessions('a worker that reports ends it never had and does not read is ended', () => {
  const harness = new LeaderHarness();
  const worker = harness.worker();
  worker.isFull = true;
  const ends = Array.from({ length: 2_000 }, (_, i) => ({
    outcome: 'ok' as const,
    job: i + 1,
    attempt: 9,
    result: '1',
  }));
  for (let i = 0; i < 32; i += 1) worker.report(ends, 0);
  assert.not(worker.isEnded);
  worker.report(ends, 0);
  assert.ok(worker.isEnded);
});

sessions('a refusal without room is written as soon as there is, and nothing else of that session', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  client.received.length = 0;
  client.isFull = true;
  client.submit('a');
  const policy = policyOf('x', { doneMs: 1, deadMs: 1 });
  for (let ref = 2; ref <= DEFINITIONS_MAX + 1; ref += 1) client.write({ kind: 'define', ref, policy });
  client.isFull = false;
  harness.advance(100);
  assert.equal(
    client.received.map(({ kind }) => kind),
    ['refused'],
  );
});

sessions.run();
