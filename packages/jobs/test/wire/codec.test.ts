import { type JobsError, MessageMalformedError } from '@troupe/jobs';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import type { ClientMessage, JobOutcome, Receipt, ToClient } from '#src/protocol/client/client-messages.js';
import type { FeedState } from '#src/protocol/feed-messages.js';
import type {
  Assignment,
  AttemptEnd,
  ToWorker,
  WorkerMessage,
} from '#src/protocol/worker/worker-messages.js';
import {
  encodeClient,
  encodeClientHello,
  encodeToClient,
  readClient,
  readClientHello,
  readToClient,
} from '#src/wire/client/client-codec.js';
import { FRAME_BYTES, JobFrameType } from '#src/wire/job-frame-type.js';
import { WireReader } from '#src/wire/wire-reader.js';
import {
  encodeHeartbeatHello,
  encodeLoopBlocked,
  encodeToWorker,
  encodeWorker,
  encodeWorkerHello,
  readHeartbeatHello,
  readLoopBlocked,
  readToWorker,
  readWorker,
  readWorkerHello,
} from '#src/wire/worker/worker-codec.js';
import { Echo } from '../remote/sample-jobs.js';

const codec = suite('network codec');

type Encode<M> = (message: M, out: ByteWriter, emit: (type: number, out: ByteWriter) => void) => void;

function framesOf<M>(encode: Encode<M>, message: M): { type: number; bytes: Buffer }[] {
  const frames: { type: number; bytes: Buffer }[] = [];
  encode(message, new ByteWriter(), (type, out) => frames.push({ type, bytes: out.take() }));
  return frames;
}

/** Plain objects, as the codec makes them. */
const rec = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record<T>(model, { noNullPrototype: true }) as fc.Arbitrary<T>;
const number = fc.maxSafeNat();
/** Too long for a text, and so short that two of them fit into a frame. */
const payload = fc.oneof(
  fc.string({ unit: 'binary-ascii', maxLength: 200 }),
  fc.uint8Array({ minLength: 4_100, maxLength: 5_000 }),
);
const failure = fc.oneof(
  rec({ name: fc.string(), message: fc.string() }),
  rec({ name: fc.string(), message: fc.string(), code: fc.string() }),
  rec({
    name: fc.string(),
    message: fc.string(),
    stack: fc.string(),
    cause: rec({ name: fc.string(), message: fc.string(), code: fc.string(), stack: fc.string() }),
  }),
);
const item = rec({
  seq: number,
  ref: number,
  payload,
  key: fc.string({ maxLength: 40 }),
  delayMs: fc.nat(),
  wantsOutcome: fc.boolean(),
});
const receipt: fc.Arbitrary<Receipt> = rec({
  seq: number,
  jobs: fc.array(number, { maxLength: 4 }),
  lsn: number,
  duplicate: fc.boolean(),
  refusal: fc.option(
    rec({ code: fc.constant('ERR_QUEUE_FULL' as const), problem: fc.string(), retryAfterMs: fc.nat() }),
    { nil: undefined },
  ),
});
const outcome: fc.Arbitrary<JobOutcome> = rec({
  job: number,
  state: fc.constantFrom('done', 'dead', 'cancelled', 'unknown'),
  result: fc.option(payload, { nil: undefined }),
  reason: fc.string(),
  failure: fc.option(failure, { nil: undefined }),
}).chain((one) => fc.constantFrom(one, { ...one, metadata: '{"words":2}' }));
const run = rec({ job: number, attempt: number, count: number });
const end: fc.Arbitrary<AttemptEnd> = fc
  .oneof(
    rec({ outcome: fc.constant('ok' as const), job: number, attempt: number, result: payload }),
    rec({
      outcome: fc.constantFrom('failed' as const, 'final' as const, 'timed-out' as const),
      job: number,
      attempt: number,
      failure,
    }),
    rec({ outcome: fc.constant('released' as const), job: number, attempt: number }),
  )
  .chain((one) =>
    fc.constantFrom(
      one,
      { ...one, chunks: 7 },
      { ...one, metadata: '{}' },
      { ...one, chunks: 0, metadata: '{}' },
    ),
  );
const credit = rec({ jobs: number, bytes: number });
const assignment: fc.Arbitrary<Assignment> = rec({
  job: number,
  attempt: number,
  exec: fc.constantFrom('a.b', 'c'),
  payload,
  client: fc.constantFrom('ann', 'bob'),
  runMs: fc.constantFrom(1, 600_000),
  outputBytes: fc.constant(1_048_576),
  streaming: fc.boolean(),
}).chain((one) =>
  fc.constantFrom(
    one,
    { ...one, durable: true, silenceMs: undefined },
    { ...one, durable: false, silenceMs: 5_000 },
  ),
);

const feedState: fc.Arbitrary<FeedState> = rec({
  feed: number,
  accepted: number,
  taken: number,
  window: number,
  phase: fc.constantFrom('waiting' as const, 'running' as const, 'ended' as const),
  isEnded: fc.boolean(),
  refusal: fc.option(
    rec({ code: fc.constant('ERR_FEED_ENDED' as const), problem: fc.string(), retryAfterMs: number }),
    { nil: undefined },
  ),
});

codec('messages of a client round-trip', () => {
  const messages: fc.Arbitrary<ClientMessage> = fc.oneof(
    rec({ kind: fc.constant('submit' as const), low: number, items: fc.array(item, { maxLength: 2 }) }),
    rec({ kind: fc.constant('await' as const), jobs: fc.array(number) }),
    rec({
      kind: fc.constant('read_stream' as const),
      reader: number,
      job: number,
      attempt: number,
      offset: number,
      window: number,
    }),
    rec({
      kind: fc.constant('stream_consumed' as const),
      items: fc.array(rec({ reader: number, attempt: number, offset: number }), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
    rec({ kind: fc.constant('stop_stream' as const), reader: number }),
    rec({ kind: fc.constant('open_feed' as const), feed: number, job: number }),
    rec({
      kind: fc.constant('feed' as const),
      feed: number,
      job: number,
      first: number,
      items: fc.array(payload, { maxLength: 3 }),
      final: fc.boolean(),
    }),
    rec({ kind: fc.constant('close_feed' as const), feed: number }),
    fc.constant({ kind: 'heartbeat' as const }),
    fc.constant({ kind: 'close' as const }),
    fc.constant({ kind: 'define' as const, ref: 3, policy: Echo.policy }),
    rec({
      kind: fc.constant('call' as const),
      call: number,
      request: fc.oneof(
        rec({ kind: fc.constant('cancel' as const), job: number, reason: fc.string() }),
        rec({
          kind: fc.constant('list' as const),
          state: fc.constant('dead' as const),
          after: number,
          max: number,
        }),
        rec({ kind: fc.constantFrom('redrive' as const, 'purge' as const), jobs: fc.array(number) }),
      ),
    }),
  );
  fc.assert(
    fc.property(messages, (message) => {
      const [frame] = framesOf(encodeClient, message);
      assert.equal(readClient(frame?.type ?? 0, new WireReader(frame?.bytes ?? Buffer.alloc(0))), message);
    }),
    { numRuns: 300 },
  );
  const hello = { protocol: 1, features: ['a', 'b'], client: 'ann', token: 't' };
  const [frame] = framesOf(encodeClientHello, hello);
  assert.equal(readClientHello(new WireReader(frame?.bytes ?? Buffer.alloc(0))), hello);
});

codec('messages to a client round-trip', () => {
  const messages: fc.Arbitrary<ToClient> = fc.oneof(
    rec({
      kind: fc.constant('receipts' as const),
      items: fc.array(receipt, { minLength: 1, maxLength: 5 }),
    }),
    rec({
      kind: fc.constant('outcomes' as const),
      items: fc.array(outcome, { minLength: 1, maxLength: 2 }),
    }),
    rec({
      kind: fc.constant('stream_items' as const),
      reader: number,
      items: fc.tuple(
        rec({
          kind: fc.constant('data' as const),
          attempt: number,
          first: number,
          chunks: fc.array(fc.constantFrom('1', '"two"'), { minLength: 1, maxLength: 3 }),
        }),
        rec({ kind: fc.constant('reset' as const), attempt: number }),
        rec({
          kind: fc.constant('gap' as const),
          attempt: number,
          from: number,
          to: fc.constantFrom(undefined, 0, 7),
        }),
        rec({
          kind: fc.constant('refused' as const),
          status: fc.constantFrom('FAILED_PRECONDITION' as const, 'INVALID_ARGUMENT' as const),
          problem: fc.string({ maxLength: 20 }),
        }),
        rec({
          kind: fc.constant('end' as const),
          streaming: fc.constantFrom('response' as const, 'internal' as const),
          outcome,
        }),
      ),
    }),
    rec({
      kind: fc.constant('feed_states' as const),
      items: fc.array(feedState, { minLength: 1, maxLength: 3 }),
    }),
    fc.constant({
      kind: 'welcome' as const,
      protocol: 1,
      features: ['a'],
      tag: 'abcde',
      outstandingMax: 5,
      payloadBytesMax: 6,
    }),
    fc.constant({ kind: 'refused' as const, code: 'ERR_SESSION_REPLACED' as const, problem: 'x' }),
  );
  fc.assert(
    fc.property(messages, (message) => {
      const [frame] = framesOf(encodeToClient, message);
      assert.equal(readToClient(frame?.type ?? 0, new WireReader(frame?.bytes ?? Buffer.alloc(0))), message);
    }),
    { numRuns: 300 },
  );
});

codec('messages of and to a worker round-trip', () => {
  const fromWorker: fc.Arbitrary<WorkerMessage> = rec({
    kind: fc.constant('report' as const),
    ends: fc.array(end, { maxLength: 2 }),
    credit,
    cpu: fc.double({ min: 0, max: 1, noNaN: true }),
    lagMs: fc.nat(),
    runMs: fc.nat().map((micros) => micros / 1_000),
    overrun: fc.nat(),
  });
  fc.assert(
    fc.property(fromWorker, (message) => {
      const [frame] = framesOf(encodeWorker, message);
      assert.equal(readWorker(frame?.type ?? 0, new WireReader(frame?.bytes ?? Buffer.alloc(0))), message);
    }),
    { numRuns: 300 },
  );
  const chunks: WorkerMessage = {
    kind: 'chunks',
    items: [{ job: 1, attempt: 2, first: 3, chunks: ['1', '"two"'] }],
  };
  const [chunksFrame] = framesOf(encodeWorker, chunks);
  const chunksReader = new WireReader(chunksFrame?.bytes ?? Buffer.alloc(0));
  assert.equal(readWorker(chunksFrame?.type ?? 0, chunksReader), chunks);
  const requests: WorkerMessage = {
    kind: 'feed_requests',
    items: [
      { job: 1, attempt: 2, received: 4, taken: 3 },
      { job: 5, attempt: 1, received: 0, taken: 0 },
    ],
  };
  const [requestsFrame] = framesOf(encodeWorker, requests);
  const requestsReader = new WireReader(requestsFrame?.bytes ?? Buffer.alloc(0));
  assert.equal(readWorker(requestsFrame?.type ?? 0, requestsReader), requests);
  const toWorker: fc.Arbitrary<ToWorker> = fc.oneof(
    rec({
      kind: fc.constant('fed_items' as const),
      items: fc.array(
        rec({
          job: number,
          attempt: number,
          first: number,
          items: fc.array(payload, { maxLength: 1 }),
          end: fc.constantFrom(undefined, 'final' as const, 'abandoned' as const),
        }),
        { minLength: 1, maxLength: 2 },
      ),
    }),
    rec({
      kind: fc.constant('assign' as const),
      items: fc.array(assignment, { minLength: 1, maxLength: 2 }),
    }),
    rec({ kind: fc.constant('acknowledged' as const), items: fc.array(run) }),
    rec({
      kind: fc.constant('abort' as const),
      items: fc.array(
        rec({
          job: number,
          attempt: number,
          reason: fc.constantFrom('cancelled' as const, 'fenced' as const),
          detail: fc.string(),
        }),
      ),
    }),
    rec({
      kind: fc.constant('stream_windows' as const),
      items: fc.array(rec({ job: number, attempt: number, taken: number, bytes: number })),
    }),
    rec({ kind: fc.constant('stale' as const), items: fc.array(rec({ job: number, attempt: number })) }),
  );
  fc.assert(
    fc.property(toWorker, (message) => {
      const [frame] = framesOf(encodeToWorker, message);
      assert.equal(readToWorker(frame?.type ?? 0, new WireReader(frame?.bytes ?? Buffer.alloc(0))), message);
    }),
    { numRuns: 300 },
  );
  const hello = {
    protocol: 1,
    features: ['a', 'b'],
    worker: 'w',
    incarnation: 'i',
    execs: ['a'],
    patterns: ['>'],
    slots: 3,
    credit: { jobs: 3, bytes: 9 },
    heartbeatToken: '',
    held: [{ job: 1, attempt: 2 }],
  };
  const [frame] = framesOf(encodeWorkerHello, hello);
  assert.equal(readWorkerHello(new WireReader(frame?.bytes ?? Buffer.alloc(0))), hello);
  const use = { runner: 'llm', size: 2, granted: 1, loading: 0, idle: 1, held: 1, waiting: 3 };
  const runner = { ...use, loads: 4, loadFailures: 5, recycled: 6, runs: 7 };
  const runners = [
    { ...runner, execs: ['llm/llm.complete', 'llm/llm.embed'] },
    { ...runner, runner: 'ocr', execs: [] },
  ];
  const [withRunners] = framesOf(encodeWorkerHello, { ...hello, runners });
  assert.equal(readWorkerHello(new WireReader(withRunners?.bytes ?? Buffer.alloc(0))).runners, runners);
  const said = {
    job: 1,
    attempt: 2,
    share: 0.5,
    note: 'half',
    waitsForRunner: '',
    lines: ['a', 'b'],
    dropped: 3,
  };
  const progress = [
    said,
    { ...said, share: undefined, note: undefined, waitsForRunner: undefined, lines: [] },
  ];
  const report = {
    kind: 'report',
    ends: [],
    credit: hello.credit,
    cpu: 0,
    lagMs: 0,
    runners: [runner],
    progress,
  } as const;
  const [reported] = framesOf(encodeWorker, report);
  const read = readWorker(reported?.type ?? 0, new WireReader(reported?.bytes ?? Buffer.alloc(0)));
  assert.equal(read?.kind === 'report' ? [read.runners, read.progress] : [], [[runner], progress]);
  const [withToken] = framesOf(encodeWorkerHello, { ...hello, heartbeatToken: 'token' });
  assert.is(readWorkerHello(new WireReader(withToken?.bytes ?? Buffer.alloc(0))).heartbeatToken, 'token');
  const streams = [{ job: 7, attempt: 2, first: 300, next: 400 }];
  const [withStreams] = framesOf(encodeWorkerHello, { ...hello, streams });
  assert.equal(readWorkerHello(new WireReader(withStreams?.bytes ?? Buffer.alloc(0))).streams, streams);
});

codec('a heartbeat hello and a blocked-loop report round-trip', () => {
  const hello = { worker: 'w', incarnation: 'i', token: 't' };
  const [first] = framesOf(encodeHeartbeatHello, hello);
  assert.equal(
    [first?.type, readHeartbeatHello(new WireReader(first?.bytes ?? Buffer.alloc(0)))],
    [79, hello],
  );
  const [report] = framesOf(encodeLoopBlocked, { blockedMs: 1_234.4 });
  assert.equal(
    [report?.type, readLoopBlocked(new WireReader(report?.bytes ?? Buffer.alloc(0)))],
    [80, { blockedMs: 1_234 }],
  );
});

codec('a long list is cut into frames that together hold all items', () => {
  const items = Array.from({ length: 2_000 }, (_, i) => ({
    seq: i + 1,
    ref: 1,
    payload: 'x'.repeat(1_000),
    key: '',
    delayMs: 0,
    wantsOutcome: true,
  }));
  const frames = framesOf(encodeClient, { kind: 'submit', low: 0, items } as ClientMessage);
  assert.ok(frames.length >= 7);
  assert.ok(frames.every(({ bytes }) => bytes.length < FRAME_BYTES + 2_000));
  const read = frames.flatMap(({ type, bytes }) => {
    const message = readClient(type, new WireReader(bytes));
    return message?.kind === 'submit' ? message.items : [];
  });
  assert.equal(read, items);
});

// A large result must not delay, or contradict, the credit behind it.
codec('a result too large for its report follows it, without credit', () => {
  const large: AttemptEnd = { outcome: 'ok', job: 2, attempt: 1, result: new Uint8Array(2 * FRAME_BYTES) };
  const small: AttemptEnd = { outcome: 'ok', job: 1, attempt: 1, result: '1' };
  const frames = framesOf(encodeWorker, {
    kind: 'report',
    ends: [small, large],
    credit: { jobs: 7, bytes: 9 },
    cpu: 0,
    lagMs: 0,
  });
  assert.equal(
    frames.map(({ type }) => type),
    [JobFrameType.Report, JobFrameType.Ends],
  );
});

codec('any bytes are a message or ERR_MESSAGE_MALFORMED', () => {
  const readers = [readClient, readToClient, readWorker, readToWorker];
  const types = Object.values(JobFrameType);
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.constantFrom(...types),
      fc.constantFrom(...readers),
      (bytes, type, read) => {
        try {
          read(type, new WireReader(bytes));
        } catch (error) {
          assert.instance(error, MessageMalformedError);
        }
      },
    ),
    { numRuns: 20_000 },
  );
});

codec('a definition that `defineJob` would not make is unsupported, and its frame is valid', () => {
  const define = (policy: unknown) => {
    const out = new ByteWriter();
    out.int(1);
    out.text(JSON.stringify(policy));
    const message = readClient(JobFrameType.Define, new WireReader(out.take()));
    return message?.kind === 'define' ? message.policy : undefined;
  };
  assert.equal(define(Echo.policy), Echo.policy);
  const bad = [
    {},
    { ...Echo.policy, exec: '../etc' },
    { ...Echo.policy, leaseMs: -1 },
    { ...Echo.policy, retry: { attempts: 1e9 } },
    { ...Echo.policy, surprise: true },
    { ...Echo.policy, group: 'a b' },
  ];
  for (const policy of bad) assert.ok('problem' in (define(policy) ?? {}), JSON.stringify(policy));
});

codec('a list with more items than allowed is refused while it is read', () => {
  const numbers = Array.from({ length: 11 }, (_, i) => i + 1);
  const item = { seq: 1, ref: 1, payload: 'x', key: '', delayMs: 0, wantsOutcome: false };
  const end = { outcome: 'released', job: 1, attempt: 1 } as const;
  const credit = { jobs: 0, bytes: 0 };
  const client: readonly ClientMessage[] = [
    { kind: 'await', jobs: numbers },
    { kind: 'submit', low: 0, items: numbers.map(() => item) },
    { kind: 'submit_all', low: 0, seq: 1, items: numbers.map(() => item) },
  ];
  const report: WorkerMessage = { kind: 'report', ends: numbers.map(() => end), credit, cpu: 0, lagMs: 0 };
  const names = numbers.map(String);
  const hello = { worker: 'w', incarnation: '1', execs: names, patterns: [], slots: 1, credit, held: [] };
  const reads: (readonly [type: number, bytes: Buffer, read: (type: number, from: WireReader) => unknown])[] =
    [
      ...client.map((message) => [...first(framesOf(encodeClient, message)), readClient] as const),
      [...first(framesOf(encodeWorker, report)), readWorker],
      [...first(framesOf(encodeWorkerHello, hello)), (_type, from) => readWorkerHello(from)],
    ];
  for (const [type, bytes, read] of reads) {
    assert.ok(read(type, new WireReader(bytes, false, 11)) !== undefined, `type ${type}`);
    assert.throws(
      () => read(type, new WireReader(bytes, false, 10)),
      (error: JobsError) => error.code === 'ERR_MESSAGE_TOO_LONG',
    );
  }
});

codec('a long list of awaited jobs is cut into frames', () => {
  const jobs = Array.from({ length: 20_000 }, (_, i) => i + 1);
  const frames = framesOf(encodeClient, { kind: 'await', jobs });
  const read = frames.flatMap(({ type, bytes }) => {
    const message = readClient(type, new WireReader(bytes));
    return message?.kind === 'await' ? message.jobs : [];
  });
  assert.equal(read, jobs);
  assert.ok(frames.every(({ bytes }) => bytes.length < 2 * FRAME_BYTES));
});

function first(frames: readonly { type: number; bytes: Buffer }[]): readonly [type: number, bytes: Buffer] {
  const [frame] = frames;
  if (frame === undefined) throw new Error('no frame');
  return [frame.type, frame.bytes];
}

codec.run();
