import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { policyOf } from '../../ledger/random-records.js';
import { FakeClient, LeaderHarness } from '../leader-harness.js';

// ADR 0059: a policy that no job and no open session refers to is forgotten once there are many.
const books = suite('policy book');

const keep = { doneMs: 1e6, deadMs: 1e6 };

function visitor(harness: LeaderHarness, name: string): FakeClient {
  return new FakeClient(harness, name, 't', policyOf(name, keep));
}

/** Clients with a definition each come, say it and go. */
function parade(harness: LeaderHarness, count: number): void {
  for (let i = 0; i < count; i += 1) {
    harness.leader.closed(visitor(harness, `passing${i}`).session);
    harness.settle();
  }
}

function wasRefused(client: FakeClient): boolean {
  return client.submit('x')?.refusal?.code === 'ERR_POLICIES_FULL';
}

books('definitions that nobody uses any more do not pile up, live or after a restart', () => {
  const harness = new LeaderHarness();
  parade(harness, 2_000);
  assert.ok(harness.leader.ledger.policies.size <= 257, `${harness.leader.ledger.policies.size} are kept`);
  const again = harness.restarted();
  assert.equal([...again.leader.ledger.policies.keys()], [...harness.leader.ledger.policies.keys()]);
  assert.ok(!wasRefused(visitor(again, 'passing1')));
});

books('what a job refers to stays, though its client is gone', () => {
  const harness = new LeaderHarness();
  const gone = visitor(harness, 'lasting');
  gone.submit('x');
  harness.leader.closed(gone.session);
  parade(harness, 600);
  const after = harness.restarted();
  const worker = after.worker({ execs: ['lasting'] });
  assert.equal(
    worker.assigned().map((one) => one.payload),
    ['x'],
  );
});

books('what an open session has announced stays', () => {
  const harness = new LeaderHarness();
  const patient = visitor(harness, 'patient');
  parade(harness, 600);
  assert.is(patient.submit('late')?.refusal, undefined);
  assert.is(harness.leader.ledger.counts.queued, 1);
  assert.equal(harness.fatal, []);
});

books('a job that lands while its policy is being dropped keeps it', () => {
  const harness = new LeaderHarness();
  const hasty = visitor(harness, 'hasty');
  parade(harness, 254);
  harness.heldWrites = [];
  hasty.submit('x');
  harness.leader.closed(hasty.session);
  // One more definition than is kept without looking: the drop is staged behind the submit.
  visitor(harness, 'one');
  visitor(harness, 'two');
  while (harness.heldWrites.length > 0) harness.completeWrite();
  assert.ok(harness.leader.ledger.policies.size < 10, 'the others were dropped');
  assert.equal([harness.leader.ledger.counts.queued, harness.fatal.length], [1, 0]);
  harness.heldWrites = undefined;
  // The same definition finds its policy again.
  const policies = harness.leader.ledger.policies.size;
  assert.is(visitor(harness, 'hasty').submit('y')?.refusal, undefined);
  assert.is(harness.leader.ledger.policies.size, policies);
});

books('only definitions in use count against the limit', () => {
  const harness = new LeaderHarness({ limits: { policiesMax: 3 } });
  const open = ['a', 'b', 'c'].map((name) => visitor(harness, name));
  assert.ok(wasRefused(visitor(harness, 'd')));
  harness.leader.closed((open[0] as FakeClient).session);
  assert.ok(!wasRefused(visitor(harness, 'e')));
  assert.ok(wasRefused(visitor(harness, 'f')));
});

books.run();
