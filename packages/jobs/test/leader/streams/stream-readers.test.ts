import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DEFAULT_STREAM } from '#src/job/stream-policy.js';
import { policyOf } from '../../ledger/random-records.js';
import { FakeClient, LeaderHarness } from '../leader-harness.js';

const readers = suite('stream readers');

const READERS_MAX = 1_024;

readers('a client has a bounded number of readers', () => {
  const harness = new LeaderHarness();
  const streaming = { ...policyOf('one'), streaming: 'response', stream: DEFAULT_STREAM } as const;
  const client = new FakeClient(harness, 'ann', 't1', streaming);
  client.submit('x');
  const read = (reader: number): string[] => {
    const before = client.received.length;
    client.write({ kind: 'read_stream', reader, job: 1, attempt: 0, offset: 0, window: 1_000 });
    return client.received
      .slice(before)
      .flatMap((message) => (message.kind === 'stream_items' ? message.items : []))
      .map((item) => (item.kind === 'refused' ? item.status : item.kind));
  };
  for (let reader = 1; reader <= READERS_MAX; reader += 1) assert.equal(read(reader), []);
  assert.equal(read(READERS_MAX + 1), ['RESOURCE_EXHAUSTED']);
  client.write({ kind: 'stop_stream', reader: 1 });
  assert.equal(read(READERS_MAX + 1), []);
});

readers('the stream of an ended job goes with its result, behind any number that stay', () => {
  const harness = new LeaderHarness();
  const worker = harness.worker({ slots: 2_000 });
  const streaming = { streaming: 'response', stream: DEFAULT_STREAM } as const;
  const end = (keepMs: number, name: string, jobs: number): void => {
    const policy = { ...policyOf('one', { doneMs: keepMs, deadMs: keepMs }), ...streaming };
    const client = new FakeClient(harness, name, 't1', policy);
    const before = worker.assigned().length;
    for (let i = 0; i < jobs; i += 1) client.submit('x');
    for (const one of worker.assigned().slice(before)) worker.succeed(one);
  };
  end(1e9, 'ann', 1_100);
  end(1_000, 'bob', 3);
  // State without another view: the streams that the leader holds.
  const { streams } = (harness.leader as unknown as { streams: { streams: Map<number, unknown> } }).streams;
  assert.is(streams.size, 1_103);
  harness.advanceWithHeartbeats(2_000, worker);
  assert.is(streams.size, 1_100);
});

readers.run();
