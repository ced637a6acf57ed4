import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { SubmitItem } from '#src/protocol/client/client-messages.js';
import { LeaderHarness, nth } from '../leader-harness.js';

const submits = suite('submit processor');

/** A submit whose outcome is wanted. */
function wanted(seq: number): SubmitItem {
  return { seq, ref: 1, payload: `${seq}`, key: '', delayMs: 0, wantsOutcome: true };
}

submits('a submit has its receipt when it is durable, and its outcome when the job has ended', () => {
  const harness = new LeaderHarness();
  const worker = harness.worker({ slots: 3 });
  const client = harness.client();
  client.write({ kind: 'submit', low: 0, items: [wanted(1), { ...wanted(2), wantsOutcome: false }] });
  assert.equal(
    client
      .receipts()
      .map(({ seq, jobs, lsn }) => ({ seq, jobs, isDurable: lsn > 0 && lsn <= harness.leader.lsn })),
    [
      { seq: 1, jobs: [1], isDurable: true },
      { seq: 2, jobs: [2], isDurable: true },
    ],
  );
  assert.equal(client.outcomes(), []);
  for (const assignment of worker.assigned()) worker.succeed(assignment);
  assert.equal(
    client.outcomes().map(({ job }) => job),
    [1],
    'the outcome of the second is not wanted',
  );
  assert.is(client.receipts().length, 2);
});

// A refused submit does not use up its number.
submits('a submit sent again is the same job, also over a restart; a refused one may be sent again', () => {
  const harness = new LeaderHarness({ limits: { jobsMax: 1 } });
  const client = harness.client();
  const first = client.submit('x', { seq: 1 });
  assert.equal(client.submit('x', { seq: 1 })?.jobs, first?.jobs);
  assert.is(client.submit('y', { seq: 2 })?.refusal?.code, 'ERR_QUEUE_FULL');
  const again = harness.restarted();
  const back = again.client();
  assert.equal(back.submit('x', { seq: 1 })?.jobs, first?.jobs);
  const worker = again.worker();
  worker.succeed(nth(worker.assigned(), 0));
  const second = back.submit('y', { seq: 2 });
  assert.equal([second?.refusal, second?.jobs], [undefined, [2]]);
  assert.is(again.leader.ledger.accepted, 2);
});

submits('a number further ahead of the mark than a client may have unanswered is refused, by receipt', () => {
  const harness = new LeaderHarness({ limits: { outstandingMax: 8 } });
  const client = harness.client();
  assert.is(client.submit('x', { seq: 8 })?.refusal, undefined);
  const far = client.submit('x', { seq: 9 })?.refusal;
  assert.equal([far?.code, far?.retryAfterMs], ['ERR_SUBMIT_WINDOW_FULL', 1_000]);
  client.write({ kind: 'submit', low: 1, items: [wanted(9)] });
  assert.is(client.receipts().at(-1)?.refusal, undefined, 'the mark has passed a number');
  client.write({ kind: 'submit_all', low: 1, seq: 10, items: [wanted(10), wanted(10)] });
  assert.is(client.receipts().at(-1)?.refusal?.code, 'ERR_SUBMIT_WINDOW_FULL');
});

submits('a submit behind a mark that its own client has raised is not kept', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  harness.heldWrites = [];
  client.write({ kind: 'submit', low: 1_000_000, items: [wanted(1_000_001)] });
  client.write({ kind: 'submit', low: 0, items: [wanted(5)] });
  while (harness.heldWrites.length > 0) harness.completeWrite();
  const [producer] = harness.leader.ledger.producers.values();
  assert.equal(producer?.entries(), [[1_000_001, 1]]);
});

submits('the same number from two clients is two submits', () => {
  const harness = new LeaderHarness();
  const jobs = [harness.client('ann', 't1').submit('x'), harness.client('ann', 't2').submit('x')].map(
    (one) => one?.jobs[0],
  );
  assert.equal(jobs, [1, 2]);
});

submits('a malformed submit is refused and changes nothing', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  const bad = [
    { seq: 1, ref: 9, payload: 'x', key: '', delayMs: 0, wantsOutcome: false },
    { seq: 2, ref: 1, payload: 'x', key: 'k'.repeat(600), delayMs: 0, wantsOutcome: false },
    { seq: 3, ref: 1, payload: 'x', key: '', delayMs: -1, wantsOutcome: false },
    { seq: 4, ref: 1, payload: 5 as unknown as string, key: '', delayMs: 0, wantsOutcome: false },
    { seq: 5, ref: 1, payload: 'x'.repeat(2_000_000), key: '', delayMs: 0, wantsOutcome: false },
  ];
  client.write({ kind: 'submit', low: 0, items: bad });
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
  client.write({ kind: 'submit_all', low: 0, seq: 6, items: [] });
  assert.is(client.receipts().at(-1)?.refusal?.code, 'ERR_MESSAGE_MALFORMED');
  assert.is(harness.leader.ledger.accepted, 0);
});

// A number goes into a record only if it comes back from it unchanged.
submits('submit numbers out of range are refused before they reach the log', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
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
    client.write({ kind: 'submit', low, items: [{ ...item, seq }] });
    client.write({ kind: 'submit_all', low, seq, items: [{ ...item, seq }] });
  }
  const codes = new Set(client.receipts().map((one) => one.refusal?.code));
  assert.equal([...codes], ['ERR_MESSAGE_MALFORMED', 'ERR_SUBMIT_WINDOW_FULL']);
  assert.is(client.receipts().length, 2 * odd.length);
  assert.is(harness.leader.ledger.accepted, 0);
  assert.is(harness.restarted().leader.ledger.accepted, 0);
});

submits('a batch or a result larger than a record is refused, and the leader goes on', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  const large = 'x'.repeat(1024 * 1024);
  const items = Array.from({ length: 13 }, () => ({
    seq: 1,
    ref: 1,
    payload: large,
    key: '',
    delayMs: 0,
    wantsOutcome: false,
  }));
  client.write({ kind: 'submit_all', low: 0, seq: 1, items });
  assert.is(client.receipts().at(-1)?.refusal?.code, 'ERR_PAYLOAD_TOO_LARGE');
  client.submit('y', { seq: 2 });
  const worker = harness.worker({ slots: 1 });
  worker.succeed(nth(worker.assigned(), 0), 'x'.repeat(2_000));
  const job = harness.leader.ledger.jobs.get(1);
  assert.equal([job?.state, job?.end?.reason, job?.failure?.name], ['dead', 'final', 'OutputTooLarge']);
});

// A receipt means durable, and a submit that did not become durable is not remembered.
submits('a submit whose write failed has no receipt; sent again to the next leader it is accepted', () => {
  for (const key of ['', 'k']) {
    const harness = new LeaderHarness();
    const client = harness.client();
    harness.failJournal = true;
    assert.is(client.submit('x', { key }), undefined);
    assert.is(harness.fatal.length, 1);
    assert.is(client.submit('x', { key, seq: 1 }), undefined, 'nor later: the leader has stopped');
    const next = harness.restarted();
    const receipt = next.client().submit('x', { key, seq: 1 });
    assert.equal([receipt?.jobs, receipt?.duplicate, receipt?.refusal], [[1], false, undefined]);
    assert.is(next.leader.ledger.accepted, 1);
  }
});

// Flag 1 of an item in docs/wire-protocol.md.
submits('the outcomes of a batch are sent only where the client wants them', () => {
  for (const wantsOutcome of [false, true]) {
    const harness = new LeaderHarness();
    const client = harness.client();
    const item = { seq: 1, ref: 1, payload: 'x', key: '', delayMs: 0, wantsOutcome };
    client.write({ kind: 'submit_all', low: 0, seq: 1, items: [item, item] });
    const worker = harness.worker({ slots: 2 });
    for (const attempt of worker.assigned()) worker.succeed(attempt);
    assert.is(harness.counts()['done'], 2);
    assert.is(client.outcomes().length, wantsOutcome ? 2 : 0);
  }
});

submits.run();
