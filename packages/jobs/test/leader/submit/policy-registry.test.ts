import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { policyOf } from '../../ledger/random-records.js';
import { FakeClient, LeaderHarness } from '../leader-harness.js';

// A policy that no job and no open session refers to is dropped once there are many (ADR 0402).
const registries = suite('policy registry');

const keep = { doneMs: 1e6, deadMs: 1e6 };

function clientOf(harness: LeaderHarness, name: string): FakeClient {
  return new FakeClient(harness, name, 't', policyOf(name, keep));
}

/** Clients with a definition each open a session and close it. */
function openAndClose(harness: LeaderHarness, count: number): void {
  for (let i = 0; i < count; i += 1) {
    harness.leader.closed(clientOf(harness, `passing${i}`).session);
    harness.settle();
  }
}

function wasRefused(client: FakeClient): boolean {
  return client.submit('x')?.refusal?.code === 'ERR_POLICIES_FULL';
}

registries('unused policies do not accumulate, live or after a restart', () => {
  const harness = new LeaderHarness();
  openAndClose(harness, 2_000);
  assert.ok(harness.leader.ledger.policies.size <= 257, `${harness.leader.ledger.policies.size} are kept`);
  const again = harness.restarted();
  assert.equal([...again.leader.ledger.policies.keys()], [...harness.leader.ledger.policies.keys()]);
  assert.ok(!wasRefused(clientOf(again, 'passing1')));
});

registries('a policy that a job refers to stays when its client has gone', () => {
  const harness = new LeaderHarness();
  const gone = clientOf(harness, 'lasting');
  gone.submit('x');
  harness.leader.closed(gone.session);
  openAndClose(harness, 600);
  const after = harness.restarted();
  const worker = after.worker({ execs: ['lasting'] });
  assert.equal(
    worker.assigned().map((one) => one.payload),
    ['x'],
  );
});

registries('a policy that an open session has announced stays', () => {
  const harness = new LeaderHarness();
  const open = clientOf(harness, 'open');
  openAndClose(harness, 600);
  assert.is(open.submit('late')?.refusal, undefined);
  assert.is(harness.leader.ledger.counts.queued, 1);
  assert.equal(harness.fatal, []);
});

registries('a job that is committed while its policy is being dropped keeps the policy', () => {
  const harness = new LeaderHarness();
  const closing = clientOf(harness, 'closing');
  openAndClose(harness, 254);
  harness.heldWrites = [];
  closing.submit('x');
  harness.leader.closed(closing.session);
  // One more policy than is kept without a sweep: the drop is staged behind the submit.
  clientOf(harness, 'one');
  clientOf(harness, 'two');
  while (harness.heldWrites.length > 0) harness.completeWrite();
  assert.ok(harness.leader.ledger.policies.size < 10, 'the others were dropped');
  assert.equal([harness.leader.ledger.counts.queued, harness.fatal.length], [1, 0]);
  harness.heldWrites = undefined;
  // The same definition finds its policy again.
  const policies = harness.leader.ledger.policies.size;
  assert.is(clientOf(harness, 'closing').submit('y')?.refusal, undefined);
  assert.is(harness.leader.ledger.policies.size, policies);
});

registries('only policies in use count against the limit', () => {
  const harness = new LeaderHarness({ limits: { policiesMax: 3 } });
  const open = ['a', 'b', 'c'].map((name) => clientOf(harness, name));
  assert.ok(wasRefused(clientOf(harness, 'd')));
  harness.leader.closed((open[0] as FakeClient).session);
  assert.ok(!wasRefused(clientOf(harness, 'e')));
  assert.ok(wasRefused(clientOf(harness, 'f')));
});

registries.run();
