import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { defineJob } from '#src/job/definition/define-job.js';
import { jobId } from '#src/job/job-id.js';
import { JobFailedError } from '#src/jobs-error.js';
import { ClientRig } from '../client-rig.js';

const pending = suite('pending calls');

const anything = {
  '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => ({ value }) },
};
const job = defineJob('one', { input: anything, output: anything });
pending('a submit drops its payload when it is accepted, not when it is refused', async () => {
  const rig = new ClientRig();
  rig.welcome();
  const results = [rig.client.run(job, 'text'), rig.client.run(job, 'text')];
  const settled = Promise.allSettled(results);
  const [first, second] = await rig.submitted();
  rig.answer(1);
  const refusal = { code: 'ERR_QUEUE_FULL', problem: 'full', retryAfterMs: 1 } as const;
  rig.fromLeader({ kind: 'receipts', items: [{ seq: 2, jobs: [], lsn: 1, duplicate: false, refusal }] });
  assert.equal([first?.payload, second?.payload], ['', '"text"']);
  rig.client.close();
  await settled;
});

pending(
  'a receipt makes room in the window; an outcome ends the run and every other wait for its job',
  async () => {
    const rig = new ClientRig();
    const { client, sent } = rig;
    rig.welcome(1);
    const flushed = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const seqs = (): (readonly [seq: number, low: number])[] =>
      sent
        .splice(0)
        .flatMap((one) => (one.kind === 'submit' ? one.items.map(({ seq }) => [seq, one.low] as const) : []));
    const first = client.run(job, 'a');
    const second = client.run(job, 'b');
    const elsewhere = client.open(job, jobId('tag', 7)).result();
    await flushed();
    assert.equal(seqs(), [[1, 0]], 'the window is full');
    rig.answer(1, 7);
    await flushed();
    assert.equal(seqs(), [[2, 1]]);
    const done = { state: 'done', reason: '', failure: undefined } as const;
    rig.fromLeader({ kind: 'outcomes', items: [{ ...done, job: 7, result: '"A"' }] });
    assert.equal([await first, await elsewhere], ['A', 'A']);
    rig.answer(2, 8);
    rig.fromLeader({ kind: 'outcomes', items: [{ ...done, job: 7, result: '"again"' }] });
    const dead = {
      job: 8,
      state: 'dead',
      result: undefined,
      reason: 'exhausted',
      failure: undefined,
    } as const;
    rig.fromLeader({ kind: 'outcomes', items: [dead] });
    const error: unknown = await second.catch((reason: unknown) => reason);
    assert.instance(error, JobFailedError);
    client.close();
  },
);

pending('calls of one moment are one message of each kind to the actor', async () => {
  const rig = new ClientRig();
  rig.welcome(100);
  const seen: string[] = [];
  const { machine } = rig;
  const { submit, awaitOutcomes } = machine;
  machine.submit = (drafts) => {
    seen.push(`submit ${drafts.length}`);
    submit.call(machine, drafts);
  };
  machine.awaitOutcomes = (waits) => {
    seen.push(`await ${waits.length}`);
    awaitOutcomes.call(machine, waits);
  };
  const calls = Array.from({ length: 10 }, (_, i) => rig.client.submit(job, i));
  const waits = Array.from({ length: 5 }, (_, i) => rig.client.open(job, jobId('tag', i + 1)).result());
  const settled = Promise.allSettled([...calls, ...waits]);
  await rig.submitted();
  assert.equal(seen, ['submit 10', 'await 5']);
  rig.client.close();
  assert.ok((await settled).every(({ status }) => status === 'rejected'));
});

// A recorder, a trace or another thread can copy every message of a client.
pending('no message to the actor carries a function', async () => {
  const rig = new ClientRig();
  const { machine } = rig;
  const inputs = ['define', 'submit', 'withdraw', 'awaitOutcomes', 'stopAwaiting', 'request'] as const;
  const copied = new Set<string>();
  for (const name of inputs) {
    const original = machine[name] as (payload: unknown) => void;
    (machine as unknown as Record<string, (payload: unknown) => void>)[name] = (payload) => {
      structuredClone(payload);
      copied.add(name);
      original.call(machine, payload);
    };
  }
  rig.welcome();
  const { client } = rig;
  const limits = { withinMs: 1 };
  const calls = [
    client.submit(job, 1, limits),
    client.run(job, 2, limits),
    client.submitAll(job, [1, 2], limits),
    client.open(job, jobId('tag', 9)).result(limits),
    client.overview(limits),
  ];
  assert.ok((await Promise.allSettled(calls)).every(({ status }) => status === 'rejected'));
  await rig.submitted();
  assert.equal([...copied].sort(), [...inputs].sort());
});

pending.run();
