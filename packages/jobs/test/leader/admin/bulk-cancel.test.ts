import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { AdminAnswer } from '#src/protocol/client/admin-messages.js';
import { BULK_JOBS_MAX } from '#src/protocol/client/admin-messages.js';
import type { CancelWhereRequest, JobFilter } from '#src/protocol/client/search-messages.js';
import { type FakeClient, LeaderHarness, nth } from '../leader-harness.js';

const bulk = suite('cancel by search');

type Report = AdminAnswer & { readonly kind: 'cancel-report' };

function cancelled(
  client: FakeClient,
  filter: JobFilter,
  more: Partial<Omit<CancelWhereRequest, 'kind' | 'filter'>> = {},
): Report {
  const request = {
    kind: 'cancel-where',
    filter,
    reason: 'wrong list',
    after: 0,
    max: 1_000,
    dryRun: false,
  } as const;
  const answer = client.call({ ...request, ...more });
  assert.is(answer?.kind, 'cancel-report', JSON.stringify(answer));
  return answer as Report; // compared above
}

function states(harness: LeaderHarness): string {
  return [...harness.leader.ledger.jobs.values()].map(({ state }) => state.slice(0, 4)).join(' ');
}

/** Job 1 is done, 2 runs, 3 to 5 are queued; 5 is of another exec and client. */
function world(): {
  harness: LeaderHarness;
  client: FakeClient;
  other: FakeClient;
  worker: ReturnType<LeaderHarness['worker']>;
} {
  const harness = new LeaderHarness();
  const client = harness.keyedClient('ann');
  const other = harness.keyedClient('bob', { exec: 'two', token: 't2' });
  const worker = harness.worker({ slots: 1, execs: ['one'] });
  client.submit('1', { tags: ['eu'] });
  worker.succeed(nth(worker.assigned(), 0));
  client.submit('2', { tags: ['eu'] });
  client.submit('3', { tags: ['eu'] });
  client.submit('4');
  other.submit('5', { tags: ['eu'] });
  return { harness, client, other, worker };
}

bulk('a dry run counts queued and running jobs that fit, and changes nothing', () => {
  const { harness, client } = world();
  const before = states(harness);
  assert.equal(cancelled(client, { tag: 'eu' }, { dryRun: true, max: 1 }), {
    kind: 'cancel-report',
    matched: 3,
    cancelled: 0,
    next: 0,
  });
  assert.is(states(harness), before);
  assert.is(harness.leader.ledger.audit.nextNo, 1);
});

bulk('the jobs that fit are cancelled, a running one is aborted, and others stay', () => {
  const { harness, client, worker } = world();
  const { matched, cancelled: done, next } = cancelled(client, { exec: 'one', tag: 'eu' });
  assert.equal([matched, done, next], [2, 2, 0]);
  assert.is(states(harness), 'done canc canc queu queu');
  assert.equal(worker.aborted(), ['2.1 cancelled']);
  const job = harness.leader.ledger.jobs.get(3);
  assert.is(job?.end?.reason, 'wrong list');
  assert.is(states(harness.restarted()), 'done canc canc queu queu');
});

bulk('one entry of the audit names its client, the number, the reason and the filter', () => {
  const { harness, client } = world();
  cancelled(client, { tag: 'eu' });
  const entries = [...harness.restarted().leader.ledger.audit.entries()];
  const { tag } = harness.leader.ledger;
  assert.equal(
    entries.map(({ by, action, target, detail }) => [by, action, target, detail]),
    [['ann/c', 'cancel', '3 jobs', `wrong list; {"tag":"eu"}; ${tag}-2 ${tag}-3 ${tag}-5`]],
  );
});

bulk('a batch has at most so many jobs, and the next one goes on behind it', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  for (let n = 0; n < BULK_JOBS_MAX + 10; n += 1) client.submit(String(n));
  const first = cancelled(client, { exec: 'one' }, { max: 1_000_000 });
  assert.equal([first.matched, first.cancelled, first.next], [BULK_JOBS_MAX, BULK_JOBS_MAX, BULK_JOBS_MAX]);
  const rest = cancelled(client, { exec: 'one' }, { after: first.next });
  assert.equal([rest.matched, rest.cancelled, rest.next], [10, 10, 0]);
  assert.is(harness.counts()['queued'], 0);
});

bulk('a job whose assignment is being written is cancelled behind it', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  client.submit('1');
  harness.heldWrites = [];
  const worker = harness.worker();
  assert.is(harness.leader.ledger.jobs.get(1)?.pending, true);
  const request = {
    kind: 'cancel-where',
    filter: { exec: 'one' },
    reason: '',
    after: 0,
    max: 9,
    dryRun: false,
  };
  assert.is(client.call(request as CancelWhereRequest), undefined, 'it waits for the record');
  while (harness.heldWrites.length > 0) harness.completeWrite();
  const answers = client.received.flatMap((one) => (one.kind === 'answer' ? [one.answer] : []));
  assert.equal(answers, [{ kind: 'cancel-report', matched: 1, cancelled: 1, next: 0 }]);
  assert.equal(worker.aborted(), ['1.1 cancelled']);
  assert.is(states(harness), 'canc');
});

bulk('jobs that the client may not cancel are neither counted nor cancelled', () => {
  const harness = new LeaderHarness();
  const own = harness.keyedClient('ann');
  own.submit('1');
  const stranger = harness.client('eve/c', 't3', {
    identity: 'eve',
    permits: () => false,
    owns: (client) => client.startsWith('eve/'),
  });
  assert.is(cancelled(stranger, { exec: 'one' }).matched, 0);
  assert.is(harness.counts()['queued'], 1);
});

bulk.run();
