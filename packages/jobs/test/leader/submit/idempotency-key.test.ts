import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { policyOf } from '../../ledger/random-records.js';
import { FakeClient, type FakeWorker, LeaderHarness, nth } from '../leader-harness.js';

const keys = suite('idempotency keys');

keys(
  'the key of a done job returns that job while the window lasts, also when the result was dropped',
  () => {
    const harness = new LeaderHarness();
    const worker = harness.worker();
    const client = new FakeClient(harness, 'ann', 't1', policyOf('one', { doneMs: 100, deadMs: 100 }));
    client.submit('x', { key: 'k' });
    worker.succeed(nth(worker.assigned(), 0));
    harness.advanceWithHeartbeats(500, worker);
    assert.is(harness.leader.ledger.jobs.size, 0);
    for (const one of [harness, harness.restarted()]) {
      const again = new FakeClient(one, 'bob', 't2');
      const receipt = again.submit('x', { key: 'k' });
      assert.equal([receipt?.jobs, receipt?.duplicate], [[1], true]);
      assert.is(again.submit('y', { key: 'k' })?.refusal?.code, 'ERR_KEY_CONFLICT');
    }
    assert.is(worker.assigned().length, 1);
  },
);

keys('a key is free again once its job was purged, expired dead, or was cancelled and dropped', () => {
  const ends: Record<string, (client: FakeClient, worker: FakeWorker) => void> = {
    purged: (client, worker) => {
      worker.failFinally(nth(worker.assigned(), 0));
      client.write({ kind: 'call', call: 1, request: { kind: 'purge', jobs: [1] } });
    },
    'expired among the dead letters': (_client, worker) => worker.failFinally(nth(worker.assigned(), 0)),
    'cancelled and dropped': (client) =>
      client.write({ kind: 'call', call: 1, request: { kind: 'cancel', job: 1, reason: '' } }),
  };
  for (const [name, end] of Object.entries(ends)) {
    const harness = new LeaderHarness();
    const worker = harness.worker();
    const keep = { doneMs: 300, deadMs: name === 'purged' ? 1e6 : 300 };
    const client = new FakeClient(harness, 'ann', 't1', policyOf('one', keep));
    client.submit('x', { key: 'k' });
    end(client, worker);
    if (name !== 'purged') {
      assert.equal(client.submit('x', { key: 'k' })?.jobs, [1], `${name}: known while it is kept`);
      harness.advanceWithHeartbeats(600, worker);
    }
    for (const one of [harness, harness.restarted()]) {
      const receipt = new FakeClient(one, 'ann', 't2').submit('other', { key: 'k' });
      assert.equal([receipt?.jobs, receipt?.duplicate], [[2], false], name);
    }
  }
});

keys('keys of two identities are independent; two names of one identity share their keys', () => {
  const harness = new LeaderHarness();
  const jobs = ['ann/a', 'ann/b', 'urn://x/a', 'urn://y/a', 'local', 'other'].map(
    (name) => new FakeClient(harness, name, 't1').submit('x', { key: 'k' })?.jobs[0],
  );
  assert.equal(jobs, [1, 1, 2, 3, 4, 4]);
});

keys.run();
