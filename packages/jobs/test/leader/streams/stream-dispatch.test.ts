import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { policyOf } from '../../ledger/random-records.js';
import { FakeClient, LeaderHarness } from '../leader-harness.js';

const dispatch = suite('dispatch of streams');

const keep = { doneMs: 1e6, deadMs: 1e6 };

dispatch('a stream is never short: it waits for a free slot, in no batch, and changes no estimate', () => {
  const harness = new LeaderHarness();
  const worker = harness.worker({ slots: 2, execs: ['one', 'two'] });
  const plain = new FakeClient(harness, 'ann', 't1', policyOf('two', keep));
  const streaming = new FakeClient(harness, 'bob', 't2', { ...policyOf('one', keep), streaming: 'response' });
  // Short jobs: the worker may hold a batch beyond its slots.
  for (let i = 0; i < 4; i += 1) {
    plain.submit(`${i}`);
    const { job, attempt } = worker.assigned().at(-1) ?? { job: 0, attempt: 0 };
    worker.report([{ outcome: 'ok', job, attempt, result: '1' }], 50, 0.01);
  }
  const before = worker.assigned().length;
  for (let i = 0; i < 10; i += 1) streaming.submit(`${i}`);
  assert.is(worker.assigned().length - before, 2);
  for (let i = 0; i < 10; i += 1) plain.submit(`${i}`);
  assert.ok(worker.assigned().length - before > 2, 'short jobs still wait at the worker');
  const streams = worker.assigned().slice(before, before + 2);
  worker.report(
    streams.map(({ job, attempt }) => ({ outcome: 'ok', job, attempt, result: '1', chunks: 1 })),
    2,
    0,
  );
  assert.ok(worker.session.batchSize > 1);
});

dispatch.run();
