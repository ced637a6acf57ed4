import { nodeHost } from '@troupe/core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AwaitedOutcomes } from '#src/client/awaited-outcomes.js';
import { Client } from '#src/client/client.js';
import { PendingRun } from '#src/client/pending-submits.js';
import { defineJob } from '#src/job/define-job.js';
import { jobId } from '#src/job/job-id.js';
import { JobFailedError } from '#src/jobs-error.js';
import type { ClientMessage } from '#src/protocol/client-messages.js';

const pending = suite('pending calls');

const anything = {
  '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => ({ value }) },
};
const job = defineJob('one', { input: anything, output: anything });
function run(): PendingRun {
  const call = new PendingRun(new AwaitedOutcomes((no) => `${no}`), job);
  call.item.payload = '"text"';
  call.promise.catch(() => undefined);
  return call;
}

pending('a run drops its payload when its submit is accepted, not when it is refused', () => {
  const accepted = run();
  accepted.onReceipt({ seq: 1, jobs: [1], lsn: 1, duplicate: false, refusal: undefined });
  assert.is(accepted.item.payload, '');
  const refused = run();
  const refusal = { code: 'ERR_QUEUE_FULL', problem: 'full', retryAfterMs: 1 } as const;
  refused.onReceipt({ seq: 1, jobs: [], lsn: 1, duplicate: false, refusal });
  assert.is(refused.item.payload, '"text"');
});

pending(
  'a receipt makes room in the window; an outcome ends the run and every other wait for its job',
  async () => {
    const sent: ClientMessage[] = [];
    const link = { open: () => undefined, write: (message: ClientMessage) => void sent.push(message) };
    const client = new Client({ client: 'c', token: 't', host: nodeHost, link });
    client.fromLeader({ kind: 'welcome', tag: 'tag', outstandingMax: 1, payloadBytesMax: 1_000 });
    const flushed = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const seqs = (): (readonly [seq: number, low: number])[] =>
      sent
        .splice(0)
        .flatMap((one) => (one.kind === 'submit' ? one.items.map(({ seq }) => [seq, one.low] as const) : []));
    const received = (seq: number, job: number): void =>
      client.fromLeader({
        kind: 'receipts',
        items: [{ seq, jobs: [job], lsn: 1, duplicate: false, refusal: undefined }],
      });
    const first = client.run(job, 'a');
    const second = client.run(job, 'b');
    const elsewhere = client.open(job, jobId('tag', 7)).result();
    await flushed();
    assert.equal(seqs(), [[1, 0]], 'the window is full');
    received(1, 7);
    await flushed();
    assert.equal(seqs(), [[2, 1]]);
    const done = { state: 'done', reason: '', failure: undefined } as const;
    client.fromLeader({ kind: 'outcomes', items: [{ ...done, job: 7, result: '"A"' }] });
    assert.equal([await first, await elsewhere], ['A', 'A']);
    received(2, 8);
    client.fromLeader({ kind: 'outcomes', items: [{ ...done, job: 7, result: '"again"' }] });
    const dead = {
      job: 8,
      state: 'dead',
      result: undefined,
      reason: 'exhausted',
      failure: undefined,
    } as const;
    client.fromLeader({ kind: 'outcomes', items: [dead] });
    const error: unknown = await second.catch((reason: unknown) => reason);
    assert.instance(error, JobFailedError);
    client.close();
  },
);

pending.run();
