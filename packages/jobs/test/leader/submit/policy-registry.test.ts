import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { policyOf } from '../../ledger/legal-history.js';
import { LeaderRig, PlayedClient } from '../leader-rig.js';

// ADR 0059: a policy that no job and no open session refers to is forgotten once there are many.
const books = suite('policy book');

const keep = { doneMs: 1e6, deadMs: 1e6 };

function visitor(rig: LeaderRig, name: string): PlayedClient {
  return new PlayedClient(rig, name, 't', policyOf(name, keep));
}

/** Clients with a definition each come, say it and go. */
function parade(rig: LeaderRig, count: number): void {
  for (let i = 0; i < count; i += 1) {
    rig.leader.closed(visitor(rig, `passing${i}`).session);
    rig.settle();
  }
}

function wasRefused(client: PlayedClient): boolean {
  return client.submit('x')?.refusal?.code === 'ERR_POLICIES_FULL';
}

books('definitions that nobody uses any more do not pile up, live or after a restart', () => {
  const rig = new LeaderRig();
  parade(rig, 2_000);
  assert.ok(rig.leader.ledger.policies.size <= 257, `${rig.leader.ledger.policies.size} are kept`);
  const again = rig.restarted();
  assert.equal([...again.leader.ledger.policies.keys()], [...rig.leader.ledger.policies.keys()]);
  assert.ok(!wasRefused(visitor(again, 'passing1')));
});

books('what a job refers to stays, though its client is gone', () => {
  const rig = new LeaderRig();
  const gone = visitor(rig, 'lasting');
  gone.submit('x');
  rig.leader.closed(gone.session);
  parade(rig, 600);
  const after = rig.restarted();
  const worker = after.worker({ execs: ['lasting'] });
  assert.equal(
    worker.assigned().map((one) => one.payload),
    ['x'],
  );
});

books('what an open session has announced stays', () => {
  const rig = new LeaderRig();
  const patient = visitor(rig, 'patient');
  parade(rig, 600);
  assert.is(patient.submit('late')?.refusal, undefined);
  assert.is(rig.leader.ledger.counts.queued, 1);
  assert.equal(rig.fatal, []);
});

books('a job that lands while its policy is being dropped keeps it', () => {
  const rig = new LeaderRig();
  const hasty = visitor(rig, 'hasty');
  parade(rig, 254);
  rig.held = [];
  hasty.submit('x');
  rig.leader.closed(hasty.session);
  // One more definition than is kept without looking: the drop is staged behind the submit.
  visitor(rig, 'one');
  visitor(rig, 'two');
  while (rig.held.length > 0) rig.written();
  assert.ok(rig.leader.ledger.policies.size < 10, 'the others were dropped');
  assert.equal([rig.leader.ledger.counts.queued, rig.fatal.length], [1, 0]);
  rig.held = undefined;
  // The same definition finds its policy again.
  const policies = rig.leader.ledger.policies.size;
  assert.is(visitor(rig, 'hasty').submit('y')?.refusal, undefined);
  assert.is(rig.leader.ledger.policies.size, policies);
});

books('only definitions in use count against the limit', () => {
  const rig = new LeaderRig({ limits: { policiesMax: 3 } });
  const open = ['a', 'b', 'c'].map((name) => visitor(rig, name));
  assert.ok(wasRefused(visitor(rig, 'd')));
  rig.leader.closed((open[0] as PlayedClient).session);
  assert.ok(!wasRefused(visitor(rig, 'e')));
  assert.ok(wasRefused(visitor(rig, 'f')));
});

books.run();
