import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BATCH_JOBS_MAX } from '#src/protocol/worker/run-time-estimate.js';
import { policyOf } from '../../ledger/random-records.js';
import { FakeClient, LeaderHarness } from '../leader-harness.js';

const registries = suite('session registry');

registries('an old connection that ends late does not end the session that replaced it', () => {
  const harness = new LeaderHarness();
  const old = harness.worker({ slots: 1 });
  const fresh = harness.worker({ slots: 1 });
  assert.ok(
    old.received.some((message) => message.kind === 'refused' && message.code === 'ERR_SESSION_REPLACED'),
  );
  old.disconnect();
  harness.client().submit('x');
  assert.is(fresh.assigned().length, 1);
  assert.is(old.assigned().length, 0);
});

// No part of the message counts.
registries('a malformed worker message ends its session with a code', () => {
  const harness = new LeaderHarness();
  const worker = harness.worker({ slots: 1 });
  harness.leader.fromWorker(worker.session, {
    kind: 'report',
    ends: [],
    credit: { jobs: -5, bytes: 0 },
    cpu: 0,
    lagMs: 0,
  });
  harness.settle();
  assert.ok(
    worker.received.some((message) => message.kind === 'refused' && message.code === 'ERR_SESSION_MALFORMED'),
  );
  harness.client().submit('x');
  assert.is(worker.assigned().length, 0);
  const greedy = harness.worker({ name: 'greedy', slots: 1 });
  // A worker with short jobs may grant one batch beyond its slots (ADR 0410), and no more.
  assert.is(greedy.assigned().length, 1);
  greedy.report([], BATCH_JOBS_MAX + 1);
  assert.not(greedy.received.some((message) => message.kind === 'refused'));
  greedy.report([], 1);
  assert.ok(greedy.received.some((message) => message.kind === 'refused'));
  for (const name of ['', 'a b', 'x'.repeat(200)]) {
    const odd = harness.worker({ name });
    assert.ok(
      odd.received.some((message) => message.kind === 'refused'),
      name,
    );
  }
});

registries(
  'a policy that `defineJob` would refuse is refused with its submits, and the session goes on',
  () => {
    const good = policyOf('one');
    const odd = [
      { ...good, exec: 'a..b' },
      { ...good, group: 'a.b' },
      { ...good, leaseMs: -1 },
      { ...good, retry: { ...good.retry, attempts: 0 } },
      { ...good, retry: { ...good.retry, backoff: 'wild' as 'linear' } },
      { ...good, limits: { ...good.limits, runMs: Number.NaN } },
    ];
    for (const policy of odd) {
      const harness = new LeaderHarness();
      const client = new FakeClient(harness, 'ann', 't1', policy);
      assert.is(client.submit('x')?.refusal?.code, 'ERR_EXEC_UNSUPPORTED', JSON.stringify(policy));
      assert.not(client.received.some((message) => message.kind === 'refused'));
      assert.is(harness.leader.ledger.policies.size, 0);
    }
  },
);

registries('a session with too many definitions is ended', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  for (let ref = 2; ref < 4_200; ref += 1) client.write({ kind: 'define', ref, policy: policyOf('one') });
  assert.is(client.received.at(-1)?.kind, 'refused');
  assert.is(client.session.policies.size, 0);
});

registries('a worker with a key names the group of every exec; one without a key need not', () => {
  const harness = new LeaderHarness();
  const access = { identity: 'bob', permits: () => true, owns: () => true };
  const refused = harness.worker({ execs: ['one'], access }).received[0];
  assert.is(refused?.kind === 'refused' ? refused.code : '', 'ERR_SESSION_MALFORMED');
  assert.is(harness.worker({ execs: ['g/one'], access }).received[0]?.kind, 'welcome');
  assert.is(harness.worker({ execs: ['one'] }).received[0]?.kind, 'welcome');
});

registries.run();
