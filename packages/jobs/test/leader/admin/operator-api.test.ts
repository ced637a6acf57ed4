import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DEFAULT_PRIORITY } from '#src/job/definition/job-policy.js';
import type { AdminAnswer, AdminRequest } from '#src/protocol/client/admin-messages.js';
import type { JobFilter } from '#src/protocol/client/search-messages.js';
import { policyOf } from '../../ledger/random-records.js';
import { FakeClient, type FakeWorker, LeaderHarness, nth } from '../leader-harness.js';

const operator = suite('operator api');

function call<Kind extends AdminAnswer['kind']>(
  client: FakeClient,
  kind: Kind,
  request: AdminRequest,
): AdminAnswer & { readonly kind: Kind } {
  const number = 1 + client.received.length;
  client.write({ kind: 'call', call: number, request });
  const answer = client.received.flatMap((one) =>
    one.kind === 'answer' && one.call === number ? [one.answer] : [],
  )[0];
  assert.is(answer?.kind, kind, JSON.stringify(answer));
  return answer as AdminAnswer & { readonly kind: Kind }; // compared above
}

function found(client: FakeClient, filter: JobFilter, after = 0, max = 1_000): number[] {
  const { jobs } = call(client, 'found', { kind: 'search', filter, after, max }).found;
  return jobs.map(({ job }) => job);
}

/** Two tenants, two execs, all five states. Job 1 is done, 2 dead, 3 cancelled, 4 runs, 5 to 8 are queued. */
function world(): { harness: LeaderHarness; client: FakeClient; worker: FakeWorker } {
  const harness = new LeaderHarness();
  const client = harness.keyedClient('ann');
  const other = harness.keyedClient('bob', { exec: 'two', token: 't2' });
  const worker = harness.worker({ slots: 1, execs: ['one'] });
  client.submit('1');
  worker.succeed(nth(worker.assigned(), 0));
  client.submit('2');
  worker.failFinally(nth(worker.assigned(), 1));
  other.submit('3');
  call(other, 'cancelled', { kind: 'cancel', job: 3, reason: 'enough' });
  client.submit('4');
  harness.advance(1_000);
  client.submit('5', { key: 'five' });
  other.submit('6', { key: 'six' });
  client.submit('7', { tags: ['nightly', 'eu'] });
  other.submit('8', { tags: ['eu'], orderKey: 'o1' });
  return { harness, client, worker };
}

const ROWS: readonly (readonly [filter: JobFilter, jobs: readonly number[]])[] = [
  [{}, [1, 2, 3, 4, 5, 6, 7, 8]],
  [{ state: 'queued' }, [5, 6, 7, 8]],
  [{ state: 'running' }, [4]],
  [{ state: 'done' }, [1]],
  [{ state: 'dead' }, [2]],
  [{ state: 'cancelled' }, [3]],
  [{ exec: 'two' }, [3, 6, 8]],
  [{ exec: 'none' }, []],
  [{ tenant: 'ann' }, [1, 2, 4, 5, 7]],
  [{ tenant: 'ann', exec: 'two' }, []],
  [{ tenant: 'bob', state: 'queued' }, [6, 8]],
  [{ client: 'bob/c' }, [3, 6, 8]],
  [{ group: 'g', state: 'dead' }, [2]],
  [{ exec: 'one', key: 'five' }, [5]],
  [{ tenant: 'bob', exec: 'two', key: 'six' }, [6]],
  [{ key: 'six' }, [6]],
  [{ tag: 'eu' }, [7, 8]],
  [{ tag: 'nightly' }, [7]],
  [{ tag: 'us' }, []],
  [{ tag: 'eu', tenant: 'bob' }, [8]],
  [{ orderKey: 'o1' }, [8]],
  [{ error: 'never' }, [2]],
  [{ error: 'other' }, []],
  [{ since: 1_000_001_000 }, [5, 6, 7, 8]],
  [{ until: 1_000_001_000 }, [1, 2, 3, 4]],
  [{ since: 1_000_001_000, tenant: 'ann' }, [5, 7]],
];

operator('a search finds the jobs that fit every field, live and after a restart', () => {
  const { harness, client } = world();
  for (const [filter, jobs] of ROWS) assert.equal(found(client, filter), jobs, JSON.stringify(filter));
  const again = harness.restarted().keyedClient('ann', { token: 't9' });
  for (const [filter, jobs] of ROWS) assert.equal(found(again, filter), jobs, JSON.stringify(filter));
});

operator('a search by a key has the jobs of every tenant with it', () => {
  const harness = new LeaderHarness();
  const ann = harness.keyedClient('ann');
  const bob = harness.keyedClient('bob', { token: 't2' });
  ann.submit('1', { key: 'k' });
  bob.submit('2', { key: 'k' });
  for (const filter of [{ key: 'k' }, { exec: 'one', key: 'k' }]) assert.equal(found(ann, filter), [1, 2]);
  assert.equal(found(ann, { tenant: 'bob', key: 'k' }), [2]);
});

operator('tags are refused where they are too many or too long, and are gone with their job', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  for (const tags of [['a b'], [''], ['x'.repeat(65)], new Array<string>(17).fill('t')]) {
    client.submit('1', { tags });
    assert.is(client.receipts().at(-1)?.refusal?.code, 'ERR_MESSAGE_MALFORMED');
  }
  client.submit('2', { tags: ['t'] });
  const worker = harness.worker();
  worker.succeed(nth(worker.assigned(), 0));
  assert.equal(found(client, { tag: 't', state: 'done' }), [1], 'an ended job keeps them');
  harness.advance(1_000_100);
  harness.advance(200);
  assert.is(harness.leader.ledger.tags.size, 0);
});

operator('runAt is an instant of the wall clock of the leader', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  const worker = harness.worker();
  harness.wallStepMs = 500;
  client.submit('1', { runAt: 1_000_002_000, delayMs: 9_999 });
  client.submit('2', { runAt: 1_000_000_100 });
  assert.equal(
    worker.assigned().map(({ job }) => job),
    [2],
    'an instant that is over is now',
  );
  harness.advance(1_499);
  assert.is(worker.assigned().length, 1);
  harness.advance(1);
  assert.is(worker.assigned().length, 2);
});

operator('a job with runAt does not begin a part of a millisecond before its instant', () => {
  const harness = new LeaderHarness({}, { now: 0.2, wallStepMs: 0.7 });
  const client = harness.client();
  const worker = harness.worker();
  harness.advance(0.3);
  client.submit('1', { runAt: 1_000_000_100 });
  harness.advance(98.75);
  client.submit('2', { runAt: 1_000_900_000 });
  assert.is(worker.assigned().length, 0, 'a turn, a twentieth of a millisecond before it');
  harness.advance(101);
  assert.is(worker.assigned().length, 1);
});

operator('a search comes page by page', () => {
  const { client } = world();
  const pages: number[][] = [];
  let after = 0;
  do {
    const page = call(client, 'found', { kind: 'search', filter: { tenant: 'ann' }, after, max: 2 }).found;
    pages.push(page.jobs.map(({ job }) => job));
    after = page.next;
  } while (after !== 0);
  assert.equal(pages, [[1, 2], [4, 5], [7]]);
});

operator('a search over many jobs visits only pages that may have such jobs', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  const item = { ref: 1, payload: 'x', key: '', delayMs: 0, wantsOutcome: false };
  for (let seq = 1; seq <= 10; seq += 1)
    client.write({
      kind: 'submit_all',
      low: 0,
      seq,
      items: Array.from({ length: 2_000 }, () => ({ ...item, seq })),
    });
  const rare = new FakeClient(harness, 'rare', 't7', policyOf('rare', { doneMs: 1e6, deadMs: 1e6 }));
  rare.submit('x');
  const { jobs } = harness.leader.ledger;
  let visited = 0;
  const ofPage = jobs.ofPage.bind(jobs);
  jobs.ofPage = function* (page) {
    for (const job of ofPage(page)) {
      visited += 1;
      yield job;
    }
  };
  assert.equal(found(client, { exec: 'rare' }), [20_001]);
  assert.ok(visited <= 128, `${visited} jobs visited`);
  visited = 0;
  assert.equal(found(client, { state: 'done' }), []);
  assert.equal(found(client, { exec: 'none', state: 'queued' }), []);
  assert.is(visited, 0);
});

operator('dead letters are grouped by their failure, numbers and quoted texts aside', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  const worker = harness.worker({ slots: 1 });
  const messages = ["no user 17 in 'a'", "no user 4 in 'b'", 'timeout after 30 ms', "no user 9 in 'c'"];
  messages.forEach((message, i) => {
    client.submit(String(i));
    const { job, attempt } = nth(worker.assigned(), i);
    worker.report([{ outcome: 'final', job, attempt, failure: { name: 'Error', message } }]);
  });
  const { groups } = call(client, 'dead-groups', { kind: 'dead-groups', max: 10 });
  assert.equal(
    groups.map(({ message, count, jobs }) => [message, count, jobs]),
    [
      ["no user # in '#'", 3, [1, 2, 4]],
      ['timeout after # ms', 1, [3]],
    ],
  );
  const [{ fingerprint = '' } = {}] = groups;
  assert.equal(found(client, { fingerprint }), [1, 2, 4]);
});

operator('a dead letter is redriven with another input, once, and only since the death that is meant', () => {
  const { client, worker, harness } = world();
  const edit = { kind: 'redrive-edited', job: 2, attempt: 1, payload: '"new"' } as const;
  assert.is(call(client, 'refused', { ...edit, attempt: 7 }).code, 'ERR_JOB_NOT_DEAD');
  assert.is(call(client, 'refused', { ...edit, job: 5, attempt: 0 }).code, 'ERR_JOB_NOT_DEAD');
  assert.is(call(client, 'count', edit).count, 1);
  assert.is(call(client, 'count', edit).count, 0, 'repeated');
  worker.succeed(nth(worker.assigned(), 2));
  const given = worker.assigned().find(({ job }) => job === 2 && worker.assigned().length > 3);
  const again = harness.leader.ledger.jobs.get(2);
  assert.is(again?.payload, '"new"');
  assert.ok(given !== undefined);
  const audited = call(client, 'audit', { kind: 'audit', max: 1 }).entries[0];
  assert.equal([audited?.by, audited?.action], ['ann/c', 'redrive-edited']);
});

/** Acts with another name than their request. */
const ACTIONS: Readonly<Partial<Record<AdminRequest['kind'], string>>> = {
  'cancel-where': 'cancel',
  'queue-mode': 'queue-paused',
};

operator('who did what to what is kept, over a restart and for another version', () => {
  const { client, harness } = world();
  call(client, 'count', { kind: 'redrive', jobs: [2] });
  const set = (name: string): void =>
    void call(client, 'schedule', {
      kind: 'schedule-set',
      name,
      policy: policyOf('one'),
      payload: '1',
      rule: { everyMs: 1_000, overlap: 'skip', catchUpMax: 0 },
    });
  set('s');
  call(client, 'schedule', { kind: 'schedule-pause', name: 's', paused: true });
  call(client, 'count', { kind: 'schedule-drop', name: 's' });
  const { tag } = harness.leader.ledger;
  const acts = (of: FakeClient, after?: number): unknown[] =>
    call(of, 'audit', { kind: 'audit', max: 100, ...(after === undefined ? {} : { after }) }).entries.map(
      ({ no, by, action, target, detail }) => [no, by, action, target, detail.slice(0, 6)],
    );
  const expected = [
    [1, 'bob/c', 'cancel', `${tag}-3`, 'enough'],
    [2, 'ann/c', 'redrive', `${tag}-2`, `${tag}-2`.slice(0, 6)],
    [3, 'ann/c', 'schedule-set', 's', '{"ever'],
    [4, 'ann/c', 'schedule-pause', 's', ''],
    [5, 'ann/c', 'schedule-drop', 's', ''],
  ];
  assert.equal(acts(client), expected);
  assert.equal(acts(client, 3), expected.slice(3));
  assert.equal(acts(harness.restarted().keyedClient('ann', { token: 't9' })), expected);
});

/** One act of each kind, for a world in which 2 is dead, 3 cancelled, and 5 to 8 are queued. */
const ACTS: readonly (AdminRequest & { readonly answer: AdminAnswer['kind'] })[] = [
  { kind: 'cancel', job: 5, reason: '', answer: 'cancelled' },
  { kind: 'redrive-edited', job: 2, attempt: 1, payload: '1', answer: 'count' },
  {
    kind: 'cancel-where',
    filter: { tag: 'eu' },
    reason: '',
    after: 0,
    max: 9,
    dryRun: false,
    answer: 'cancel-report',
  },
  { kind: 'queue-mode', queue: '*', mode: 'paused', answer: 'queue' },
  { kind: 'queue-limits', queue: '*', limits: { runningMax: 3 }, answer: 'queue' },
  {
    kind: 'schedule-set',
    name: 's',
    policy: policyOf('one'),
    payload: '1',
    rule: { everyMs: 1_000, overlap: 'skip', catchUpMax: 0 },
    answer: 'schedule',
  },
  { kind: 'schedule-run', name: 's', answer: 'schedule' },
  { kind: 'schedule-pause', name: 's', paused: true, answer: 'schedule' },
  { kind: 'schedule-drop', name: 's', answer: 'count' },
  { kind: 'worker-quiet', worker: 'w', quiet: true, answer: 'count' },
  { kind: 'worker-stop', worker: 'w', withinMs: 1_000, answer: 'count' },
];

operator('an act for a principal has its name behind that of the client, over a restart', () => {
  const { client, harness } = world();
  const { nextNo } = harness.leader.ledger.audit;
  for (const { answer, ...request } of ACTS) {
    call(client, answer, { ...request, principal: 'eve' });
    if (request.kind !== 'schedule-run') continue;
    const { jobs, schedules } = harness.leader.ledger;
    assert.equal([schedules.get('s')?.template.client, jobs.get(9)?.client], ['ann/c', 'ann/c']);
  }
  assert.is(harness.leader.ledger.queueControls.get('*')?.by, 'ann/c/eve');
  for (const { leader } of [harness, harness.restarted()])
    assert.equal(
      [...leader.ledger.audit.entries()]
        .filter(({ no }) => no >= nextNo)
        .map(({ by, action }) => `${by} ${action}`),
      ACTS.map(({ kind }) => `ann/c/eve ${ACTIONS[kind] ?? kind}`),
    );
});

operator('dead letters are redriven and purged for a principal', () => {
  for (const kind of ['redrive', 'purge'] as const) {
    const { client, harness } = world();
    call(client, 'count', { kind, jobs: [2], principal: 'eve' });
    const [last] = [...harness.leader.ledger.audit.entries()].reverse();
    assert.equal([last?.by, last?.action], ['ann/c/eve', kind]);
  }
});

operator('a quiet worker gets no jobs, over restarts of it and of the leader, until it is resumed', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  const worker = harness.worker({ name: 'w' });
  assert.is(call(client, 'count', { kind: 'worker-quiet', worker: 'w', quiet: true }).count, 1);
  client.submit('1');
  assert.is(worker.assigned().length, 0);
  assert.is(harness.leader.overview().workers[0]?.quiet, true);
  assert.is(
    call(client, 'refused', { kind: 'worker-quiet', worker: 'x', quiet: true }).code,
    'ERR_WORKER_UNKNOWN',
  );
  const later = harness.restarted();
  const again = later.worker({ name: 'w', incarnation: '2' });
  assert.is(again.assigned().length, 0);
  call(later.client('ann', 't5'), 'count', { kind: 'worker-quiet', worker: 'w', quiet: false });
  assert.is(again.assigned().length, 1);
});

operator('a stopped worker ends with its attempts, or hands them back uncounted at its limit', () => {
  for (const isInTime of [true, false]) {
    const harness = new LeaderHarness();
    const client = harness.client();
    const worker = harness.worker({ name: 'w', slots: 1 });
    client.submit('1');
    client.submit('2');
    assert.is(call(client, 'count', { kind: 'worker-stop', worker: 'w', withinMs: 1_000 }).count, 1);
    harness.advance(200);
    assert.not.ok(worker.received.some(({ kind }) => kind === 'refused'));
    if (isInTime) worker.succeed(nth(worker.assigned(), 0));
    else harness.advance(900);
    harness.advance(300);
    const refusal = worker.received.find((one) => one.kind === 'refused');
    assert.is(refusal?.kind === 'refused' ? refusal.code : '', 'ERR_SESSION_STOPPED');
    assert.is(worker.assigned().length, 1, 'the second job is not assigned');
    const first = harness.leader.ledger.jobs.get(1);
    assert.equal([first?.state, first?.failures, first?.crashes], [isInTime ? 'done' : 'queued', 0, 0]);
    assert.is(call(client, 'audit', { kind: 'audit', max: 1 }).entries[0]?.action, 'worker-stop');
  }
});

operator('a worker is stopped that reconnects while its stop is written', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  const worker = harness.worker({ name: 'w', incarnation: '1' });
  harness.heldWrites = [];
  client.write({ kind: 'call', call: 1, request: { kind: 'worker-stop', worker: 'w', withinMs: 1_000 } });
  worker.disconnect();
  const again = harness.worker({ name: 'w', incarnation: '1' });
  harness.completeWrite();
  harness.heldWrites = undefined;
  client.submit('1');
  harness.advance(200);
  assert.is(again.assigned().length, 0);
  assert.ok(again.received.some(({ kind }) => kind === 'refused'));
});

operator('a stopped worker that did not learn of its end gets no job when it comes back', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  harness.worker({ name: 'w', incarnation: '1' });
  call(client, 'count', { kind: 'worker-stop', worker: 'w', withinMs: 1_000 });
  harness.advance(20_000);
  const again = harness.worker({ name: 'w', incarnation: '1' });
  client.submit('1');
  harness.advance(200);
  assert.is(again.assigned().length, 0);
  const refusal = again.received.find((one) => one.kind === 'refused');
  assert.is(refusal?.kind === 'refused' ? refusal.code : '', 'ERR_SESSION_STOPPED');
  // Another process of the same name works.
  assert.is(harness.worker({ name: 'w', incarnation: '2' }).assigned().length, 1);
});

operator('clients are listed with their limits and refusals', () => {
  const harness = new LeaderHarness({ limits: { jobsMax: 1 } });
  const client = harness.client();
  client.submit('1');
  client.submit('2');
  const [view] = call(client, 'clients', { kind: 'clients' }).clients;
  assert.equal(
    [view?.client, view?.jobs, view?.jobsMax, view?.refusals],
    ['ann', 1, 1, { ERR_QUEUE_FULL: 1 }],
  );
  harness.leader.closed(client.session);
  assert.equal(call(harness.client('bob', 't2'), 'clients', { kind: 'clients' }).clients.length, 1);
});

operator('an overview counts the jobs that no connected worker may take', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  for (let i = 0; i < 3; i += 1) client.submit(String(i));
  harness.advance(100);
  const unserved = (): number | undefined => harness.leader.overview().execs?.[0]?.unserved;
  assert.is(unserved(), 3);
  harness.worker({ name: 'w', slots: 1 });
  harness.advance(100);
  assert.is(unserved(), 0);
  client.submit('one more');
  call(client, 'count', { kind: 'worker-quiet', worker: 'w', quiet: true });
  harness.advance(100);
  assert.is(unserved(), 3, 'one runs');
});

operator('an overview has the step of the wall clock', () => {
  const harness = new LeaderHarness();
  harness.advance(1_000);
  assert.is(harness.leader.overview().clockStepMs, 0);
  harness.wallStepMs = -90_000;
  harness.advance(1_000);
  assert.is(harness.leader.overview().clockStepMs, -90_000);
});

operator('stats have depth, age, rates and times of each exec', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  for (let i = 0; i < 3; i += 1) client.submit(String(i));
  harness.advance(2_000);
  const worker = harness.worker({ slots: 1 });
  harness.advance(500);
  worker.succeed(nth(worker.assigned(), 0));
  const stats = (): AdminAnswer & { readonly kind: 'stats' } => call(client, 'stats', { kind: 'stats' });
  const [exec] = stats().stats.execs;
  assert.equal([exec?.exec, exec?.queued, exec?.running, exec?.oldestMs], ['one', 1, 1, 2_500]);
  assert.equal(
    [exec?.queuedByPriority, harness.leader.overview().execs?.[0]?.queued],
    [{ [DEFAULT_PRIORITY]: 1 }, 1],
  );
  assert.ok(exec !== undefined && exec.waitMs.p50 >= 2_000 && exec.waitMs.p99 < 2_900);
  assert.ok(exec.runMs.p50 >= 500 && exec.runMs.p50 < 600);
  harness.advance(20_000);
  const [later] = stats().stats.execs;
  assert.ok(later !== undefined && later.acceptedPerSecond > 0 && later.donePerSecond > 0);
  harness.advance(120_000);
  assert.is(stats().stats.execs[0]?.acceptedPerSecond, 0);
});

operator('stats count the jobs of each exec by outcome since the leader started', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  const worker = harness.worker({ slots: 3 });
  for (let i = 0; i < 6; i += 1) client.submit(String(i));
  worker.succeed(nth(worker.assigned(), 0));
  worker.failFinally(nth(worker.assigned(), 1));
  const [running, queued] = [3, 6];
  for (const job of [running, queued]) call(client, 'cancelled', { kind: 'cancel', job, reason: '' });
  call(client, 'cancelled', { kind: 'cancel', job: 1, reason: '' });
  const policy = { ...policyOf('one', { doneMs: 1e6, deadMs: 1e6 }), startWithinMs: 300, requires: ['gpu'] };
  client.write({ kind: 'define', ref: 2, policy });
  client.submit('expires', { ref: 2 });
  harness.advance(1_000);
  const totals = (of: FakeClient): unknown =>
    call(of, 'stats', { kind: 'stats' }).stats.execs.map((one) => one.totals);
  assert.equal(totals(client), [{ accepted: 7, done: 1, dead: 1, cancelled: 3, failed: 1 }]);
  assert.equal(totals(harness.restarted().client('ann', 't5')), [
    { accepted: 0, done: 0, dead: 0, cancelled: 0, failed: 0 },
  ]);
});

operator(
  'a client without the right sees neither clients nor stats nor actors nor acts, and steers no worker',
  () => {
    const harness = new LeaderHarness();
    const access = { identity: 'ann', permits: () => false, owns: () => true };
    const client = harness.client('ann/c', 't1', access);
    for (const request of [
      { kind: 'clients' },
      { kind: 'stats' },
      { kind: 'actors' },
      { kind: 'audit', max: 1 },
      { kind: 'worker-stop', worker: 'w', withinMs: 0 },
    ] as const)
      call(client, 'forbidden', request);
  },
);

operator.run();
