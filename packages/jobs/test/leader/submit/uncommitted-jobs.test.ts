import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LeaderRig, type PlayedWorker } from '../leader-rig.js';

// ADR 0058: a worker is chosen while the job's own record is still on its way to the disk.
const flights = suite('flight');

const payloads = (worker: PlayedWorker): unknown[] => worker.assigned().map((one) => one.payload);

flights('a job that meets credit waits for the disk twice: before it is sent, before its outcome is', () => {
  const rig = new LeaderRig();
  const worker = rig.worker();
  const client = rig.client();
  const before = rig.appends;
  client.submit('x');
  assert.equal([worker.assigned().length, rig.appends - before], [1, 1]);
  worker.ok(worker.assigned()[0] ?? { job: 0, attempt: 0 });
  assert.equal([client.outcomes().length, rig.appends - before], [1, 2]);
});

flights('nobody hears of it before both records are durable', () => {
  const rig = new LeaderRig();
  const worker = rig.worker();
  const client = rig.client();
  rig.held = [];
  client.submit('x');
  assert.equal([worker.assigned().length, client.receipts().length, rig.held.length], [0, 0, 1]);
  assert.is(rig.leader.ledger.jobs.size, 0);
  rig.written();
  assert.equal([worker.assigned().length, client.receipts().length], [1, 1]);
});

flights('what was never written never happened: neither the job nor the credit for it', () => {
  const rig = new LeaderRig();
  rig.worker();
  const client = rig.client();
  rig.held = [];
  client.submit('x');
  const next = rig.restarted();
  assert.is(next.leader.ledger.accepted, 0);
  const worker = next.worker({ incarnation: '2' });
  next.client('ann', 't2').submit('y');
  assert.equal(payloads(worker), ['y']);
});

flights('a worker that is lost meanwhile gives it back uncounted', () => {
  const rig = new LeaderRig();
  const lost = rig.worker({ name: 'lost', slots: 1 });
  const client = rig.client();
  rig.held = [];
  client.submit('x');
  lost.lose();
  const other = rig.worker({ name: 'other', slots: 1 });
  rig.held.splice(0).forEach((write) => {
    write();
  });
  rig.held = undefined;
  rig.settle();
  assert.is(lost.assigned().length, 0);
  assert.equal(
    other.assigned().map((one) => [one.payload, one.attempt]),
    [['x', 2]],
  );
  const job = rig.leader.ledger.jobs.get(1);
  assert.equal([job?.failures, job?.crashes], [0, 0]);
});

flights('the same worker in a new connection did not pay for it, so it is not sent there', () => {
  const rig = new LeaderRig();
  const first = rig.worker({ slots: 1 });
  const client = rig.client();
  rig.held = [];
  client.submit('x');
  first.lose();
  const again = rig.worker({ slots: 1 });
  rig.written();
  rig.written();
  assert.equal([first.assigned().length, again.assigned().length], [0, 0]);
  rig.held.splice(0).forEach((write) => {
    write();
  });
  rig.held = undefined;
  rig.settle();
  assert.equal(
    again.assigned().map((one) => one.attempt),
    [2],
  );
});

flights('jobs of one client keep their order, on the disk or on the way to it', () => {
  const rig = new LeaderRig();
  // Four slots, one of them free now.
  const held = [7, 8, 9].map((job) => ({ job, attempt: 1 }));
  const worker = rig.worker({ slots: 4, held });
  const client = rig.client();
  client.submit('running');
  rig.held = [];
  for (const text of ['first', 'second']) client.submit(text);
  rig.written();
  client.submit('third');
  worker.report([], 3);
  while (rig.held.length > 0) rig.written();
  assert.equal(payloads(worker), ['running', 'first', 'second', 'third']);
});

flights('credit in bytes counts what is on the way', () => {
  const rig = new LeaderRig();
  const worker = rig.worker({ slots: 4 });
  const client = rig.client();
  rig.held = [];
  // Each is larger than all bytes the worker has granted: one of them runs, alone.
  for (const text of ['a', 'b']) client.submit(text.repeat(1_000_001));
  while (rig.held.length > 0) rig.written();
  assert.is(worker.assigned().length, 1);
});

flights('the cap of a client counts what is on the way', () => {
  const rig = new LeaderRig({ limits: { clientRunningMax: 1 } });
  const worker = rig.worker({ slots: 4 });
  const [ann, bob] = [rig.client('ann'), rig.client('bob')];
  rig.held = [];
  for (const text of ['a1', 'a2']) ann.submit(text);
  bob.submit('b1');
  while (rig.held.length > 0) rig.written();
  assert.equal(payloads(worker), ['a1', 'b1']);
});

flights('a delayed job is not sent before its time, though there is credit', () => {
  const rig = new LeaderRig();
  const worker = rig.worker();
  rig.client().submit('x', { delayMs: 1_000 });
  assert.is(worker.assigned().length, 0);
  rig.beat(1_100, worker);
  assert.is(worker.assigned().length, 1);
});

flights('a submit that is sent again while it flies is one job', () => {
  const rig = new LeaderRig();
  const worker = rig.worker({ slots: 4 });
  const client = rig.client();
  rig.held = [];
  client.submit('x', { seq: 1 });
  client.submit('x', { seq: 1 });
  // The same producer through another connection.
  const other = rig.client();
  other.submit('x', { seq: 1 });
  while (rig.held.length > 0) rig.written();
  assert.equal([payloads(worker), rig.leader.ledger.accepted], [['x'], 1]);
  assert.equal(
    [client.receipts().length, other.receipts().length],
    [2, 1],
    'every one of them has its receipt',
  );
});

flights.run();
