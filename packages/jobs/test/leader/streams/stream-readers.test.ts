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

readers.run();
