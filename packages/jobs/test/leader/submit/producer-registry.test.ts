import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LeaderRig } from '../leader-rig.js';

// ADR 0097: a client is remembered from its first submit to its goodbye, or for the window.
const books = suite('producer book');

books('a client that only looks is remembered by nobody, and welcome where there is room for none', () => {
  const rig = new LeaderRig({ limits: { producersMax: 1 } });
  rig.client('ann').submit('x');
  assert.is(rig.leader.ledger.producers.size, 1);
  const looker = rig.client('bob');
  assert.is(looker.heard[0]?.kind, 'welcome');
  assert.is(rig.leader.ledger.producers.size, 1);
});

books('where there is room for no other client a submit is refused for now, and nothing else', () => {
  const rig = new LeaderRig({ limits: { producersMax: 1 } });
  const ann = rig.client('ann');
  ann.submit('x');
  const bob = rig.client('bob');
  const refusal = bob.submit('y')?.refusal;
  assert.equal([refusal?.code, refusal?.retryAfterMs], ['ERR_PRODUCERS_FULL', 1_000]);
  const item = { seq: 2, ref: 1, payload: 'z', key: '', delayMs: 0, wantsOutcome: false };
  bob.say({ kind: 'submit_all', low: 0, seq: 2, items: [item, item] });
  assert.is(bob.receipts().at(-1)?.refusal?.code, 'ERR_PRODUCERS_FULL');
  ann.say({ kind: 'close' });
  assert.equal(bob.submit('y', { seq: 1 })?.jobs, [2]);
});

books(
  'a client that said goodbye is forgotten, also after a restart; a day of short visits locks out nobody',
  () => {
    const rig = new LeaderRig({ limits: { producersMax: 2 } });
    for (let i = 0; i < 50; i += 1) {
      const client = rig.client('cli', `t${i}`);
      assert.is(client.submit(`${i}`)?.refusal, undefined);
      client.say({ kind: 'close' });
    }
    assert.is(rig.leader.ledger.producers.size, 0);
    assert.is(rig.restarted().leader.ledger.producers.size, 0);
    assert.is(rig.leader.ledger.accepted, 50);
  },
);

books('nothing that another connection of the client says follows its goodbye into the log', () => {
  const rig = new LeaderRig();
  const [old, fresh] = [rig.client('ann', 't1'), rig.client('ann', 't1')];
  old.submit('x', { key: 'k' });
  rig.held = [];
  const item = { seq: 2, ref: 1, payload: 'y', key: 'l', delayMs: 0, wantsOutcome: false };
  fresh.say({ kind: 'submit', low: 0, items: [item] });
  // Waits for the one before it, with the same key.
  old.say({ kind: 'submit', low: 0, items: [{ ...item, seq: 3 }] });
  fresh.say({ kind: 'close' });
  old.say({ kind: 'submit', low: 0, items: [{ ...item, seq: 4, key: '' }] });
  while (rig.held.length > 0) rig.written();
  assert.equal(rig.fatal, []);
  assert.is(old.heard.at(-1)?.kind, 'refused');
  assert.is(rig.leader.ledger.accepted, 2);
  assert.is(rig.leader.ledger.producers.size, 0);
  assert.is(rig.restarted().leader.ledger.accepted, 2);
});

books('a submit sent again is known while the record of its client is still on the way', () => {
  const rig = new LeaderRig();
  rig.held = [];
  rig.client('ann', 't1').submit('x');
  const again = rig.client('ann', 't1');
  again.submit('x');
  while (rig.held.length > 0) rig.written();
  assert.equal(again.receipts()[0]?.jobs, [1]);
  assert.is(rig.leader.ledger.accepted, 1);
  assert.is(rig.leader.ledger.producers.size, 1);
});

// Dropped without a word, it left its client waiting for ever (found by the simulation).
books(
  'a submit that waits while its client is forgotten is not dropped: the client must say hello again',
  () => {
    const rig = new LeaderRig({ limits: { keyWindowMs: 1_000 } });
    const ann = rig.client('ann');
    ann.submit('x');
    rig.advance(900);
    rig.held = [];
    rig.client('bob').submit('y', { key: 'k' });
    ann.submit('y', { key: 'k' });
    rig.advance(200);
    while (rig.held.length > 0) rig.written();
    const last = ann.heard.at(-1);
    assert.equal([last?.kind, last?.kind === 'refused' && last.code], ['refused', 'ERR_SESSION_REPLACED']);
    const again = rig.client('ann');
    again.submit('y', { key: 'k', seq: 2 });
    while (rig.held.length > 0) rig.written();
    assert.equal(again.receipts()[0]?.jobs, [2]);
  },
);

books('clients that the ledger has forgotten do not pile up beside it', () => {
  const rig = new LeaderRig({ limits: { keyWindowMs: 1_000 } });
  for (let i = 0; i < 40; i += 1) {
    for (let j = 0; j < 10; j += 1) {
      const client = rig.client('ann', `t${i}-${j}`);
      client.submit('x');
      rig.leader.closed(client.session);
    }
    rig.advance(3_000);
    // Time goes on in the ledger with its records, and it looks at producers once a minute.
    rig.advance(60_000);
  }
  const { sessions } = rig.leader as unknown as {
    sessions: { producers: { byName: Map<string, unknown> } };
  };
  const kept = sessions.producers.byName.size;
  assert.ok(kept < 120, `${kept} are kept`);
});

books.run();
