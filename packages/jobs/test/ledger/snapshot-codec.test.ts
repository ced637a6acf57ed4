import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import { Job, type JobEnd } from '#src/ledger/job.js';
import { Ledger } from '#src/ledger/ledger.js';
import { encodeSnapshot, loadChunk } from '#src/ledger/snapshot-codec.js';
import { endedJob, PLAIN, POLICIES, type Traits, traits } from './ended-job.js';

const codec = suite('snapshot codec');

function admit(ledger: Ledger, job: Job): void {
  ledger.jobs.add(job);
  job.policy.jobs += 1;
  ledger.counts[job.state] += 1;
}

function ledgerOf(all: readonly (Traits | 'queued' | 'dead')[]): Ledger {
  const ledger = new Ledger();
  for (const policy of POLICIES) ledger.policies.set(policy.no, policy);
  for (const [i, one] of all.entries()) {
    const no = i + 1;
    if (typeof one === 'object') {
      const job = endedJob(no, one);
      admit(ledger, job);
      ledger.settle(job, job.end as JobEnd);
      continue;
    }
    const job = new Job(no, PLAIN.policy, 'ann', no, '', `"p${no}"`, 0);
    job.state = one;
    admit(ledger, job);
    if (one === 'queued') ledger.liveBytes += job.payload.length;
    else ledger.settle(job, { at: no + 100, result: undefined, reason: 'failed', failure: undefined });
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

/** Policies are other objects in another ledger, and the text of a job is long. */
function facts(ledger: Ledger): string[] {
  return Array.from(ledger.jobs.values(), (job) =>
    JSON.stringify({ ...job, policy: job.policy.no, lease: undefined, waiters: undefined }),
  );
}

const jobs = fc.array(fc.oneof({ weight: 8, arbitrary: traits }, fc.constantFrom('queued', 'dead')), {
  minLength: 100,
  maxLength: 300,
  size: 'max',
});

codec(
  'jobs that are like their neighbours are read back as they were, and written again as they were',
  () => {
    void fc.assert(
      fc.property(jobs, (all) => {
        const ledger = ledgerOf(all);
        const chunks = chunksOf(ledger);
        const again = load(chunks);
        assert.is(facts(again).join('\n'), facts(ledger).join('\n'));
        assert.is(Buffer.concat(chunksOf(again)).compare(Buffer.concat(chunks)), 0);
        assert.equal(again.counts, ledger.counts);
        assert.is(again.resultBytes, ledger.resultBytes);
        assert.is(again.ended.size, ledger.ended.size);
      }),
      { numRuns: 100 },
    );
  },
);

codec('a job that is like the one before it costs its number and two times', () => {
  const bytes = (count: number): number =>
    chunksOf(ledgerOf(Array.from({ length: count }, () => PLAIN))).reduce(
      (sum, { length }) => sum + length,
      0,
    );
  assert.is(bytes(1_001) - bytes(1), 1_000 * 18);
});

codec('every chunk of jobs can be read without the ones before it', () => {
  const [head, ...chunks] = chunksOf(ledgerOf(Array.from({ length: 40_000 }, () => PLAIN)));
  assert.ok(chunks.length > 2, `${chunks.length} chunks`);
  for (const chunk of chunks) {
    const { jobs: some } = load([head as Buffer, chunk]);
    const [first] = some.values();
    assert.is(first?.client, PLAIN.client);
    assert.is(some.get((first?.no ?? 0) + 5)?.end?.result, 'null');
  }
});

/** What the version before wrote of five jobs: two done, one dead, one cancelled, one queued. */
const VERSION_1 = [
  '01010561626364650000000000001c4000000000204ced40904e808080800180b8992906020205000101ad017b2265786563223a226f6e65222c2267726f7570223a2267222c227265747279223a7b22617474656d7074734d6178223a312c226b696e64223a226669786564222c2264656c61794d73223a317d2c226c656173654d73223a313030302c226c696d697473223a7b2272756e4d73223a313030302c226f75747075744279746573223a313030307d2c226b656570223a7b22646f6e654d73223a3530302c22646561644d73223a323030307d7d',
  '020103616e6e0274310000000000000040000501010202030304040505',
  '0401010203616e6e000000000000004000000000000000000001000000000000000000000010400001032272220002010203616e6e000000000000004000000000000000000001000000000000000000000014400001032272220003010303616e6e00000000000000400000000000000000000101000004227033221f7b226e616d65223a224572726f72222c226d657373616765223a226e6f227d0000000000001840066661696c6564001f7b226e616d65223a224572726f72222c226d657373616765223a226e6f227d04010403616e6e00000000000000400000000000000000000100000000000000000000001c4006656e6f756768000005010003616e6e000000000000004000000000000000000000000000042270352200',
];

codec('a snapshot of the version before is read', () => {
  const ledger = load(VERSION_1.map((chunk) => Buffer.from(chunk, 'hex')));
  assert.equal(ledger.counts, { queued: 1, running: 0, done: 2, dead: 1, cancelled: 1 });
  assert.equal(
    [1, 2, 3, 4, 5].map((no) => {
      const job = ledger.jobs.get(no);
      return [job?.state, job?.end?.at, job?.end?.result, job?.payload];
    }),
    [
      ['done', 4, '"r"', ''],
      ['done', 5, '"r"', ''],
      ['dead', 6, undefined, '"p3"'],
      ['cancelled', 7, undefined, ''],
      ['queued', undefined, undefined, '"p5"'],
    ],
  );
  assert.is(facts(load(chunksOf(ledger))).join('\n'), facts(ledger).join('\n'));
});

codec('a job that is like nothing, and a version from the future, are refused', () => {
  const corrupt = (error: unknown) => (error as { code?: string }).code === 'ERR_LEDGER_CORRUPT';
  const [head] = chunksOf(ledgerOf([]));
  for (const form of [1, 2, 3]) {
    const out = new ByteWriter();
    out.byte(5);
    out.byte(form);
    out.int(1);
    out.double(1);
    out.double(2);
    assert.throws(() => load([head as Buffer, out.take()]), corrupt, `form ${form}`);
  }
  const future = Buffer.from(head as Buffer);
  future[1] = 3;
  assert.throws(() => load([future]), corrupt);
});

codec.run();
