import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { SubmitItem } from '#src/protocol/client-messages.js';
import { BATCH_JOBS_MAX } from '#src/protocol/run-time-estimate.js';
import type { Assignment } from '#src/protocol/worker-messages.js';
import { policyOf } from '../ledger/legal-history.js';
import { LeaderRig, PlayedClient, type PlayedWorker } from './leader-rig.js';

const leaders = suite('leader');

/** The n-th assignment a worker got; the test would be wrong without it. */
function nth<T>(all: readonly T[], index: number): T {
  const one = all[index];
  if (one === undefined) throw new Error(`there are ${all.length}, not ${index + 1}`);
  return one;
}

// A1: either may come first. A9: credit is a number, not a flag.
leaders('credit is kept while nothing waits and spent when something comes', () => {
  const rig = new LeaderRig();
  const worker = rig.worker({ slots: 2 });
  const client = rig.client();
  for (const text of ['1', '2', '3']) client.submit(text);
  assert.equal(
    worker.assigned().map((one) => one.payload),
    ['1', '2'],
  );
  worker.ok(nth(worker.assigned(), 0));
  assert.equal(
    worker.assigned().map((one) => one.payload),
    ['1', '2', '3'],
  );
});

// A28: the decision and the spending are one step; many jobs in one turn never exceed the credit.
leaders('a worker never gets more than it asked for', () => {
  const rig = new LeaderRig();
  const client = rig.client();
  for (let i = 0; i < 50; i += 1) client.submit(`${i}`);
  const worker = rig.worker({ slots: 3 });
  assert.is(worker.assigned().length, 3);
  worker.report([]);
  assert.is(worker.assigned().length, 3);
});

// A20: a lease is not a time-out for the work. The beat renews it, however long the job takes.
leaders('a long job is not run again while its worker beats', () => {
  const rig = new LeaderRig();
  const client = rig.client();
  client.submit('long');
  const worker = rig.worker();
  for (let i = 0; i < 18; i += 1) {
    rig.advance(50);
    worker.report([]);
  }
  assert.is(worker.assigned().length, 1);
  assert.equal(rig.counts()['running'], 1);
});

leaders('a worker that is silent for the lease loses the job, and its late word changes nothing', () => {
  const rig = new LeaderRig();
  const client = rig.client();
  client.submit('x');
  const mute = rig.worker({ name: 'mute', slots: 1 });
  const attempt = nth(mute.assigned(), 0);
  // A lease of one second; none is shorter than three beats.
  rig.advance(2_900);
  assert.equal(mute.aborted(), []);
  rig.advance(600);
  assert.equal(mute.aborted(), [`${attempt.job}.1 fenced`]);
  const other = rig.worker({ name: 'other', slots: 1 });
  rig.beat(2_000, other);
  assert.is(nth(other.assigned(), 0).attempt, 2);
  // A22: the ack of attempt 1 does not complete attempt 2.
  mute.ok(attempt, '"stale"');
  assert.equal(rig.counts()['done'], 0);
  other.ok(nth(other.assigned(), 0), '"fresh"');
  assert.equal(
    client.outcomes().map((one) => one.result),
    ['"fresh"'],
  );
});

leaders('a hung handler with a living beat is ended after its run time and the grace', () => {
  const rig = new LeaderRig({ times: { runGraceMs: 200 } });
  rig.client().submit('x');
  const worker = rig.worker({ slots: 1 });
  for (let i = 0; i < 30; i += 1) {
    rig.advance(50);
    worker.report([]);
  }
  assert.equal(worker.aborted().length, 1);
  assert.equal(rig.leader.ledger.jobs.get(1)?.failures, 1);
});

// A3: a lost worker; and the grace in which it may come back.
leaders('a worker that returns within the grace keeps its job; after it the job runs elsewhere', () => {
  const rig = new LeaderRig();
  const client = rig.client();
  client.submit('x');
  const first = rig.worker({ slots: 1 });
  const attempt = nth(first.assigned(), 0);
  first.lose();
  rig.advance(900);
  const again = rig.worker({ slots: 1, held: [attempt] });
  rig.advance(500);
  assert.equal([again.assigned().length, again.aborted().length], [0, 0]);
  again.lose();
  const other = rig.worker({ name: 'other', slots: 1 });
  rig.advance(1_300);
  const taken = nth(other.assigned(), 0);
  assert.equal([taken.job, taken.attempt], [attempt.job, 2]);
  const late = rig.worker({ slots: 1, held: [attempt] });
  assert.equal(late.aborted(), [`${attempt.job}.1 fenced`]);
});

leaders('an assignment that a returning worker never got goes back uncounted', () => {
  const rig = new LeaderRig();
  rig.client().submit('x');
  const first = rig.worker({ slots: 1 });
  first.lose();
  const again = rig.worker({ slots: 1, held: [] });
  assert.is(nth(again.assigned(), 0).attempt, 2);
  const job = rig.leader.ledger.jobs.get(1);
  assert.equal([job?.failures, job?.crashes], [0, 0]);
});

// A35: the end of an old connection does not touch the new one.
leaders('an old connection that ends late does not end the session that replaced it', () => {
  const rig = new LeaderRig();
  const old = rig.worker({ slots: 1 });
  const fresh = rig.worker({ slots: 1 });
  assert.ok(
    old.heard.some((message) => message.kind === 'refused' && message.code === 'ERR_SESSION_REPLACED'),
  );
  old.lose();
  rig.client().submit('x');
  assert.is(fresh.assigned().length, 1);
  assert.is(old.assigned().length, 0);
});

// A25: a job that kills its workers does not kill them all.
leaders('a poison job ends in quarantine after its crashes, with the attempts counted over restarts', () => {
  let rig = new LeaderRig();
  rig.client().submit('poison');
  for (let i = 1; i <= 5; i += 1) {
    const victim = rig.worker({ name: `v${i}`, slots: 1 });
    for (let waited = 0; victim.assigned().length === 0 && waited < 60; waited += 1) rig.beat(1_000, victim);
    assert.is(nth(victim.assigned(), 0).attempt, i);
    victim.lose();
    rig.advance(1_500);
    if (i === 2) rig = rig.restarted();
  }
  const job = rig.leader.ledger.jobs.get(1);
  assert.equal([job?.state, job?.end?.reason, job?.crashes, job?.failures], ['dead', 'quarantined', 5, 0]);
});

// B16, B17, B18: after a restart a lease is in doubt, not expired; its worker may claim it, and nobody counts it.
leaders(
  'after a restart of the leader a worker claims its job; an unclaimed one is released uncounted',
  () => {
    const before = new LeaderRig();
    const client = before.client();
    client.submit('claimed');
    client.submit('forgotten');
    const worker = before.worker({ slots: 2 });
    const [claimed] = worker.assigned();
    const rig = before.restarted();
    assert.is(rig.counts()['running'], 2);
    const again = rig.worker({ slots: 2, held: claimed === undefined ? [] : [claimed] });
    assert.is(nth(again.assigned(), 0).payload, 'forgotten');
    again.ok(nth([claimed], 0) as { job: number; attempt: number });
    assert.is(rig.counts()['done'], 1);
    const third = before.restarted();
    third.advance(9_000);
    assert.is(third.counts()['running'], 2);
    third.advance(1_500);
    assert.equal([third.counts()['queued'], third.leader.ledger.jobs.get(1)?.crashes], [2, 0]);
  },
);

// A24: the share of a client is taken once per attempt and given back once, however the attempt ends.
leaders('a client at its cap gets its next job when one attempt ends, failed or not', () => {
  const rig = new LeaderRig({ limits: { clientRunningMax: 1 } });
  const client = rig.client();
  const other = rig.client('bob', 't2');
  client.submit('a1');
  client.submit('a2');
  other.submit('b1');
  const worker = rig.worker({ slots: 5 });
  assert.equal(
    worker.assigned().map((one) => one.payload),
    ['a1', 'b1'],
  );
  worker.fail(nth(worker.assigned(), 0));
  assert.equal(
    worker.assigned().map((one) => one.payload),
    ['a1', 'b1', 'a2'],
  );
  rig.beat(900, worker);
  worker.ok(nth(worker.assigned(), 2));
  rig.beat(200, worker);
  assert.is(nth(worker.assigned(), 3).payload, 'a1');
  assert.is(rig.restarted().leader.ledger.counts.running, 2);
});

// A30, A31: a number is used by what is taken, not by what is refused; sent twice it is one job.
leaders('a submit sent again is the same job, also over a restart; a refused one may be sent again', () => {
  const rig = new LeaderRig({ limits: { jobsMax: 1 } });
  const client = rig.client();
  const first = client.submit('x', { seq: 1 });
  assert.equal(client.submit('x', { seq: 1 })?.jobs, first?.jobs);
  assert.is(client.submit('y', { seq: 2 })?.refusal?.code, 'ERR_QUEUE_FULL');
  const again = rig.restarted();
  const back = again.client();
  assert.equal(back.submit('x', { seq: 1 })?.jobs, first?.jobs);
  const worker = again.worker();
  worker.ok(nth(worker.assigned(), 0));
  const second = back.submit('y', { seq: 2 });
  assert.equal([second?.refusal, second?.jobs], [undefined, [2]]);
  assert.is(again.leader.ledger.accepted, 2);
});

leaders('two clients with the same number are two submits', () => {
  const rig = new LeaderRig();
  const jobs = [rig.client('ann', 't1').submit('x'), rig.client('ann', 't2').submit('x')].map(
    (one) => one?.jobs[0],
  );
  assert.equal(jobs, [1, 2]);
});

// A13, negative credit, bad names: the session ends, nothing of the message counts.
leaders('what a correct peer cannot say ends its session with a code', () => {
  const rig = new LeaderRig();
  const worker = rig.worker({ slots: 1 });
  rig.leader.fromWorker(worker.session, {
    kind: 'report',
    ends: [],
    credit: { jobs: -5, bytes: 0 },
    cpu: 0,
    lagMs: 0,
  });
  rig.settle();
  assert.ok(
    worker.heard.some((message) => message.kind === 'refused' && message.code === 'ERR_SESSION_MALFORMED'),
  );
  rig.client().submit('x');
  assert.is(worker.assigned().length, 0);
  const greedy = rig.worker({ name: 'greedy', slots: 1 });
  // A row beyond its slots is what a worker with short jobs asks for (ADR 0138), and no more.
  assert.is(greedy.assigned().length, 1);
  greedy.report([], BATCH_JOBS_MAX + 1);
  assert.not(greedy.heard.some((message) => message.kind === 'refused'));
  greedy.report([], 1);
  assert.ok(greedy.heard.some((message) => message.kind === 'refused'));
  for (const name of ['', 'a b', 'x'.repeat(200)]) {
    const odd = rig.worker({ name });
    assert.ok(
      odd.heard.some((message) => message.kind === 'refused'),
      name,
    );
  }
});

leaders('a malformed submit has an answer and takes nothing', () => {
  const rig = new LeaderRig();
  const client = rig.client();
  const bad = [
    { seq: 1, ref: 9, payload: 'x', key: '', delayMs: 0, wantsOutcome: false },
    { seq: 2, ref: 1, payload: 'x', key: 'k'.repeat(600), delayMs: 0, wantsOutcome: false },
    { seq: 3, ref: 1, payload: 'x', key: '', delayMs: -1, wantsOutcome: false },
    { seq: 4, ref: 1, payload: 5 as unknown as string, key: '', delayMs: 0, wantsOutcome: false },
    { seq: 5, ref: 1, payload: 'x'.repeat(2_000_000), key: '', delayMs: 0, wantsOutcome: false },
  ];
  client.say({ kind: 'submit', low: 0, items: bad });
  assert.equal(
    client.receipts().map((one) => one.refusal?.code),
    [
      'ERR_EXEC_UNKNOWN',
      'ERR_MESSAGE_MALFORMED',
      'ERR_MESSAGE_MALFORMED',
      'ERR_MESSAGE_MALFORMED',
      'ERR_PAYLOAD_TOO_LARGE',
    ],
  );
  client.say({ kind: 'submit_all', low: 0, seq: 6, items: [] });
  assert.is(client.receipts().at(-1)?.refusal?.code, 'ERR_MESSAGE_MALFORMED');
  assert.is(rig.leader.ledger.accepted, 0);
});

// What a peer says goes into records only if it comes back from them as it was.
leaders('numbers that no client counts to are refused before they reach the log', () => {
  const rig = new LeaderRig();
  const client = rig.client();
  const item = { ref: 1, payload: 'x', key: '', delayMs: 0, wantsOutcome: false };
  const odd: [seq: number, low: number][] = [
    [0, 0],
    [-1, 0],
    [1.5, 0],
    [Number.NaN, 0],
    [1, -5],
    [1, Number.NaN],
    [2 ** 40, 0],
  ];
  for (const [seq, low] of odd) {
    client.say({ kind: 'submit', low, items: [{ ...item, seq }] });
    client.say({ kind: 'submit_all', low, seq, items: [{ ...item, seq }] });
  }
  const codes = new Set(client.receipts().map((one) => one.refusal?.code));
  assert.equal([...codes], ['ERR_MESSAGE_MALFORMED']);
  assert.is(client.receipts().length, 2 * odd.length);
  assert.is(rig.leader.ledger.accepted, 0);
  assert.is(rig.restarted().leader.ledger.accepted, 0);
});

leaders('a batch or a result larger than a record is refused, and the leader goes on', () => {
  const rig = new LeaderRig();
  const client = rig.client();
  const large = 'x'.repeat(1024 * 1024);
  const items = Array.from({ length: 13 }, () => ({
    seq: 1,
    ref: 1,
    payload: large,
    key: '',
    delayMs: 0,
    wantsOutcome: false,
  }));
  client.say({ kind: 'submit_all', low: 0, seq: 1, items });
  assert.is(client.receipts().at(-1)?.refusal?.code, 'ERR_PAYLOAD_TOO_LARGE');
  client.submit('y', { seq: 2 });
  const worker = rig.worker({ slots: 1 });
  worker.ok(nth(worker.assigned(), 0), 'x'.repeat(2_000));
  const job = rig.leader.ledger.jobs.get(1);
  assert.equal([job?.state, job?.end?.reason, job?.failure?.name], ['dead', 'final', 'OutputTooLarge']);
});

leaders('what a worker says of itself and of a failure is bounded', () => {
  const rig = new LeaderRig();
  rig.client().submit('x');
  const worker = rig.worker({ slots: 1 });
  const { job, attempt } = nth(worker.assigned(), 0);
  const failure = { name: 'E'.repeat(9_000), message: 'm'.repeat(100_000), stack: 'secret' };
  const ends = [{ outcome: 'failed' as const, job, attempt, failure }];
  const credit = { jobs: 2, bytes: 1_000_000 };
  rig.leader.fromWorker(worker.session, { kind: 'report', ends, credit, cpu: Number.NaN, lagMs: -1 });
  rig.settle();
  const kept = rig.leader.ledger.jobs.get(job)?.failure;
  assert.equal(
    [kept?.name.length, kept?.message.length, Object.keys(kept ?? {})],
    [4_096, 4_096, ['name', 'message']],
  );
  rig.beat(1_500, worker);
  assert.is(worker.assigned().length, 2);
});

leaders('a policy that no definition could have made ends the session', () => {
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
    const rig = new LeaderRig();
    const client = new PlayedClient(rig, 'ann', 't1', policy);
    assert.ok(
      client.heard.some((message) => message.kind === 'refused'),
      JSON.stringify(policy),
    );
    assert.is(rig.leader.ledger.policies.size, 0);
  }
});

leaders('a leader that drains refuses new work, and what runs still ends', () => {
  const rig = new LeaderRig();
  const client = rig.client();
  client.submit('x');
  const worker = rig.worker({ slots: 1 });
  rig.leader.drain();
  assert.is(client.submit('y')?.refusal?.code, 'ERR_LEADER_DRAINING');
  worker.ok(nth(worker.assigned(), 0));
  assert.is(client.outcomes().length, 1);
});

// A38: which worker serves which group is a matter of its patterns.
leaders('a worker gets only jobs it has code for', () => {
  const rig = new LeaderRig();
  new PlayedClient(rig, 'ann', 't1', policyOf('two')).submit('x');
  const worker = rig.worker({ execs: ['one'] });
  assert.is(worker.assigned().length, 0);
  const able = rig.worker({ name: 'able', execs: ['one', 'two'] });
  assert.is(able.assigned().length, 1);
});

leaders('a job goes to a worker of its own group, whichever group the leader met first', () => {
  for (const order of [
    ['g', 'other'],
    ['other', 'g'],
  ]) {
    const rig = new LeaderRig();
    const ours = rig.worker({ name: 'ours', patterns: ['job.assign.g.*'] });
    const coder = rig.worker({ name: 'coder', execs: ['g/one'] });
    for (const group of order) {
      const client = new PlayedClient(rig, group, 't1', { ...policyOf('one'), group });
      for (const n of [1, 2, 3]) client.submit(`${group} ${n}`);
    }
    const got = [...ours.assigned(), ...coder.assigned()].map((one) => String(one.payload));
    assert.equal(got.sort(), ['g 1', 'g 2', 'g 3'], `${order.join()}`);
    const theirs = rig.worker({ name: 'theirs', slots: 9, patterns: ['job.assign.other.>'] });
    assert.is(theirs.assigned().length, 3);
  }
});

leaders('the less loaded worker is preferred', () => {
  const rig = new LeaderRig();
  const [busy, calm] = [rig.worker({ name: 'busy', slots: 4 }), rig.worker({ name: 'calm', slots: 4 })];
  busy.session.cpu = 0.9;
  const client = rig.client();
  client.submit('1');
  client.submit('2');
  assert.equal([busy.assigned().length, calm.assigned().length], [0, 2]);
});

// B28: a failed write is the end: nothing of it is answered, and nothing after it.
leaders('a journal that fails ends the leader before anybody is told', () => {
  const rig = new LeaderRig();
  const client = rig.client();
  rig.failJournal = true;
  assert.is(client.submit('x'), undefined);
  rig.failJournal = false;
  assert.is(client.submit('y'), undefined);
  assert.equal(
    rig.fatal.map((error) => (error as { code?: string }).code),
    ['ERR_JOURNAL_FAILED'],
  );
  assert.is(rig.leader.ledger.accepted, 0);
});

// A stall of the leader is nobody's fault (ADR 0053).
leaders('a leader that was stalled does not count its stall against a worker', () => {
  const rig = new LeaderRig();
  rig.client().submit('x');
  const worker = rig.worker({ slots: 1 });
  rig.now += 30_000;
  rig.advance(300);
  worker.report([]);
  assert.equal([worker.aborted().length, rig.counts()['running']], [0, 1]);
});

/** A submit whose outcome is wanted. */
function wanted(seq: number): SubmitItem {
  return { seq, ref: 1, payload: `${seq}`, key: '', delayMs: 0, wantsOutcome: true };
}

leaders('a submit has its receipt when it is durable, and its outcome when the job has ended', () => {
  const rig = new LeaderRig();
  const worker = rig.worker({ slots: 3 });
  const client = rig.client();
  client.say({ kind: 'submit', low: 0, items: [wanted(1), { ...wanted(2), wantsOutcome: false }] });
  assert.equal(
    client
      .receipts()
      .map(({ seq, jobs, lsn }) => ({ seq, jobs, isDurable: lsn > 0 && lsn <= rig.leader.lsn })),
    [
      { seq: 1, jobs: [1], isDurable: true },
      { seq: 2, jobs: [2], isDurable: true },
    ],
  );
  assert.equal(client.outcomes(), []);
  for (const assignment of worker.assigned()) worker.ok(assignment);
  assert.equal(
    client.outcomes().map(({ job }) => job),
    [1],
    'the outcome of the second is not wanted',
  );
  assert.is(client.receipts().length, 2);
});

leaders('an outcome goes to every open session that waits for it', () => {
  const rig = new LeaderRig();
  const client = rig.client();
  client.say({ kind: 'submit', low: 0, items: [wanted(1), wanted(2)] });
  const other = rig.client('other');
  other.say({ kind: 'await', jobs: [1, 2] });
  rig.leader.closed(client.session);
  const again = rig.client();
  const worker = rig.worker({ slots: 2 });
  worker.ok(nth(worker.assigned(), 0));
  assert.equal(client.outcomes(), [], 'its connection is gone');
  const outcomesOf = ({ job }: { readonly job: number }): number => job;
  assert.equal(other.outcomes().map(outcomesOf), [1]);
  again.say({ kind: 'submit', low: 0, items: [wanted(2)] });
  assert.equal(
    again.receipts().map(({ seq, duplicate }) => ({ seq, duplicate })),
    [{ seq: 2, duplicate: true }],
  );
  worker.ok(nth(worker.assigned(), 1));
  assert.equal(again.outcomes().map(outcomesOf), [2]);
  assert.equal(other.outcomes().map(outcomesOf), [1, 2]);
});

leaders('attempts that end in a row are settled in one word, others one by one', () => {
  const rig = new LeaderRig();
  const worker = rig.worker({ slots: 64 });
  const client = rig.client();
  for (let i = 0; i < 6; i += 1) client.submit('x');
  const [a, b, c, d, e, f] = worker.assigned();
  const ends = [a, b, c, e, d, f].map((one) => one as Assignment);
  worker.report(ends.map(({ job, attempt }) => ({ outcome: 'ok', job, attempt, result: '1' })));
  rig.beat(1_000, worker);
  const first = (a as Assignment).job;
  assert.equal(worker.settled(), [
    { job: first, attempt: 1, count: 3 },
    { job: first + 4, attempt: 1, count: 1 },
    { job: first + 3, attempt: 1, count: 1 },
    { job: first + 5, attempt: 1, count: 1 },
  ]);
});

leaders('what a row of attempts has settled rides with the next row, unless its results are large', () => {
  const rig = new LeaderRig();
  const worker = rig.worker({ slots: BATCH_JOBS_MAX });
  const client = rig.client();
  const settled = (): number => worker.settled().reduce((sum, { count }) => sum + count, 0);
  const row = (result: string): void => {
    const before = worker.assigned().length;
    for (let i = 0; i < BATCH_JOBS_MAX; i += 1) client.submit('x');
    const ends = worker.assigned().slice(before);
    worker.report(ends.map(({ job, attempt }) => ({ outcome: 'ok', job, attempt, result })));
  };
  row('1');
  assert.is(settled(), 0);
  row('2');
  assert.is(settled(), BATCH_JOBS_MAX);
  rig.beat(1_000, worker);
  assert.is(settled(), 2 * BATCH_JOBS_MAX, 'or with the answer to a beat');
  row('x'.repeat(1_000));
  assert.is(settled(), 3 * BATCH_JOBS_MAX, 'the worker keeps every result until then');
});

/** Two workers that have run one job of this length each; then eight come at once. Who gets how many? */
function spread(runMs: number): number[] {
  const rig = new LeaderRig();
  const workers = ['a', 'b'].map((name) => rig.worker({ name, slots: 8 }));
  const client = rig.client();
  client.submit('warm');
  client.submit('up');
  for (const worker of workers) {
    const { job, attempt } = nth(worker.assigned(), 0);
    worker.report([{ outcome: 'ok', job, attempt, result: '1' }], 1, runMs);
  }
  const items = Array.from({ length: 8 }, (_, i) => ({
    seq: i + 3,
    ref: 1,
    payload: '1',
    key: '',
    delayMs: 0,
    wantsOutcome: false,
  }));
  client.say({ kind: 'submit', low: 0, items });
  return workers.map((worker) => worker.assigned().length - 1).sort();
}

leaders('short jobs go to one worker in a row, long ones side by side', () => {
  assert.equal(spread(0.1), [0, 8]);
  assert.equal(spread(0.5), [4, 4]);
  assert.equal(spread(100), [4, 4]);
});

// ADR 0138: credit cannot be taken back, so the leader must not use what was granted while jobs were short.
leaders(
  'what a worker granted beyond its slots is used while its jobs are short, and left alone once they are long',
  () => {
    const rig = new LeaderRig();
    const worker = rig.worker({ slots: 2 });
    const client = rig.client();
    const ended = (nos: readonly number[]) =>
      worker
        .assigned()
        .filter(({ job }) => nos.includes(job))
        .map(({ job, attempt }) => ({ outcome: 'ok', job, attempt, result: '1' }) as const);
    client.submit('1');
    // A tenth of a millisecond: it asks for twenty beyond its two slots.
    worker.report(ended([1]), 1 + 20, 0.1);
    for (let no = 2; no <= 6; no += 1) client.submit(`${no}`);
    assert.is(worker.assigned().length, 6);
    // One of them took a second; four are still there, two of which have no slot.
    worker.report(ended([2]), 0, 1_000);
    client.submit('7');
    assert.equal([worker.assigned().length, worker.session.credit], [6, 0]);
    worker.report(ended([3, 4]), 0, 2_000);
    assert.equal([worker.assigned().length, worker.session.credit], [6, 0]);
    worker.report(ended([5]), 0, 1_000);
    assert.equal([worker.assigned().length, worker.session.credit], [7, 0]);
  },
);

/** Two clients with four jobs each, and one worker whose jobs take so long. Whose jobs does it get, in order? */
function turns(runMs: number): string {
  const rig = new LeaderRig();
  const clients = ['a', 'b'].map((name) => rig.client(name));
  for (let i = 0; i < 8; i += 1) nth(clients, 0).submit('warm up');
  const worker = rig.worker({ slots: 8 });
  const ends = worker
    .assigned()
    .map(({ job, attempt }) => ({ outcome: 'ok', job, attempt, result: '1' }) as const);
  // Its slots come back when both clients have lined up.
  worker.report(ends, 0, 8 * runMs);
  for (let i = 0; i < 4; i += 1) for (const client of clients) client.submit(`${i}`);
  worker.report([], 8);
  return worker
    .assigned()
    .slice(8)
    .map((one) => one.client)
    .join('');
}

leaders('a row of short jobs comes from one client, long ones by turns', () => {
  assert.is(turns(0.1), 'aaaabbbb');
  assert.is(turns(100), 'abababab');
});

leaders('a session that defines without end is ended', () => {
  const rig = new LeaderRig();
  const client = rig.client();
  for (let ref = 2; ref < 4_200; ref += 1) client.say({ kind: 'define', ref, policy: policyOf('one') });
  assert.is(client.heard.at(-1)?.kind, 'refused');
  assert.is(client.session.policies.size, 0);
});

// Half a second of work must not push out what somebody is about to ask for.
leaders('results are kept beside 100,000 others, unless told otherwise', () => {
  const rig = new LeaderRig();
  assert.ok(rig.leader.ledger.limits.resultsMax >= 100_000);
  assert.is(rig.restarted().leader.ledger.limits.resultsMax, rig.leader.ledger.limits.resultsMax);
  const { limits } = rig.leader.ledger;
  assert.equal(
    rig.records().flatMap((record) => (record.type === 'limits' ? [record.resultsMax] : [])),
    [limits.resultsMax],
    'the log says so from its beginning',
  );
});

const shortLived = policyOf('one', { doneMs: 10, deadMs: 1e6 });

// What is kept longest pushes out what is kept shortest, the job that has just ended included.
leaders('a job whose result finds no room has ended all the same, and its client is told', () => {
  for (const limits of [{ resultsMax: 1 }, { resultsMax: 0 }, { resultsBytesMax: 1 }]) {
    const rig = new LeaderRig({ limits });
    const worker = rig.worker({ slots: 2 });
    const patient = rig.client();
    patient.submit('kept long');
    worker.ok(nth(worker.assigned(), 0), '1');
    const hasty = new PlayedClient(rig, 'bob', 't1', shortLived);
    hasty.submit('gone at once');
    worker.ok(nth(worker.assigned(), 1), '22');
    assert.equal(
      hasty.outcomes().map((one) => [one.state, one.result]),
      [['done', '22']],
      JSON.stringify(limits),
    );
    assert.is(rig.counts()['running'], 0);
    assert.is(worker.session.leases.length, 0);
    assert.equal(rig.restarted().counts(), rig.counts());
  }
});

leaders('a cancel that finds no room for its outcome is answered', () => {
  const rig = new LeaderRig({ limits: { resultsMax: 0 } });
  const client = rig.client();
  client.submit('waits');
  client.say({ kind: 'call', call: 7, request: { kind: 'cancel', job: 1, reason: 'enough' } });
  const answers = client.heard.flatMap((message) => (message.kind === 'answer' ? [message.answer] : []));
  assert.equal(answers, [{ kind: 'cancelled', state: 'cancelled' }]);
  assert.equal(
    client.outcomes().map((one) => one.state),
    ['cancelled'],
  );
});

// A21: the lease stands before the worker hears of it, so no answer is too fast.
leaders('an end that is reported in the moment of the assignment counts', () => {
  const rig = new LeaderRig();
  const worker = rig.worker();
  worker.onHeard = (message) => {
    if (message.kind === 'assign') for (const one of message.items) worker.ok(one);
  };
  const client = rig.client();
  client.submit('x');
  client.submit('y');
  rig.beat(3_000, worker);
  assert.equal(
    client.outcomes().map((one) => one.state),
    ['done', 'done'],
  );
  assert.equal(
    worker.assigned().map((one) => one.attempt),
    [1, 1],
  );
});

// B9: a receipt means durable, and what could not be made durable is remembered by nobody.
leaders('a submit whose write failed has no receipt, and sent again to the next leader it is taken', () => {
  for (const key of ['', 'k']) {
    const rig = new LeaderRig();
    const client = rig.client();
    rig.failJournal = true;
    assert.is(client.submit('x', { key }), undefined);
    assert.is(rig.fatal.length, 1);
    assert.is(client.submit('x', { key, seq: 1 }), undefined, 'nor later: the leader has stopped');
    const next = rig.restarted();
    const receipt = next.client().submit('x', { key, seq: 1 });
    assert.equal([receipt?.jobs, receipt?.duplicate, receipt?.refusal], [[1], false, undefined]);
    assert.is(next.leader.ledger.accepted, 1);
  }
});

// B14: the end of an attempt is in the log before the next attempt is.
leaders('whatever ends an attempt is recorded before the next assignment of its job', () => {
  const rig = new LeaderRig();
  const silent = rig.worker({ name: 'silent' });
  rig.client().submit('x');
  const well = rig.worker({ name: 'well' });
  rig.beat(5_000, well);
  const third = well.assigned().at(-1);
  if (third !== undefined) well.fail(third);
  rig.beat(5_000, well);
  assert.ok(silent.assigned().length === 1 && well.assigned().length >= 2);
  let running = 0;
  for (const record of rig.records()) {
    if (record.type === 'assign') {
      assert.is(running, 0, `attempt ${record.attempt} begins while ${running} runs`);
      running = record.attempt;
    } else if ('attempt' in record) {
      assert.is(record.attempt, running, record.type);
      running = 0;
    }
  }
});

const HOUR_MS = 3_600_000;

for (const stepMs of [-10 * 365 * 24 * HOUR_MS, -HOUR_MS, -1_000, 1_000, HOUR_MS]) {
  leaders(`delays and retries take as long as asked for when the wall clock is set by ${stepMs} ms`, () => {
    const rig = new LeaderRig();
    const worker = rig.worker({ slots: 4 });
    const client = rig.client();
    client.submit('delayed before', { delayMs: 500 });
    rig.wallStepMs = stepMs;
    client.submit('delayed after', { delayMs: 500 });
    client.submit('retried');
    worker.fail(nth(worker.assigned(), 0));
    const texts = (): string[] => worker.assigned().map((one) => `${String(one.payload)} ${one.attempt}`);
    rig.beat(400, worker);
    assert.equal(texts(), ['retried 1'], 'nothing early');
    rig.beat(200, worker);
    assert.equal(texts().sort(), ['delayed after 1', 'delayed before 1', 'retried 1']);
    rig.beat(1_000, worker);
    assert.ok(texts().includes('retried 2'));
  });
}

// The machine ran an hour fast, was set right, and the leader started again.
leaders('after a restart with the clock set back no delay is longer than it was asked for', () => {
  const before = new LeaderRig();
  before.wallStepMs = HOUR_MS;
  const fast = before.restarted();
  const client = fast.client();
  client.submit('old', { delayMs: 500 });
  fast.wallStepMs = 0;
  const rig = fast.restarted();
  rig.client('bob').submit('new', { delayMs: 100 });
  const worker = rig.worker({ slots: 4 });
  rig.beat(600, worker);
  assert.equal(
    worker.assigned().map((one) => one.payload),
    ['new', 'old'],
  );
});

leaders('the time that passes while no leader runs counts for a delay', () => {
  const before = new LeaderRig();
  before.client().submit('x', { delayMs: 5_000 });
  before.now += 4_900;
  const rig = before.restarted();
  const worker = rig.worker();
  rig.beat(200, worker);
  assert.is(worker.assigned().length, 1);
});

leaders('results go and keys are freed at their time, with the wall clock set back meanwhile', () => {
  const rig = new LeaderRig({ limits: { keyWindowMs: 2_000 } });
  const worker = rig.worker();
  const client = new PlayedClient(rig, 'ann', 't1', policyOf('one', { doneMs: 500, deadMs: 500 }));
  client.submit('x', { key: 'k' });
  worker.ok(nth(worker.assigned(), 0));
  rig.wallStepMs = -HOUR_MS;
  rig.beat(900, worker);
  assert.is(rig.leader.ledger.counts.done, 0);
  rig.beat(1_500, worker);
  assert.is(rig.leader.ledger.keys.size, 0);
});

leaders(
  'a key answers with its job while the window lasts if the job was done, also when the result has gone',
  () => {
    const rig = new LeaderRig();
    const worker = rig.worker();
    const client = new PlayedClient(rig, 'ann', 't1', policyOf('one', { doneMs: 100, deadMs: 100 }));
    client.submit('x', { key: 'k' });
    worker.ok(nth(worker.assigned(), 0));
    rig.beat(500, worker);
    assert.is(rig.leader.ledger.jobs.size, 0);
    for (const one of [rig, rig.restarted()]) {
      const again = new PlayedClient(one, 'bob', 't2');
      const receipt = again.submit('x', { key: 'k' });
      assert.equal([receipt?.jobs, receipt?.duplicate], [[1], true]);
      assert.is(again.submit('y', { key: 'k' })?.refusal?.code, 'ERR_KEY_CONFLICT');
    }
    assert.is(worker.assigned().length, 1);
  },
);

leaders(
  'a key is free again once its job was purged, has expired undone or was cancelled and forgotten',
  () => {
    const ends: Record<string, (client: PlayedClient, worker: PlayedWorker) => void> = {
      purged: (client, worker) => {
        worker.final(nth(worker.assigned(), 0));
        client.say({ kind: 'call', call: 1, request: { kind: 'purge', jobs: [1] } });
      },
      'expired among the dead letters': (_client, worker) => worker.final(nth(worker.assigned(), 0)),
      'cancelled and forgotten': (client) =>
        client.say({ kind: 'call', call: 1, request: { kind: 'cancel', job: 1, reason: '' } }),
    };
    for (const [name, end] of Object.entries(ends)) {
      const rig = new LeaderRig();
      const worker = rig.worker();
      const keep = { doneMs: 300, deadMs: name === 'purged' ? 1e6 : 300 };
      const client = new PlayedClient(rig, 'ann', 't1', policyOf('one', keep));
      client.submit('x', { key: 'k' });
      end(client, worker);
      if (name !== 'purged') {
        assert.equal(client.submit('x', { key: 'k' })?.jobs, [1], `${name}: known while it is kept`);
        rig.beat(600, worker);
      }
      for (const one of [rig, rig.restarted()]) {
        const receipt = new PlayedClient(one, 'ann', 't2').submit('other', { key: 'k' });
        assert.equal([receipt?.jobs, receipt?.duplicate], [[2], false], name);
      }
    }
  },
);

leaders('keys of two identities do not meet; two names of one identity share theirs', () => {
  const rig = new LeaderRig();
  const jobs = ['ann/a', 'ann/b', 'urn://x/a', 'urn://y/a', 'local', 'other'].map(
    (name) => new PlayedClient(rig, name, 't1').submit('x', { key: 'k' })?.jobs[0],
  );
  assert.equal(jobs, [1, 1, 2, 3, 4, 4]);
});

leaders.run();
