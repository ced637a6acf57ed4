import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { SubmitItem } from '#src/protocol/client/client-messages.js';
import { policyOf } from '../../ledger/random-records.js';
import { FakeClient, LeaderHarness, nth } from '../leader-harness.js';

const waiters = suite('outcome waiters');

/** A submit whose outcome is wanted. */
function wanted(seq: number): SubmitItem {
  return { seq, ref: 1, payload: `${seq}`, key: '', delayMs: 0, wantsOutcome: true };
}

waiters('an outcome goes to every open session that waits for it', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  client.write({ kind: 'submit', low: 0, items: [wanted(1), wanted(2)] });
  const other = harness.client('other');
  other.write({ kind: 'await', jobs: [1, 2] });
  harness.leader.closed(client.session);
  const again = harness.client();
  const worker = harness.worker({ slots: 2 });
  worker.succeed(nth(worker.assigned(), 0));
  assert.equal(client.outcomes(), [], 'its connection is gone');
  const jobOf = ({ job }: { readonly job: number }): number => job;
  assert.equal(other.outcomes().map(jobOf), [1]);
  again.write({ kind: 'submit', low: 0, items: [wanted(2)] });
  assert.equal(
    again.receipts().map(({ seq, duplicate }) => ({ seq, duplicate })),
    [{ seq: 2, duplicate: true }],
  );
  worker.succeed(nth(worker.assigned(), 1));
  assert.equal(again.outcomes().map(jobOf), [2]);
  assert.equal(other.outcomes().map(jobOf), [1, 2]);
});

const shortLived = policyOf('one', { doneMs: 10, deadMs: 1e6 });

// Results with the longest retention displace the others, even that of the job that has just ended.
waiters('a job whose result is dropped at once has ended, and its client gets the outcome', () => {
  for (const limits of [{ resultsMax: 1 }, { resultsMax: 0 }, { resultsBytesMax: 1 }]) {
    const harness = new LeaderHarness({ limits });
    const worker = harness.worker({ slots: 2 });
    const first = harness.client();
    first.submit('kept long');
    worker.succeed(nth(worker.assigned(), 0), '1');
    const second = new FakeClient(harness, 'bob', 't1', shortLived);
    second.submit('dropped at once');
    worker.succeed(nth(worker.assigned(), 1), '22');
    assert.equal(
      second.outcomes().map((one) => [one.state, one.result]),
      [['done', '22']],
      JSON.stringify(limits),
    );
    assert.is(harness.counts()['running'], 0);
    assert.is(worker.session.leases.length, 0);
    assert.equal(harness.restarted().counts(), harness.counts());
  }
});

waiters('a cancel whose outcome is dropped at once is answered', () => {
  const harness = new LeaderHarness({ limits: { resultsMax: 0 } });
  const client = harness.client();
  client.submit('waits');
  client.write({ kind: 'call', call: 7, request: { kind: 'cancel', job: 1, reason: 'enough' } });
  const answers = client.received.flatMap((message) => (message.kind === 'answer' ? [message.answer] : []));
  assert.equal(answers, [{ kind: 'cancelled', state: 'cancelled' }]);
  assert.equal(
    client.outcomes().map((one) => one.state),
    ['cancelled'],
  );
});

waiters.run();
