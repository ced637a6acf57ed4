import { nodeHost } from '@troupe/core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Client } from '#src/client/client.js';
import { Outcomes } from '#src/client/outcomes.js';
import { PendingRun } from '#src/client/pending.js';
import { defineJob } from '#src/job/define-job.js';
import { jobId } from '#src/job/job-id.js';
import { JobFailedError } from '#src/jobs-error.js';
import type { ClientMessage } from '#src/protocol/client-messages.js';

const pending = suite('pending');

const anything = {
  '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => ({ value }) },
};
const job = defineJob('one', { input: anything, output: anything });
function run(): PendingRun {
  const outcomes = new Outcomes((no) => `${no}`);
  const one = new PendingRun(outcomes, job, { resolve: () => undefined, reject: () => undefined });
  one.item.payload = '"text"';
  return one;
}

pending('a run lets go of its payload when the leader has it on its disk, not before', () => {
  const taken = run();
  taken.settled({ seq: 1, jobs: [1], lsn: 1, duplicate: false, refusal: undefined });
  assert.is(taken.item.payload, '');
  const refused = run();
  const refusal = { code: 'ERR_QUEUE_FULL', problem: 'full', retryAfterMs: 1 } as const;
  refused.settled({ seq: 1, jobs: [], lsn: 1, duplicate: false, refusal });
  assert.is(refused.item.payload, '"text"');
});

pending(
  'a receipt frees the place of its submit; an outcome ends the run and every other wait for its job',
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
    assert.equal(seqs(), [[1, 0]], 'the second waits for its place');
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
