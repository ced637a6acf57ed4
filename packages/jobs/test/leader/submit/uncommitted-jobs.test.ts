import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type FakeWorker, LeaderHarness } from '../leader-harness.js';

// A worker is assigned while the job's own record is not durable yet (ADR 0407).
const uncommitted = suite('uncommitted jobs');

const payloads = (worker: FakeWorker): unknown[] => worker.assigned().map((one) => one.payload);

uncommitted(
  'a job that meets credit waits for the disk twice: before its assignment and before its outcome',
  () => {
    const harness = new LeaderHarness();
    const worker = harness.worker();
    const client = harness.client();
    const before = harness.appends;
    client.submit('x');
    assert.equal([worker.assigned().length, harness.appends - before], [1, 1]);
    worker.succeed(worker.assigned()[0] ?? { job: 0, attempt: 0 });
    assert.equal([client.outcomes().length, harness.appends - before], [1, 2]);
  },
);

uncommitted('neither worker nor client gets a message before both records are durable', () => {
  const harness = new LeaderHarness();
  const worker = harness.worker();
  const client = harness.client();
  harness.heldWrites = [];
  client.submit('x');
  assert.equal([worker.assigned().length, client.receipts().length, harness.heldWrites.length], [0, 0, 1]);
  assert.is(harness.leader.ledger.jobs.size, 0);
  harness.completeWrite();
  assert.equal([worker.assigned().length, client.receipts().length], [1, 1]);
});

uncommitted(
  'a job whose record was never written does not exist after a restart, and its credit is not spent',
  () => {
    const harness = new LeaderHarness();
    harness.worker();
    const client = harness.client();
    harness.heldWrites = [];
    client.submit('x');
    const next = harness.restarted();
    assert.is(next.leader.ledger.accepted, 0);
    const worker = next.worker({ incarnation: '2' });
    next.client('ann', 't2').submit('y');
    assert.equal(payloads(worker), ['y']);
  },
);

uncommitted('a job of a worker that is lost meanwhile is requeued uncounted', () => {
  const harness = new LeaderHarness();
  const lost = harness.worker({ name: 'lost', slots: 1 });
  const client = harness.client();
  harness.heldWrites = [];
  client.submit('x');
  lost.disconnect();
  const other = harness.worker({ name: 'other', slots: 1 });
  harness.heldWrites.splice(0).forEach((write) => {
    write();
  });
  harness.heldWrites = undefined;
  harness.settle();
  assert.is(lost.assigned().length, 0);
  assert.equal(
    other.assigned().map((one) => [one.payload, one.attempt]),
    [['x', 2]],
  );
  const job = harness.leader.ledger.jobs.get(1);
  assert.equal([job?.failures, job?.crashes], [0, 0]);
});

uncommitted('a job is not sent to a new connection of its worker, which has not spent credit for it', () => {
  const harness = new LeaderHarness();
  const first = harness.worker({ slots: 1 });
  const client = harness.client();
  harness.heldWrites = [];
  client.submit('x');
  first.disconnect();
  const again = harness.worker({ slots: 1 });
  harness.completeWrite();
  harness.completeWrite();
  assert.equal([first.assigned().length, again.assigned().length], [0, 0]);
  harness.heldWrites.splice(0).forEach((write) => {
    write();
  });
  harness.heldWrites = undefined;
  harness.settle();
  assert.equal(
    again.assigned().map((one) => one.attempt),
    [2],
  );
});

uncommitted('jobs of one client keep their order, committed or not', () => {
  const harness = new LeaderHarness();
  // Four slots, one of them free now.
  const held = [7, 8, 9].map((job) => ({ job, attempt: 1 }));
  const worker = harness.worker({ slots: 4, held });
  const client = harness.client();
  client.submit('running');
  harness.heldWrites = [];
  for (const text of ['first', 'second']) client.submit(text);
  harness.completeWrite();
  client.submit('third');
  worker.report([], 3);
  while (harness.heldWrites.length > 0) harness.completeWrite();
  assert.equal(payloads(worker), ['running', 'first', 'second', 'third']);
});

uncommitted('uncommitted jobs count against the credit in bytes', () => {
  const harness = new LeaderHarness();
  const worker = harness.worker({ slots: 4 });
  const client = harness.client();
  harness.heldWrites = [];
  // Each is larger than all granted bytes: one of them runs, alone.
  for (const text of ['a', 'b']) client.submit(text.repeat(1_000_001));
  while (harness.heldWrites.length > 0) harness.completeWrite();
  assert.is(worker.assigned().length, 1);
});

uncommitted('uncommitted jobs count against the limit of their client', () => {
  const harness = new LeaderHarness({ limits: { clientRunningMax: 1 } });
  const worker = harness.worker({ slots: 4 });
  const [ann, bob] = [harness.client('ann'), harness.client('bob')];
  harness.heldWrites = [];
  for (const text of ['a1', 'a2']) ann.submit(text);
  bob.submit('b1');
  while (harness.heldWrites.length > 0) harness.completeWrite();
  assert.equal(payloads(worker), ['a1', 'b1']);
});

uncommitted('a delayed job is not assigned before it is due, though there is credit', () => {
  const harness = new LeaderHarness();
  const worker = harness.worker();
  harness.client().submit('x', { delayMs: 1_000 });
  assert.is(worker.assigned().length, 0);
  harness.advanceWithHeartbeats(1_100, worker);
  assert.is(worker.assigned().length, 1);
});

uncommitted('a submit that is sent again while it is uncommitted is one job', () => {
  const harness = new LeaderHarness();
  const worker = harness.worker({ slots: 4 });
  const client = harness.client();
  harness.heldWrites = [];
  client.submit('x', { seq: 1 });
  client.submit('x', { seq: 1 });
  // The same producer through another connection.
  const other = harness.client();
  other.submit('x', { seq: 1 });
  while (harness.heldWrites.length > 0) harness.completeWrite();
  assert.equal([payloads(worker), harness.leader.ledger.accepted], [['x'], 1]);
  assert.equal([client.receipts().length, other.receipts().length], [2, 1], 'each submit has its receipt');
});

uncommitted.run();
