import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import { payloadOfBytes } from '#src/job/payload/payload.js';
import { decodeRecords, encodeRecord } from '#src/ledger/codec/ledger-record-codec.js';
import { encodeEntry } from '#src/ledger/codec/record-entry.js';
import { KIND_OF } from '#src/ledger/codec/record-kinds.js';
import type { LedgerRecord } from '#src/ledger/ledger-record.js';
import { policyOf } from '../random-records.js';

const codec = suite('record codec');

const number = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const at = fc.double({ noNaN: true, noDefaultInfinity: true });
const text = fc.string();
const payload = fc.oneof(
  fc.string({ unit: 'binary-ascii' }),
  fc.uint8Array().map((bytes) => payloadOfBytes(bytes)),
  fc.uint8Array({ minLength: 4_097, maxLength: 5_000 }),
);
const failure = fc.option(fc.record({ name: text, message: text }), { nil: undefined });
const by = fc.option(text, { nil: undefined });
const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'123456789abcdef'), minLength: length, maxLength: length });
const traceparent = fc.tuple(hex(32), hex(16)).map(([trace, span]) => `00-${trace}-${span}-01`);
const tracestate = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 512 });
const trace = fc.option(fc.oneof(fc.record({ traceparent }), fc.record({ traceparent, tracestate })), {
  nil: undefined,
});
const orderKey = fc.option(fc.string({ minLength: 1 }), { nil: undefined });
const word = fc.string({ unit: fc.constantFrom(...'abé'), minLength: 1, maxLength: 5 });
const tags = fc.option(fc.array(word, { minLength: 1, maxLength: 16 }), { nil: undefined });
const holdsKey = fc.option(fc.constant(true), { nil: undefined });
const optionalFields = { trace, orderKey, tags, holdsKey };
const submission = { job: number, policy: number, dueAt: at, key: text, payload, ...optionalFields };
const chunks = fc.option(number, { nil: undefined });
const metadata = fc.option(text, { nil: undefined });
const limits = fc.record(
  { runningMax: number, rate: fc.record({ jobs: number, perMs: number }), keyRunningMax: number },
  { requiredKeys: [] },
);
const rule = fc.oneof(
  fc.record({ everyMs: number, overlap: fc.constant('queue' as const), catchUpMax: number }),
  fc.record({
    cron: text,
    zone: text,
    jitterMs: number,
    overlap: fc.constant('skip' as const),
    catchUpMax: number,
  }),
);
const attempt = { at, job: number, attempt: number };
const of = <T extends string>(...types: T[]) => fc.constantFrom(...types);
const records: fc.Arbitrary<LedgerRecord> = fc.oneof(
  fc.record({ type: of('genesis'), at, tag: text }),
  fc.record({ type: of('policy'), at, no: number, policy: text.map((exec) => policyOf(exec)) }),
  fc.record({ type: of('producer'), at, producer: number, client: text, token: text }),
  fc.record({ type: of('enqueue'), at, producer: number, seq: number, low: number, ...submission }),
  fc.record({
    type: of('enqueue_all'),
    at,
    producer: number,
    seq: number,
    low: number,
    jobs: fc.array(fc.record(submission), { maxLength: 3 }),
  }),
  fc.record({ type: of('assign'), ...attempt, worker: text }),
  fc.record({ type: of('ack'), ...attempt, result: payload, chunks, metadata }),
  fc.record({
    type: of('retry', 'timeout_requeue', 'worker_down_requeue', 'release'),
    ...attempt,
    dueAt: at,
    failure,
    chunks,
  }),
  fc.record({
    type: of('dlq'),
    ...attempt,
    reason: of('failed', 'final', 'timed-out', 'quarantined', 'payload-lost', 'feed-dropped'),
    failure,
    chunks,
    metadata,
  }),
  fc.record({
    type: of('feed'),
    at,
    job: number,
    feeder: text,
    first: number,
    items: fc.array(payload, { maxLength: 3 }),
    final: fc.boolean(),
  }),
  fc.record({ type: of('feed_end'), at, job: number }),
  fc.record({ type: of('feed_drop'), at, job: number, below: number }),
  fc.record({ type: of('cancel'), at, job: number, reason: text, by, chunks }),
  fc.record({ type: of('redrive', 'purge'), at, jobs: fc.array(number), by }),
  fc.record({ type: of('tick'), at }),
  fc.record({ type: of('policy_drop'), at, policies: fc.array(number) }),
  fc.record({ type: of('producer_drop'), at, producers: fc.array(number) }),
  fc.record({ type: of('limits'), at, resultsMax: number, resultsBytesMax: number, keyWindowMs: number }),
  fc.record({ type: of('queue_limits'), at, queue: text, limits, by }),
  fc.record({ type: of('queue_mode'), at, queue: text, mode: of('open', 'paused', 'draining'), by }),
  fc.record({ type: of('expire'), at, job: number }),
  fc.record({ type: of('redrive_edited'), at, job: number, payload, by }),
  fc.record({ type: of('worker_quiet'), at, worker: text, quiet: fc.boolean(), by }),
  fc.record({ type: of('audit'), at, action: text, target: text, detail: text, by }),
  fc.record({ type: of('key_release'), at, keys: fc.array(text) }),
  fc.record({ type: of('spill_file'), at, file: number }),
  fc.record({ type: of('spill_drop'), at, files: fc.array(number) }),
  fc.record({ type: of('state'), at, chunk: fc.uint8Array().map((bytes) => Buffer.from(bytes)) }),
  fc.record({
    type: of('schedule_set'),
    at,
    name: text,
    client: text,
    policy: number,
    rule,
    payload,
    wallAt: at,
    nextAt: at,
    by,
  }),
  fc.record({ type: of('schedule_drop'), at, name: text, by }),
  fc.record({ type: of('schedule_pause'), at, name: text, paused: fc.boolean(), nextAt: at, by }),
  fc.record({
    type: of('schedule_fire'),
    at,
    name: text,
    slotAt: at,
    nextAt: at,
    wallAt: at,
    held: number,
    replaced: number,
    jobs: fc.array(fc.record(submission), { maxLength: 1 }),
    by,
  }),
);

function encode(all: readonly LedgerRecord[]): Buffer {
  const out = new ByteWriter(16);
  for (const record of all) encodeRecord(record, out);
  return out.take();
}

codec('every type of record is drawn', () => {
  const drawn = new Set(fc.sample(records, { numRuns: 3_000, seed: 7 }).map(({ type }) => type));
  assert.equal(
    [...KIND_OF.keys()].filter((type) => !drawn.has(type as LedgerRecord['type'])),
    [],
  );
});

codec('every record is decoded unchanged, alone and among others', () => {
  void fc.assert(
    fc.property(fc.array(records, { maxLength: 4 }), (all) => {
      const got: LedgerRecord[] = [];
      decodeRecords(encode(all), (record) => got.push(record));
      // `equal` of uvu tells -0 from 0; the format does too.
      assert.equal(JSON.parse(JSON.stringify(got)), JSON.parse(JSON.stringify(all)));
    }),
    { numRuns: 600 },
  );
});

codec('every record is read from its line as it is from its bytes', () => {
  void fc.assert(
    fc.property(records, (record) => {
      const [binary] = decoded(encode([record]));
      const out = new ByteWriter(16);
      encodeEntry(record, 'jsonl', out);
      const [line] = decoded(out.take());
      assert.equal(JSON.parse(JSON.stringify(line)), JSON.parse(JSON.stringify(binary)));
    }),
    { numRuns: 600 },
  );
});

function decoded(entry: Uint8Array): LedgerRecord[] {
  const all: LedgerRecord[] = [];
  decodeRecords(entry, (record) => all.push(record));
  return all;
}

codec('a truncated or damaged entry is an error with a code', () => {
  void fc.assert(
    fc.property(records, fc.nat(), fc.nat(255), (record, where, byte) => {
      const bytes = encode([record]);
      const cut = bytes.subarray(0, where % bytes.length);
      const damaged = Buffer.from(bytes);
      damaged[where % bytes.length] = byte;
      for (const bad of [cut, damaged]) {
        try {
          decodeRecords(bad, () => undefined);
        } catch (error) {
          const { code = '' } = error as { code?: string };
          // A damaged kind may be one that a later version could have written.
          assert.ok(['ERR_LEDGER_CORRUPT', 'ERR_LEDGER_VERSION'].includes(code), String(error));
        }
      }
    }),
    { numRuns: 600 },
  );
});

codec('a damaged policy or failure is ERR_LEDGER_CORRUPT', () => {
  const policy = { type: 'policy', at: 1, no: 1, policy: policyOf('x') } as const;
  const failure = { name: 'Error', message: 'no' };
  const dead = { type: 'dlq', at: 1, job: 1, attempt: 1, reason: 'failed', failure } as const;
  for (const record of [policy, dead] satisfies LedgerRecord[]) {
    const bytes = Buffer.from(encode([record]));
    bytes[bytes.indexOf('{')] = 0x5b;
    assert.throws(
      () => decodeRecords(bytes, () => undefined),
      (error: { code?: string }) => error.code === 'ERR_LEDGER_CORRUPT',
    );
  }
});

codec.run();
