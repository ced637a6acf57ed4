import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SLICE_ITEMS } from '#src/leader/sessions/message-slices.js';
import type { SubmitItem } from '#src/protocol/client/client-messages.js';
import { LeaderHarness } from '../leader-harness.js';

const slices = suite('message slices');

function item(seq: number): SubmitItem {
  return { seq, ref: 1, payload: 'x', key: '', delayMs: 0, wantsOutcome: false };
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

slices('a healthy client is answered while the long list of another is worked off in slices', () => {
  const harness = new LeaderHarness();
  const [hostile, healthy] = [harness.client('eve', 'e'), harness.client('ann', 'a')];
  let unknownBefore = -1;
  healthy.onReceived = (message) => {
    if (message.kind === 'receipts') unknownBefore = hostile.outcomes().length;
  };
  harness.leader.fromClient(hostile.session, { kind: 'await', jobs: numbers(20 * SLICE_ITEMS) });
  healthy.submit('y');
  assert.ok(unknownBefore >= 0 && unknownBefore <= 4 * SLICE_ITEMS, `${unknownBefore} outcomes came first`);
  assert.is(hostile.outcomes().length, 20 * SLICE_ITEMS);
});

slices('no turn handles more items of a list than a slice', () => {
  const harness = new LeaderHarness({ limits: { outstandingMax: 10 * SLICE_ITEMS } });
  const client = harness.client();
  const accepted: number[] = [];
  client.onReceived = (message) => {
    if (message.kind === 'receipts') accepted.push(message.items.length);
  };
  client.write({ kind: 'submit', low: 0, items: numbers(5 * SLICE_ITEMS + 1).map(item) });
  assert.is(Math.max(...accepted), SLICE_ITEMS);
  assert.is(harness.leader.ledger.accepted, 5 * SLICE_ITEMS + 1);
});

slices('messages behind a long list keep their order', () => {
  const harness = new LeaderHarness({ limits: { outstandingMax: 10 * SLICE_ITEMS } });
  const client = harness.client();
  harness.leader.fromClient(client.session, {
    kind: 'submit',
    low: 0,
    items: numbers(3 * SLICE_ITEMS).map(item),
  });
  client.submit('last', { seq: 3 * SLICE_ITEMS + 1 });
  assert.equal(client.receipts().at(-1)?.jobs, [3 * SLICE_ITEMS + 1]);
});

slices('a long report ends all its attempts, and its credit counts at its end', () => {
  const jobs = 2 * SLICE_ITEMS + 5;
  const harness = new LeaderHarness({ limits: { outstandingMax: 10 * SLICE_ITEMS } });
  const worker = harness.worker({ slots: jobs });
  const client = harness.client();
  client.write({ kind: 'submit', low: 0, items: numbers(jobs + 1).map(item) });
  const assigned = worker.assigned();
  assert.is(assigned.length, jobs);
  worker.report(assigned.map(({ job, attempt }) => ({ outcome: 'ok', job, attempt, result: '1' })));
  assert.equal([harness.counts()['done'], worker.assigned().length], [jobs, jobs + 1]);
});

slices('the rest of a list is dropped with its session', () => {
  const harness = new LeaderHarness({ limits: { outstandingMax: 10 * SLICE_ITEMS } });
  const client = harness.client();
  harness.leader.fromClient(client.session, {
    kind: 'submit',
    low: 0,
    items: numbers(3 * SLICE_ITEMS).map(item),
  });
  harness.leader.closed(client.session);
  harness.settle();
  assert.ok(harness.leader.ledger.accepted <= SLICE_ITEMS);
  assert.is(harness.client('ann', 't2').submit('y')?.refusal, undefined, 'the leader goes on');
});

slices.run();
