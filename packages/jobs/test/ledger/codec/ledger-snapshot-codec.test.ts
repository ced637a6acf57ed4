import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import { encodeSnapshot, loadChunk } from '#src/ledger/codec/ledger-snapshot-codec.js';
import { Job, type JobEnd } from '#src/ledger/jobs/job.js';
import { Ledger } from '#src/ledger/ledger.js';
import { type EndedJobFields, endedJob, ORDINARY, POLICIES, randomFields } from '../jobs/random-ended-job.js';

const codec = suite('snapshot codec');

function ledgerOf(all: readonly (EndedJobFields | 'queued' | 'dead')[]): Ledger {
  const ledger = new Ledger();
  for (const policy of POLICIES) ledger.policies.set(policy.no, policy);
  for (const [i, one] of all.entries()) {
    const no = i + 1;
    if (typeof one === 'object') {
      const job = endedJob(no, one);
      ledger.restore(job, job.end as JobEnd);
      continue;
    }
    const job = new Job(no, ORDINARY.policy, 'ann', no, '', `"p${no}"`, 0);
    job.state = one;
    const end = { at: no + 100, result: undefined, reason: 'failed', failure: undefined };
    ledger.restore(job, one === 'queued' ? undefined : end);
  }
  return ledger;
}

function chunksOf(ledger: Ledger): Buffer[] {
  return [...encodeSnapshot(ledger)].map((chunk) => Buffer.from(chunk));
}

function load(chunks: readonly Uint8Array[]): Ledger {
  const ledger = new Ledger();
  for (const chunk of chunks) loadChunk(ledger, chunk);
  return ledger;
}

/** Every job as text, with its policy by number: policies are other objects in another ledger. */
function textsOf(ledger: Ledger): string[] {
  return Array.from(ledger.jobs.values(), (job) =>
    JSON.stringify({ ...job, policy: job.policy.no, lease: undefined, waiters: undefined }),
  );
}

const jobs = fc.array(fc.oneof({ weight: 8, arbitrary: randomFields }, fc.constantFrom('queued', 'dead')), {
  minLength: 100,
  maxLength: 300,
  size: 'max',
});

codec('the time of a redrive is kept with its job, and forgotten with its end', () => {
  const ledger = ledgerOf(['dead', 'queued']);
  ledger.apply({ type: 'redrive', at: 5_000, jobs: [1] });
  const again = load(chunksOf(ledger));
  const [redriven, other] = [...again.jobs.values()] as [Job, Job]; // two jobs were made
  assert.equal([again.waitsSince(redriven), again.waitsSince(other)], [5_000, 2]);
  again.apply({ type: 'cancel', at: 6_000, job: 1, reason: '' });
  assert.is(again.redrivenAt.size, 0);
});

codec('jobs that share a template are decoded unchanged, and encoded again to the same bytes', () => {
  void fc.assert(
    fc.property(jobs, (all) => {
      const ledger = ledgerOf(all);
      const chunks = chunksOf(ledger);
      const again = load(chunks);
      assert.is(textsOf(again).join('\n'), textsOf(ledger).join('\n'));
      assert.is(Buffer.concat(chunksOf(again)).compare(Buffer.concat(chunks)), 0);
      assert.equal(again.counts, ledger.counts);
      assert.is(again.resultBytes, ledger.resultBytes);
      assert.is(again.ended.size, ledger.ended.size);
    }),
    { numRuns: 100 },
  );
});

codec('a job that shares the template of the one before it takes 18 bytes: its number and two times', () => {
  const bytes = (count: number): number =>
    chunksOf(ledgerOf(Array.from({ length: count }, () => ORDINARY))).reduce(
      (sum, { length }) => sum + length,
      0,
    );
  assert.is(bytes(1_001) - bytes(1), 1_000 * 18);
});

codec('every chunk of jobs can be read without the chunks before it', () => {
  const [head, ...chunks] = chunksOf(ledgerOf(Array.from({ length: 40_000 }, () => ORDINARY)));
  assert.ok(chunks.length > 2, `${chunks.length} chunks`);
  for (const chunk of chunks) {
    const { jobs: some } = load([head as Buffer, chunk]);
    const [first] = some.values();
    assert.is(first?.client, ORDINARY.client);
    assert.is(some.get((first?.no ?? 0) + 5)?.end?.result, 'null');
  }
});

codec('a job without its template, and an unknown version, are refused', () => {
  const corrupt = (error: unknown) => (error as { code?: string }).code === 'ERR_LEDGER_CORRUPT';
  const [head] = chunksOf(ledgerOf([]));
  for (const form of [1, 2, 3]) {
    const out = new ByteWriter();
    out.byte(4);
    out.byte(form);
    out.int(1);
    out.double(1);
    out.double(2);
    assert.throws(() => load([head as Buffer, out.take()]), corrupt, `form ${form}`);
  }
  const unknown = Buffer.from(head as Buffer);
  unknown[1] = 100;
  assert.throws(
    () => load([unknown]),
    (error: { code?: string }) => error.code === 'ERR_LEDGER_VERSION',
  );
});

codec.run();
