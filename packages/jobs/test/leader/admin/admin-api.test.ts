import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { AdminAnswer, AdminRequest, JobView, SubmitItem } from '#src/protocol/client-messages.js';
import { LeaderRig, type PlayedClient } from '../leader-rig.js';

const desks = suite('desk');

function ask(client: PlayedClient, request: AdminRequest): AdminAnswer | undefined {
  const call = 1 + client.heard.length;
  client.say({ kind: 'call', call, request });
  const answers = client.heard.flatMap((one) => (one.kind === 'answer' && one.call === call ? [one] : []));
  return answers[0]?.answer;
}

function listed(client: PlayedClient, state: JobView['state'], after = 0, max = 1_000): number[] {
  const answer = ask(client, { kind: 'list', state, after, max });
  return answer?.kind === 'jobs' ? answer.views.map((view) => view.job) : [];
}

desks('an overview says when submits are refused for want of space', () => {
  const rig = new LeaderRig();
  const client = rig.client();
  const isLow = (): unknown => {
    const answer = ask(client, { kind: 'overview' });
    return answer?.kind === 'overview' && answer.overview.diskLow;
  };
  assert.is(isLow(), false);
  rig.diskLow = true;
  assert.is(isLow(), true);
  client.submit('1');
  assert.is(client.receipts().at(-1)?.refusal?.code, 'ERR_DISK_LOW');
});

const item: SubmitItem = { seq: 1, ref: 1, payload: 'x', key: '', delayMs: 0, wantsOutcome: false };

/** A client with so many jobs waiting. */
function crowd(rig: LeaderRig, jobs: number): PlayedClient {
  const client = rig.client('crowd');
  client.say({ kind: 'submit_all', low: 0, seq: 1, items: new Array<SubmitItem>(jobs).fill(item) });
  return client;
}

desks(
  'a purged dead letter is listed no more, nor after a restart; one that is driven again is listed once',
  () => {
    const rig = new LeaderRig();
    const worker = rig.worker({ slots: 9 });
    const client = rig.client();
    for (const text of ['1', '2', '3']) client.submit(text);
    for (const one of worker.assigned()) worker.final(one);
    assert.equal(listed(client, 'dead'), [1, 2, 3]);
    assert.equal(ask(client, { kind: 'purge', jobs: [1] }), { kind: 'count', count: 1 });
    assert.equal(ask(client, { kind: 'redrive', jobs: [2] }), { kind: 'count', count: 1 });
    const again = worker.assigned().at(-1);
    assert.is(again?.job, 2);
    if (again !== undefined) worker.final(again);
    for (const one of [client, rig.restarted().client('ops')]) {
      assert.equal(listed(one, 'dead'), [2, 3]);
      assert.equal(ask(one, { kind: 'purge', jobs: [1, 2, 3] }), { kind: 'count', count: 2 });
    }
  },
);

desks('pages of a list go on behind the last job of the one before', () => {
  const rig = new LeaderRig();
  const client = crowd(rig, 3_000);
  for (const no of [5, 700, 2_999]) ask(client, { kind: 'cancel', job: no, reason: '' });
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

// A37: one that asks for much is answered late; the others are not.
desks('a list among many jobs takes many turns, and a submit that comes later is answered before it', () => {
  const rig = new LeaderRig();
  crowd(rig, 10_000);
  const [asker, other] = [rig.client('asker'), rig.client('other')];
  const order: string[] = [];
  asker.onHeard = (message) => void order.push(message.kind);
  other.onHeard = (message) => void order.push(message.kind);
  const request = { kind: 'list', state: 'done', after: 0, max: 10 } as const;
  for (const call of [1, 2, 3]) rig.leader.fromClient(asker.session, { kind: 'call', call, request });
  other.say({ kind: 'submit', low: 0, items: [item] });
  assert.equal(order, ['receipts', 'answer', 'answer', 'answer']);
});

desks('a list whose asker has gone is given up', () => {
  const rig = new LeaderRig();
  crowd(rig, 10_000);
  const asker = rig.client('asker');
  const request = { kind: 'list', state: 'done', after: 0, max: 10 } as const;
  rig.leader.fromClient(asker.session, { kind: 'call', call: 1, request });
  rig.leader.closed(asker.session);
  rig.settle();
  assert.not.ok(asker.heard.some((message) => message.kind === 'answer'));
});

desks.run();
