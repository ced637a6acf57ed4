import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type FakeClient, LeaderHarness } from '../leader-harness.js';

// A client is a producer from its first submit until it closes, or for the key window (ADR 0408).
const registries = suite('producer registry');

registries('a client that does not submit is no producer, and is welcome when the registry is full', () => {
  const harness = new LeaderHarness({ limits: { producersMax: 1 } });
  harness.client('ann').submit('x');
  assert.is(harness.leader.ledger.producers.size, 1);
  const observer = harness.client('bob');
  assert.is(observer.received[0]?.kind, 'welcome');
  assert.is(harness.leader.ledger.producers.size, 1);
});

registries('a submit of one producer too many is refused for now; other requests are not', () => {
  const harness = new LeaderHarness({ limits: { producersMax: 1 } });
  const ann = harness.client('ann');
  ann.submit('x');
  const bob = harness.client('bob');
  const refusal = bob.submit('y')?.refusal;
  assert.equal([refusal?.code, refusal?.retryAfterMs], ['ERR_PRODUCERS_FULL', 1_000]);
  const item = { seq: 2, ref: 1, payload: 'z', key: '', delayMs: 0, wantsOutcome: false };
  bob.write({ kind: 'submit_all', low: 0, seq: 2, items: [item, item] });
  assert.is(bob.receipts().at(-1)?.refusal?.code, 'ERR_PRODUCERS_FULL');
  ann.write({ kind: 'close' });
  assert.equal(bob.submit('y', { seq: 1 })?.jobs, [2]);
});

registries(
  'a closed client is no producer any more, also after a restart, so short sessions do not fill the registry',
  () => {
    const harness = new LeaderHarness({ limits: { producersMax: 2 } });
    for (let i = 0; i < 50; i += 1) {
      const client = harness.client('cli', `t${i}`);
      assert.is(client.submit(`${i}`)?.refusal, undefined);
      client.write({ kind: 'close' });
    }
    assert.is(harness.leader.ledger.producers.size, 0);
    assert.is(harness.restarted().leader.ledger.producers.size, 0);
    assert.is(harness.leader.ledger.accepted, 50);
  },
);

registries('no submit of another connection of a client follows its close into the log', () => {
  const harness = new LeaderHarness();
  const [old, fresh] = [harness.client('ann', 't1'), harness.client('ann', 't1')];
  old.submit('x', { key: 'k' });
  harness.heldWrites = [];
  const item = { seq: 2, ref: 1, payload: 'y', key: 'l', delayMs: 0, wantsOutcome: false };
  fresh.write({ kind: 'submit', low: 0, items: [item] });
  // Waits for the submit before it, which has the same key.
  old.write({ kind: 'submit', low: 0, items: [{ ...item, seq: 3 }] });
  fresh.write({ kind: 'close' });
  old.write({ kind: 'submit', low: 0, items: [{ ...item, seq: 4, key: '' }] });
  while (harness.heldWrites.length > 0) harness.completeWrite();
  assert.equal(harness.fatal, []);
  assert.is(old.received.at(-1)?.kind, 'refused');
  assert.is(harness.leader.ledger.accepted, 2);
  assert.is(harness.leader.ledger.producers.size, 0);
  assert.is(harness.restarted().leader.ledger.accepted, 2);
});

registries('a submit sent again is known while the record of its producer is not durable yet', () => {
  const harness = new LeaderHarness();
  harness.heldWrites = [];
  harness.client('ann', 't1').submit('x');
  const again = harness.client('ann', 't1');
  again.submit('x');
  while (harness.heldWrites.length > 0) harness.completeWrite();
  assert.equal(again.receipts()[0]?.jobs, [1]);
  assert.is(harness.leader.ledger.accepted, 1);
  assert.is(harness.leader.ledger.producers.size, 1);
});

// Dropped without an answer, it left its client waiting for ever (found by the simulation).
registries(
  'a submit that waits while its producer expires is not dropped: the client must open a new session',
  () => {
    const harness = new LeaderHarness({ limits: { keyWindowMs: 1_000 } });
    const ann = harness.client('ann');
    ann.submit('x');
    harness.advance(900);
    harness.heldWrites = [];
    harness.client('bob').submit('y', { key: 'k' });
    ann.submit('y', { key: 'k' });
    harness.advance(200);
    while (harness.heldWrites.length > 0) harness.completeWrite();
    const last = ann.received.at(-1);
    assert.equal([last?.kind, last?.kind === 'refused' && last.code], ['refused', 'ERR_SESSION_REPLACED']);
    const again = harness.client('ann');
    again.submit('y', { key: 'k', seq: 2 });
    while (harness.heldWrites.length > 0) harness.completeWrite();
    assert.equal(again.receipts()[0]?.jobs, [2]);
  },
);

registries('producers that the ledger has dropped do not accumulate in the registry', () => {
  const harness = new LeaderHarness({ limits: { keyWindowMs: 1_000 } });
  for (let i = 0; i < 40; i += 1) {
    for (let j = 0; j < 10; j += 1) {
      const client = harness.client('ann', `t${i}-${j}`);
      client.submit('x');
      harness.leader.closed(client.session);
    }
    harness.advance(3_000);
    // The time of the ledger is that of its records, and it checks producers once a minute.
    harness.advance(60_000);
  }
  const { sessions } = harness.leader as unknown as {
    sessions: { producers: { byName: Map<string, unknown> } };
  };
  const kept = sessions.producers.byName.size;
  assert.ok(kept < 120, `${kept} are kept`);
});

registries(
  'a submit is not accepted twice by two connections of a client, both made before its first submit',
  () => {
    const harness = new LeaderHarness();
    const lost = harness.client('ann', 't1');
    const next = harness.client('ann', 't1');
    const first = lost.submit('a', { seq: 1 });
    const again = next.submit('a', { seq: 1 });
    assert.equal(again?.jobs, first?.jobs);
    assert.is(again?.duplicate, true);
    const item = { seq: 1, ref: 1, payload: 'a', key: '', delayMs: 0, wantsOutcome: false };
    const third = harness.client('bob', 't1');
    const fourth = harness.client('bob', 't1');
    for (const client of [third, fourth])
      client.write({ kind: 'submit_all', low: 0, seq: 1, items: [item, item] });
    assert.equal(fourth.receipts()[0]?.jobs, third.receipts()[0]?.jobs);
  },
);

registries('a producer whose window ends while a submit of it is being written is not forgotten', () => {
  const harness = new LeaderHarness({ limits: { keyWindowMs: 1_000 } });
  const lost = harness.client('ann', 't1');
  lost.submit('a', { seq: 1 });
  harness.advance(990);
  harness.heldWrites = [];
  lost.submit('b', { seq: 2 });
  harness.advance(20);
  const next = harness.client('ann', 't1');
  next.submit('b', { seq: 2 });
  while (harness.heldWrites.length > 0) harness.completeWrite();
  const jobs = (client: FakeClient): unknown => client.receipts().find(({ seq }) => seq === 2)?.jobs;
  assert.equal(jobs(next), [2]);
  assert.equal(jobs(lost), [2]);
});

// Both were staged, and the leader ended when it applied the second for a producer that the first record had outlived.
registries(
  'a submit behind one that has been written for a whole key window waits, then needs a new session',
  () => {
    for (const isBatch of [false, true]) {
      const harness = new LeaderHarness({ limits: { keyWindowMs: 1_000 } });
      const ann = harness.client('ann', 't1');
      harness.heldWrites = [];
      ann.submit('a', { seq: 1 });
      harness.advance(1_500);
      const item = { seq: 2, ref: 1, payload: 'b', key: '', delayMs: 0, wantsOutcome: false };
      if (isBatch) ann.write({ kind: 'submit_all', low: 0, seq: 2, items: [item, item] });
      else ann.submit('b', { seq: 2 });
      while (harness.heldWrites.length > 0) harness.completeWrite();
      assert.equal(harness.fatal, []);
      assert.equal(ann.receipts()[0]?.jobs, [1]);
      const last = ann.received.at(-1);
      assert.equal([last?.kind, last?.kind === 'refused' && last.code], ['refused', 'ERR_SESSION_REPLACED']);
      assert.is(harness.leader.ledger.accepted, 1);
      assert.equal(harness.restarted().fatal, []);
    }
  },
);

registries.run();
