import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { RefusalCode } from '#src/jobs-error.js';
import type { LeaderLimits } from '#src/leader/options/leader-limits.js';
import type { AdminAnswer, AdminRequest, JobView } from '#src/protocol/client/admin-messages.js';
import type { SubmitItem } from '#src/protocol/client/client-messages.js';
import { policyOf } from '../../ledger/random-records.js';
import { FakeClient, LeaderHarness, nth } from '../leader-harness.js';

const admin = suite('admin api');

function call(client: FakeClient, request: AdminRequest): AdminAnswer | undefined {
  const number = 1 + client.received.length;
  client.write({ kind: 'call', call: number, request });
  const answers = client.received.flatMap((one) =>
    one.kind === 'answer' && one.call === number ? [one] : [],
  );
  return answers[0]?.answer;
}

function listed(client: FakeClient, state: JobView['state'], after = 0, max = 1_000): number[] {
  const answer = call(client, { kind: 'list', state, after, max });
  return answer?.kind === 'jobs' ? answer.views.map((view) => view.job) : [];
}

admin('an overview reports when submits are refused because disk space is low', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  const isDiskLow = (): unknown => {
    const answer = call(client, { kind: 'overview' });
    return answer?.kind === 'overview' && answer.overview.diskLow;
  };
  assert.is(isDiskLow(), false);
  harness.disk('low', 'ENOSPC');
  assert.is(isDiskLow(), true);
  client.submit('1');
  const refusal = client.receipts().at(-1)?.refusal;
  assert.equal([refusal?.code, refusal?.problem], ['ERR_DISK_LOW', 'the disk is nearly full: ENOSPC']);
});

interface RefusingCase {
  readonly limits?: Partial<LeaderLimits>;
  readonly arrange?: (harness: LeaderHarness, client: FakeClient) => void;
  readonly code: RefusalCode;
  readonly problem: RegExp;
}

const REFUSING: Readonly<Record<string, RefusingCase>> = {
  'low disk': {
    arrange: (harness) => {
      harness.disk('low', '7 bytes free, 9 needed');
    },
    code: 'ERR_DISK_LOW',
    problem: /^the disk is nearly full: 7 bytes free, 9 needed$/,
  },
  'slow disk': {
    arrange: (harness) => {
      harness.disk('slow');
    },
    code: 'ERR_DISK_SLOW',
    problem: /^the disk answers too slowly$/,
  },
  drain: {
    arrange: (harness) => harness.leader.drain(),
    code: 'ERR_LEADER_DRAINING',
    problem: /shutting down/,
  },
  'full queue': {
    limits: { jobsMax: 1 },
    arrange: (_harness, client) => void client.submit('x'),
    code: 'ERR_QUEUE_FULL',
    problem: /^1 jobs waiting or running, at most 1$/,
  },
  'payload bytes': {
    limits: { jobBytesMax: 1 },
    arrange: (_harness, client) => void client.submit('x'),
    code: 'ERR_QUEUE_FULL',
    problem: /^1 bytes of payloads, at most 1$/,
  },
  'dead letters': {
    limits: { deadMax: 1 },
    arrange: (harness, client) => {
      client.submit('x');
      const worker = harness.worker({ slots: 1 });
      worker.failFinally(nth(worker.assigned(), 0));
    },
    code: 'ERR_DEAD_LETTERS_FULL',
    problem: /^1 dead letters, at most 1$/,
  },
};

// Every reason of a refusal is in the overview, so that a probe sees it.
for (const [name, { limits = {}, arrange, code, problem }] of Object.entries(REFUSING)) {
  admin(`an overview names the reason why submits are refused: ${name}`, () => {
    const harness = new LeaderHarness({ limits });
    const client = harness.client();
    assert.equal(harness.leader.overview().refusing, []);
    arrange?.(harness, client);
    const { refusing, log } = harness.leader.overview();
    assert.equal(
      refusing.map((reason) => reason.code),
      [code],
    );
    assert.match(refusing[0]?.problem ?? '', problem);
    assert.equal([log.bytes, log.cutBytes, log.failedSnapshots], [5, 7, 2]);
    client.submit('y');
    assert.is(client.receipts().at(-1)?.refusal?.code, code, 'and a submit is refused for it');
  });
}

const item: SubmitItem = { seq: 1, ref: 1, payload: 'x', key: '', delayMs: 0, wantsOutcome: false };

/** A client with this many queued jobs. */
function clientWithJobs(harness: LeaderHarness, jobs: number): FakeClient {
  const client = harness.client('busy');
  for (let seq = 1; seq <= jobs / 1_000; seq += 1)
    client.write({ kind: 'submit_all', low: 0, seq, items: new Array<SubmitItem>(1_000).fill(item) });
  assert.is(harness.counts()['queued'], jobs);
  return client;
}

admin('a purged dead letter is not listed, nor after a restart; a redriven one is listed once', () => {
  const harness = new LeaderHarness();
  const worker = harness.worker({ slots: 9 });
  const client = harness.client();
  for (const text of ['1', '2', '3']) client.submit(text);
  for (const one of worker.assigned()) worker.failFinally(one);
  assert.equal(listed(client, 'dead'), [1, 2, 3]);
  assert.equal(call(client, { kind: 'purge', jobs: [1] }), { kind: 'count', count: 1 });
  assert.equal(call(client, { kind: 'redrive', jobs: [2] }), { kind: 'count', count: 1 });
  const again = worker.assigned().at(-1);
  assert.is(again?.job, 2);
  if (again !== undefined) worker.failFinally(again);
  for (const one of [client, harness.restarted().client('ops')]) {
    assert.equal(listed(one, 'dead'), [2, 3]);
    assert.equal(call(one, { kind: 'purge', jobs: [1, 2, 3] }), { kind: 'count', count: 2 });
  }
});

// Found by the simulation: the record waited for the disk until the time of the dead letter was over.
admin('a dead letter whose redrive is being written is not called unknown', () => {
  const harness = new LeaderHarness();
  const worker = harness.worker();
  const client = new FakeClient(harness, 'ann', 't1', policyOf('one', { doneMs: 1e6, deadMs: 1_000 }));
  client.submit('1');
  for (const one of worker.assigned()) worker.failFinally(one);
  harness.heldWrites = [];
  client.write({ kind: 'call', call: 1, request: { kind: 'redrive', jobs: [1] } });
  harness.advanceWithHeartbeats(2_000, worker);
  client.write({ kind: 'call', call: 2, request: { kind: 'inspect', job: 1 } });
  client.write({ kind: 'call', call: 3, request: { kind: 'cancel', job: 1, reason: '' } });
  while (harness.heldWrites.length > 0) harness.completeWrite();
  const kinds = client.received.flatMap((one) => (one.kind === 'answer' ? one.answer.kind : []));
  assert.equal(kinds.sort(), ['cancelled', 'count', 'job']);
});

admin('a page of a list starts after the last job of the page before', () => {
  const harness = new LeaderHarness();
  const client = clientWithJobs(harness, 3_000);
  for (const no of [5, 700, 2_999]) call(client, { kind: 'cancel', job: no, reason: '' });
  const seen: number[] = [];
  for (let page = listed(client, 'queued'); page.length > 0; page = listed(client, 'queued', page.at(-1))) {
    assert.ok(page.length <= 1_000);
    seen.push(...page);
  }
  const expected = Array.from({ length: 3_000 }, (_, i) => i + 1).filter(
    (no) => ![5, 700, 2_999].includes(no),
  );
  assert.equal(seen, expected);
  assert.equal(listed(client, 'cancelled'), [5, 700, 2_999]);
  assert.equal(listed(client, 'cancelled', 5, 1), [700]);
  assert.equal(listed(client, 'done'), []);
});

admin('a list over many jobs takes many turns, and a later submit is answered before it', () => {
  const harness = new LeaderHarness();
  clientWithJobs(harness, 10_000);
  const [lister, other] = [harness.client('lister'), harness.client('other')];
  const order: string[] = [];
  lister.onReceived = (message) => void order.push(message.kind);
  other.onReceived = (message) => void order.push(message.kind);
  const request = { kind: 'search', filter: { group: 'none' }, after: 0, max: 10 } as const;
  for (const call of [1, 2, 3]) harness.leader.fromClient(lister.session, { kind: 'call', call, request });
  other.write({ kind: 'submit', low: 0, items: [item] });
  assert.equal(order, ['receipts', 'answer', 'answer', 'answer']);
});

admin('a list is given up when its session closes', () => {
  const harness = new LeaderHarness();
  clientWithJobs(harness, 10_000);
  const lister = harness.client('lister');
  const request = { kind: 'search', filter: { group: 'none' }, after: 0, max: 10 } as const;
  harness.leader.fromClient(lister.session, { kind: 'call', call: 1, request });
  harness.leader.closed(lister.session);
  harness.settle();
  assert.not.ok(lister.received.some((message) => message.kind === 'answer'));
});

// A client repeats a request whose answer was lost with its connection.
admin('a repeated redrive or purge leaves a job alone that has died again since', () => {
  for (const kind of ['redrive', 'purge'] as const) {
    const harness = new LeaderHarness();
    const client = harness.client();
    client.submit('x');
    const worker = harness.worker({ slots: 1 });
    worker.failFinally(nth(worker.assigned(), 0));
    assert.equal(call(client, { kind: 'dead-attempts', jobs: [1, 7] }), {
      kind: 'dead-attempts',
      items: [{ job: 1, attempt: 1 }],
    });
    const request = { kind, jobs: [1], attempts: [1] };
    if (kind === 'redrive') assert.equal(call(client, request), { kind: 'count', count: 1 });
    else assert.equal(call(client, { kind: 'redrive', jobs: [1] }), { kind: 'count', count: 1 });
    worker.failFinally(nth(worker.assigned(), 1));
    assert.equal(call(client, request), { kind: 'count', count: 0 });
    assert.is(harness.leader.ledger.jobs.get(1)?.state, 'dead');
  }
});

admin.run();
