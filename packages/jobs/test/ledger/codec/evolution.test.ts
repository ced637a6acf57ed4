// The rules of docs/ledger-format.md: records and chunks of a later version, read by this one.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { HAS_FIELDS, writeOptionalFields } from '#src/bytes/optional-fields.js';
import { decodeRecords, encodeRecord } from '#src/ledger/codec/ledger-record-codec.js';
import { encodeSnapshot, loadChunk } from '#src/ledger/codec/ledger-snapshot-codec.js';
import { beginRecord, endRecord } from '#src/ledger/codec/record-frame.js';
import { Ledger } from '#src/ledger/ledger.js';
import { assertLedgerReadable, LEDGER_FORMAT, type LedgerFormat } from '#src/ledger/ledger-format.js';
import type { EnqueueRecord, LedgerRecord } from '#src/ledger/ledger-record.js';
import {
  bytesOf,
  chunkWithLaterFields,
  itemWithLaterFields,
  LATER_FIELDS,
  LATER_OPTIONAL,
  LATER_REQUIRED,
  laterChunk,
  laterRecord,
  withLaterFields,
} from '../later-version.js';
import { firstRecords, policyOf } from '../random-records.js';

const evolution = suite('evolution of records');

const enqueue: EnqueueRecord = {
  type: 'enqueue',
  at: 5,
  producer: 1,
  seq: 1,
  low: 0,
  job: 1,
  policy: 1,
  dueAt: 70,
  key: 'k',
  payload: '"in"',
};
const tick: LedgerRecord = { type: 'tick', at: 6 };

function decoded(bytes: Uint8Array): LedgerRecord[] {
  const records: LedgerRecord[] = [];
  decodeRecords(bytes, (record) => records.push(record));
  return records;
}

const isVersionError = (error: { code?: string }): boolean => error.code === 'ERR_LEDGER_VERSION';

evolution(
  'a field that a later version adds to `enqueue` is skipped, with the records around it intact',
  () => {
    const bytes = bytesOf((out) => {
      encodeRecord(enqueue, out);
      const start = beginRecord(out, 4, 6, LATER_FIELDS);
      for (const value of [1, 2, 0, 2, 1]) out.int(value);
      out.byte(HAS_FIELDS | 2 | 4);
      out.text('k');
      out.double(70);
      writeOptionalFields(out, LATER_FIELDS);
      out.payload('"in"');
      endRecord(out, start);
      encodeRecord(tick, out);
    });
    assert.equal(decoded(bytes), [enqueue, { ...enqueue, at: 6, seq: 2, job: 2 }, tick]);
  },
);

evolution('a field that a later version adds to a job of a batch is skipped', () => {
  const jobs = [1, 2].map((job) => ({ job, policy: 1, dueAt: 0, key: '', payload: '"in"' }));
  const bytes = bytesOf((out) => {
    beginRecord(out, 5, 5, undefined);
    for (const value of [1, 1, 0, 2]) out.int(value);
    for (const job of [1, 2]) {
      out.int(job);
      out.int(1);
      out.byte(HAS_FIELDS);
      writeOptionalFields(out, LATER_FIELDS);
      out.payload('"in"');
    }
  });
  assert.equal(decoded(bytes), [{ type: 'enqueue_all', at: 5, producer: 1, seq: 1, low: 0, jobs }]);
});

evolution('every kind of record may have optional fields', () => {
  const failure = { name: 'Error', message: 'no' };
  const records: LedgerRecord[] = [
    ...firstRecords(),
    enqueue,
    { type: 'assign', at: 5, job: 1, attempt: 1, worker: 'w' },
    { type: 'ack', at: 5, job: 1, attempt: 1, result: 'r' },
    { type: 'retry', at: 5, job: 1, attempt: 1, dueAt: 9, failure },
    { type: 'timeout_requeue', at: 5, job: 1, attempt: 1, dueAt: 9, failure },
    { type: 'worker_down_requeue', at: 5, job: 1, attempt: 1, dueAt: 0, failure: undefined },
    { type: 'release', at: 5, job: 1, attempt: 1, dueAt: 0, failure: undefined },
    { type: 'dlq', at: 5, job: 1, attempt: 1, reason: 'failed', failure },
    { type: 'cancel', at: 5, job: 1, reason: 'enough' },
    { type: 'redrive', at: 5, jobs: [1] },
    { type: 'purge', at: 5, jobs: [1] },
    { type: 'limits', at: 5, resultsMax: 1, resultsBytesMax: 2, keyWindowMs: 3 },
    { type: 'policy_drop', at: 5, policies: [1] },
    { type: 'producer_drop', at: 5, producers: [1] },
    tick,
  ];
  for (const record of records) {
    const extended = withLaterFields(bytesOf((out) => encodeRecord(record, out)));
    assert.equal(decoded(extended), [record], record.type);
  }
});

evolution('a record of an unknown optional kind is skipped, with the records around it intact', () => {
  const bytes = bytesOf((out) => {
    encodeRecord(enqueue, out);
    laterRecord(out, LATER_OPTIONAL);
    laterRecord(out, LATER_OPTIONAL, LATER_FIELDS);
    encodeRecord(tick, out);
  });
  assert.equal(decoded(bytes), [enqueue, tick]);
});

evolution('a record of an unknown required kind is refused as of another version', () => {
  const bytes = bytesOf((out) => laterRecord(out, LATER_REQUIRED));
  assert.throws(() => decoded(bytes), isVersionError);
});

evolution('a record that is cut inside its length is damage', () => {
  const bytes = bytesOf((out) => laterRecord(out, LATER_OPTIONAL));
  for (let end = 1; end < bytes.length; end += 1) {
    assert.throws(
      () => decoded(bytes.subarray(0, end)),
      (error: { code?: string }) => error.code === 'ERR_LEDGER_CORRUPT',
    );
  }
});

evolution('a record without optional fields costs no byte for them', () => {
  // Kind, time, five small numbers, flags, and the payload with its length.
  assert.is(
    bytesOf((out) => encodeRecord({ ...enqueue, key: '', dueAt: 0 }, out)).length,
    1 + 8 + 5 + 1 + 1 + 4,
  );
});

function ledgerOf(records: readonly LedgerRecord[]): Ledger {
  const ledger = new Ledger();
  for (const record of records) ledger.apply(record);
  return ledger;
}

function restored(chunks: readonly Uint8Array[]): Ledger {
  const ledger = new Ledger();
  for (const chunk of chunks) loadChunk(ledger, chunk);
  return ledger;
}

evolution('unknown optional chunks and fields of a snapshot are skipped', () => {
  const ledger = ledgerOf([...firstRecords(), enqueue, { ...enqueue, job: 2, seq: 2, key: '', dueAt: 0 }]);
  const own = [...encodeSnapshot(ledger)];
  const chunks = own.flatMap((chunk) => [
    // One producer and one key.
    [2, 3].includes(chunk[0] ?? 0) ? itemWithLaterFields(chunk) : chunkWithLaterFields(chunk),
    laterChunk(LATER_OPTIONAL),
  ]);
  assert.not.equal(chunks.length, own.length);
  assert.equal([...encodeSnapshot(restored(chunks))], own);
});

evolution('an unknown required chunk of a snapshot is refused as of another version', () => {
  assert.throws(() => loadChunk(new Ledger(), laterChunk(LATER_REQUIRED)), isVersionError);
});

evolution('a policy of a later version keeps its known fields', () => {
  const policy = { ...policyOf('one'), colour: 'blue' };
  const bytes = bytesOf((out) => encodeRecord({ type: 'policy', at: 1, no: 1, policy }, out));
  const ledger = ledgerOf(decoded(bytes));
  assert.equal(ledger.policies.get(1)?.toJSON(), policyOf('one'));
});

evolution(
  'a format of a higher minor, another major or another name is refused with the version that reads it',
  () => {
    const { major, minor } = LEDGER_FORMAT;
    const refused: readonly (readonly [LedgerFormat | undefined, RegExp])[] = [
      [{ ...LEDGER_FORMAT, minor: minor + 1, since: '7.8.9' }, /start version 7\.8\.9 or later/],
      [{ ...LEDGER_FORMAT, major: major + 1, since: '7.8.9' }, /start version 7\.8\.9 or later/],
      [{ ...LEDGER_FORMAT, name: 'diary' }, /holds diary/],
      [undefined, /states no format/],
    ];
    for (const [format, text] of refused) {
      assert.throws(
        () => assertLedgerReadable(format),
        (error: Error & { code?: string }) => isVersionError(error) && text.test(error.message),
      );
    }
    for (let lower = 0; lower <= minor; lower += 1) assertLedgerReadable({ ...LEDGER_FORMAT, minor: lower });
  },
);

evolution.run();
