import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LeaderHarness, nth } from '../leader-harness.js';

const fleets = suite('fleet');

fleets('the less loaded worker is preferred', () => {
  const harness = new LeaderHarness();
  const [busy, calm] = [
    harness.worker({ name: 'busy', slots: 4 }),
    harness.worker({ name: 'calm', slots: 4 }),
  ];
  busy.session.cpu = 0.9;
  const client = harness.client();
  client.submit('1');
  client.submit('2');
  assert.equal([busy.assigned().length, calm.assigned().length], [0, 2]);
});

/**
 * Two workers have run one job of this length each; then eight come at once. Returns how many each worker
 * gets.
 */
function spread(runMs: number): number[] {
  const harness = new LeaderHarness();
  const workers = ['a', 'b'].map((name) => harness.worker({ name, slots: 8 }));
  const client = harness.client();
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
  client.write({ kind: 'submit', low: 0, items });
  return workers.map((worker) => worker.assigned().length - 1).sort();
}

fleets('short jobs go to one worker in a batch, long ones are spread', () => {
  assert.equal(spread(0.1), [0, 8]);
  assert.equal(spread(0.5), [4, 4]);
  assert.equal(spread(100), [4, 4]);
});

// Credit cannot be taken back, so the leader must not use credit that was granted while jobs were short (ADR
// 0138).
fleets(
  'credit beyond the slots of a worker is used while its jobs are short, and not once they are long',
  () => {
    const harness = new LeaderHarness();
    const worker = harness.worker({ slots: 2 });
    const client = harness.client();
    const ended = (nos: readonly number[]) =>
      worker
        .assigned()
        .filter(({ job }) => nos.includes(job))
        .map(({ job, attempt }) => ({ outcome: 'ok', job, attempt, result: '1' }) as const);
    client.submit('1');
    // At a tenth of a millisecond per job it grants twenty beyond its two slots.
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

/**
 * Two clients have four jobs each, and one worker runs jobs of this length. Returns the clients of its jobs,
 * in order.
 */
function turns(runMs: number): string {
  const harness = new LeaderHarness();
  const clients = ['a', 'b'].map((name) => harness.client(name));
  for (let i = 0; i < 8; i += 1) nth(clients, 0).submit('warm up');
  const worker = harness.worker({ slots: 8 });
  const ends = worker
    .assigned()
    .map(({ job, attempt }) => ({ outcome: 'ok', job, attempt, result: '1' }) as const);
  // The worker grants its slots again when the jobs of both clients are queued.
  worker.report(ends, 0, 8 * runMs);
  for (let i = 0; i < 4; i += 1) for (const client of clients) client.submit(`${i}`);
  worker.report([], 8);
  return worker
    .assigned()
    .slice(8)
    .map((one) => one.client)
    .join('');
}

fleets('a batch of short jobs comes from one client, long jobs come from the clients in turn', () => {
  assert.is(turns(0.1), 'aaaabbbb');
  assert.is(turns(100), 'abababab');
});

fleets.run();
