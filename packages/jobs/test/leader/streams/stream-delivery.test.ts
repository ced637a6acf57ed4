// No turn of the leader serves more than a bounded number of readers, however many a stream has.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DEFAULT_STREAM } from '#src/job/definition/stream-policy.js';
import { JobStream } from '#src/leader/streams/job-stream.js';
import { DELIVERED_PER_TURN, READERS_PER_PART, StreamDelivery } from '#src/leader/streams/stream-delivery.js';
import { StreamReader } from '#src/leader/streams/stream-reader.js';
import { WINDOWS_PER_TURN } from '#src/leader/streams/stream-table.js';
import { policyOf } from '../../ledger/random-records.js';
import { FakeClient, type FakeWorker, LeaderHarness } from '../leader-harness.js';
import { CHUNK_BYTES, chunkOf, StreamHarness } from './stream-harness.js';

const delivery = suite('stream delivery');

const READERS_PER_CLIENT = 1_000;
const CLIENTS = 2;

/** Clients with a thousand readers each, of one job that has begun. */
function crowd(harness: StreamHarness): { readonly items: () => number } {
  const clients: FakeClient[] = [];
  for (let i = 0; i < CLIENTS; i += 1) {
    const client = new FakeClient(harness.leader, `reader-${i}`, `t${i}`);
    for (let reader = 1; reader <= READERS_PER_CLIENT; reader += 1)
      client.write({
        kind: 'read_stream',
        reader,
        job: harness.job,
        attempt: 0,
        offset: 0,
        window: 1_000_000,
      });
    clients.push(client);
  }
  const count = (client: FakeClient): number =>
    client.received.reduce((sum, one) => sum + (one.kind === 'stream_items' ? one.items.length : 0), 0);
  return { items: () => clients.reduce((sum, client) => sum + count(client), 0) };
}

delivery('a stream with thousands of readers is served in several turns, and another one beside it', () => {
  const stream = new StreamHarness();
  const { items } = crowd(stream);
  const other = stream.client.submit('2')?.jobs[0] ?? 0;
  stream.client.write({
    kind: 'read_stream',
    reader: 1,
    job: other,
    attempt: 0,
    offset: 0,
    window: 1_000,
  });
  const { leader } = stream.leader;
  leader.fromWorker(stream.worker.session, {
    kind: 'chunks',
    items: [
      { job: stream.job, attempt: 1, first: 0, chunks: [chunkOf(0)] },
      { job: other, attempt: 1, first: 0, chunks: [chunkOf(0)] },
    ],
  });
  const perTurn: number[] = [];
  for (let before = items(); before < CLIENTS * READERS_PER_CLIENT && perTurn.length < 20; before = items()) {
    leader.turn();
    perTurn.push(items() - before);
  }
  assert.ok(Math.max(...perTurn) <= DELIVERED_PER_TURN && perTurn.length > 2, `${perTurn}`);
  stream.leader.settle();
  assert.is(items(), CLIENTS * READERS_PER_CLIENT, 'each reader has the chunk once');
  assert.ok(stream.client.received.some(({ kind }) => kind === 'stream_items'));
});

delivery('every reader has every chunk once and in order, where chunks come while others are served', () => {
  const stream = new StreamHarness({ stream: { bufferBytes: 1024 * CHUNK_BYTES } });
  const { items } = crowd(stream);
  const reader = stream.read();
  const { leader } = stream.leader;
  for (let first = 0; first < 20; first += 1) {
    const chunks = [chunkOf(first)];
    leader.fromWorker(stream.worker.session, {
      kind: 'chunks',
      items: [{ job: stream.job, attempt: 1, first, chunks }],
    });
    leader.turn();
  }
  stream.leader.settle();
  assert.is(reader.summary, '0-20');
  assert.ok(items() >= CLIENTS * READERS_PER_CLIENT);
  stream.done(20);
  assert.is(reader.summary, '0-20, end');
});

delivery('a part of a file goes to a bounded number of readers at once, and then to the others', () => {
  const setup = { job: 1, identity: '', attempt: 1, isKnown: true } as const;
  const stream = new JobStream({ ...setup, streaming: 'response', policy: DEFAULT_STREAM });
  const count = READERS_PER_PART + 10;
  const session = new FakeClient(new LeaderHarness(), 'ann', 't1').session;
  for (let reader = 1; reader <= count; reader += 1)
    stream.readers.add(new StreamReader(session, { reader, job: 1, attempt: 1, offset: 0, window: 100 }));
  const served: number[] = [];
  const ignored = (): void => undefined;
  const write = ({ number }: StreamReader): void => void served.push(number);
  const parts = new StreamDelivery({ write, ended: ignored, needs: ignored, passed: ignored });
  const part = { file: 1, position: 0, bytes: 4, first: 0, count: 1 };
  parts.deliverPart(stream, part, ['"x"']);
  assert.is(served.length, READERS_PER_PART);
  assert.not(parts.isEmpty, 'the others have it read again');
  parts.deliverPart(stream, part, ['"x"']);
  assert.equal(
    served,
    Array.from({ length: count }, (_, i) => i + 1),
  );
});

delivery('chunks of a file reach thousands of readers', () => {
  const stream = new StreamHarness({ stream: { whenUnread: 'spill' } });
  assert.is(stream.yieldWithinWindow(0, 400), 400);
  assert.ok(stream.files > 0);
  const { items } = crowd(stream);
  const late = stream.read();
  late.consumeAll();
  assert.is(late.summary, '0-400');
  assert.ok(items() >= CLIENTS * READERS_PER_CLIENT, `${items()} items`);
});

/** So many jobs that run at one worker, each with a chunk that has come. */
function runningStreams(count: number): { readonly harness: LeaderHarness; readonly worker: FakeWorker } {
  const harness = new LeaderHarness();
  const worker = harness.worker({ slots: count });
  const policy = { ...policyOf('one'), streaming: 'response', stream: DEFAULT_STREAM } as const;
  const client = new FakeClient(harness, 'ann', 't1', policy);
  const item = { ref: 1, payload: '1', key: '', delayMs: 0, wantsOutcome: false };
  client.write({
    kind: 'submit',
    low: 0,
    items: Array.from({ length: count }, (_, i) => ({ ...item, seq: i + 1 })),
  });
  return { harness, worker };
}

delivery('windows of thousands of streams go to their worker in several turns', () => {
  const count = WINDOWS_PER_TURN + 100;
  const { harness, worker } = runningStreams(count);
  const jobs = worker.assigned().map(({ job }) => job);
  assert.is(jobs.length, count);
  const windows = (): number[] =>
    worker.received.flatMap((one) => (one.kind === 'stream_windows' ? one.items.map(({ job }) => job) : []));
  harness.leader.fromWorker(worker.session, {
    kind: 'chunks',
    items: jobs.map((job) => ({ job, attempt: 1, first: 0, chunks: ['"x"'] })),
  });
  harness.leader.turn();
  assert.is(windows().length, WINDOWS_PER_TURN);
  harness.settle();
  assert.equal(windows(), jobs);
});

delivery('a slow reader learns that the result of its job is gone', () => {
  const stream = new StreamHarness({ keep: { doneMs: 1_000, deadMs: 1_000 } });
  const reader = stream.read();
  stream.yield(0, 100);
  stream.done(100);
  assert.is(reader.summary, '0-64');
  stream.leader.advanceWithHeartbeats(2_000, stream.worker);
  reader.consumeAll();
  assert.match(reader.summary, /end$/);
  const end = reader.items.at(-1);
  assert.is(end?.kind === 'end' ? end.outcome.state : '', 'unknown');
});

delivery.run();
