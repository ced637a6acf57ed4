import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { JobPolicy } from '#src/job/definition/job-policy.js';
import { DEFAULT_STREAM } from '#src/job/definition/stream-policy.js';
import type { FedItems, FeedState } from '#src/protocol/feed-messages.js';
import type { PeerAccess } from '#src/protocol/leader-interface.js';
import { policyOf } from '../../ledger/random-records.js';
import { FakeClient, type FakeWorker, LeaderHarness, nth } from '../leader-harness.js';

const feeds = suite('feed table');

const GRACE_MS = 1_000;

function fedPolicy(feedBytesMax = 1_000_000): JobPolicy {
  const policy = policyOf('one', { doneMs: 1e6, deadMs: 1e6 });
  const limits = { ...policy.limits, runMs: 1e6, feedBytesMax, feedGraceMs: GRACE_MS };
  return { ...policy, leaseMs: 1e6, limits, streaming: 'response', stream: DEFAULT_STREAM };
}

function feeder(harness: LeaderHarness, options: { token?: string; policy?: JobPolicy } = {}): FakeClient {
  return new FakeClient(harness, 'ann', options.token ?? 't1', options.policy ?? fedPolicy());
}

interface Message {
  readonly job?: number;
  readonly first?: number;
  readonly final?: boolean;
}

function feed(
  client: FakeClient,
  items: readonly string[],
  { job = 1, first = 0, final = false }: Message = {},
): void {
  client.write({ kind: 'feed', feed: 1, job, first, items, final });
}

function states(client: FakeClient): FeedState[] {
  return client.received.flatMap((message) => (message.kind === 'feed_states' ? message.items : []));
}

function lastState(client: FakeClient): FeedState {
  return nth(states(client), states(client).length - 1);
}

function fedTo(worker: FakeWorker): FedItems[] {
  return worker.received.flatMap((message) => (message.kind === 'fed_items' ? message.items : []));
}

function request(
  harness: LeaderHarness,
  worker: FakeWorker,
  received = 0,
  taken = received,
  attempt = 1,
): void {
  harness.leader.fromWorker(worker.session, {
    kind: 'feed_requests',
    items: [{ job: 1, attempt, received, taken }],
  });
  harness.settle();
}

feeds('an item is answered when its record is durable, and not before', () => {
  const harness = new LeaderHarness();
  const client = feeder(harness);
  client.submit('1');
  harness.heldWrites = [];
  feed(client, ['"a"', '"b"']);
  assert.equal(states(client), []);
  harness.completeWrite();
  assert.is(lastState(client).accepted, 2);
  assert.equal(
    harness.records().filter(({ type }) => type === 'feed').length,
    1,
    'one record for the items of a message',
  );
});

feeds('an item that is repeated on another connection while its record is written is taken once', () => {
  const harness = new LeaderHarness();
  const client = feeder(harness);
  client.submit('1');
  harness.heldWrites = [];
  feed(client, ['"a"']);
  const again = feeder(harness);
  feed(again, ['"a"']);
  // The disk is full by now: a refusal would be untrue, since the first record may be durable.
  harness.disk('low');
  while (harness.heldWrites.length > 0) harness.completeWrite();
  assert.equal(lastState(again).refusal, undefined);
  assert.is(lastState(again).accepted, 1);
  assert.is(harness.leader.ledger.feeds.get(1)?.next, 1);
});

feeds('a message of an earlier connection is not taken after the client has come back', () => {
  const harness = new LeaderHarness();
  const client = feeder(harness);
  client.submit('1');
  const again = feeder(harness);
  harness.disk('low');
  feed(again, ['"refused"']);
  assert.is(lastState(again).refusal?.code, 'ERR_DISK_LOW');
  harness.disk('ok');
  feed(client, ['"refused"']);
  assert.is(harness.leader.ledger.feeds.get(1), undefined);
  feed(again, ['"another"']);
  assert.equal(harness.leader.ledger.feeds.get(1)?.kept(), ['"another"']);
});

feeds('each client has its own numbers, and a number that is too high is refused', () => {
  const harness = new LeaderHarness();
  const ann = feeder(harness);
  ann.submit('1');
  const other = feeder(harness, { token: 't2' });
  feed(ann, ['1', '2']);
  feed(other, ['3']);
  feed(ann, ['2', '4'], { first: 1 });
  assert.equal(harness.leader.ledger.feeds.get(1)?.kept(), ['1', '2', '3', '4']);
  feed(other, ['5'], { first: 2 });
  assert.is(lastState(other).refusal?.code, 'ERR_MESSAGE_MALFORMED');
  feed(other, ['5'], { first: 1 });
  assert.is(lastState(other).accepted, 2);
});

feeds('the end counts as a number: repeated it is accepted again, also when the job has ended', () => {
  const harness = new LeaderHarness();
  const client = feeder(harness);
  const worker = harness.worker();
  client.submit('1');
  feed(client, ['1'], { final: true });
  assert.ok(lastState(client).isEnded);
  feed(client, ['1'], { final: true });
  assert.is(lastState(client).refusal, undefined);
  feed(client, ['2'], { first: 2 });
  assert.is(lastState(client).refusal?.code, 'ERR_FEED_ENDED');
  worker.succeed({ job: 1, attempt: 1 });
  assert.is(lastState(client).phase, 'ended');
  feed(client, ['1'], { final: true });
  assert.is(lastState(client).accepted, 2);
  assert.is(lastState(client).refusal, undefined);
  const restarted = harness.restarted();
  const back = feeder(restarted);
  feed(back, ['1'], { final: true });
  assert.is(lastState(back).refusal, undefined);
});

feeds('the checks are made in their order', () => {
  const harness = new LeaderHarness();
  const plain = harness.client();
  plain.submit('"plain"');
  const code = (client: FakeClient): string | undefined => lastState(client).refusal?.code;
  feed(plain, [], { job: 9 });
  assert.is(code(plain), 'ERR_FEED_EMPTY');
  feed(plain, [''], { job: 9 });
  assert.is(code(plain), 'ERR_FEED_EMPTY');
  feed(plain, ['1'], { job: 9 });
  assert.is(code(plain), 'ERR_JOB_UNKNOWN');
  feed(plain, ['1']);
  assert.is(code(plain), 'ERR_FEED_UNSUPPORTED');
  const stranger: PeerAccess = {
    identity: 'eve',
    permits: (action) => action !== 'feed',
    owns: (client) => client.startsWith('eve/'),
  };
  const eve = new FakeClient(harness, 'eve/c', 't', fedPolicy(), stranger);
  feed(eve, ['1'], { job: 9 });
  assert.is(code(eve), 'ERR_JOB_UNKNOWN');
  feed(eve, ['1']);
  assert.is(code(eve), 'ERR_FORBIDDEN');
  eve.submit('1');
  feed(eve, ['x'.repeat(300_000)], { job: 2 });
  assert.is(code(eve), 'ERR_PAYLOAD_TOO_LARGE');
  feed(eve, ['1'], { job: 2, final: true });
  feed(eve, ['x'.repeat(300_000)], { job: 2, first: 2 });
  assert.is(code(eve), 'ERR_FEED_ENDED');
});

feeds('items go to the worker that has requested them, from the number it named', () => {
  const harness = new LeaderHarness();
  const client = feeder(harness);
  client.submit('1');
  feed(client, ['1', '2']);
  const worker = harness.worker();
  assert.equal(fedTo(worker), [], 'its handler has not begun');
  assert.is(lastState(client).phase, 'waiting');
  request(harness, worker);
  assert.equal(fedTo(worker), [{ job: 1, attempt: 1, first: 0, items: ['1', '2'], end: undefined }]);
  assert.is(lastState(client).phase, 'running');
  request(harness, worker, 2, 1);
  assert.is(lastState(client).taken, 1);
  feed(client, ['3'], { first: 2, final: true });
  assert.equal(fedTo(worker).slice(1), [{ job: 1, attempt: 1, first: 2, items: ['3'], end: 'final' }]);
  // After a reconnect it has the second item, and not the third.
  const back = harness.worker({ held: [{ job: 1, attempt: 1 }] });
  request(harness, back, 2, 2);
  assert.equal(fedTo(back), [{ job: 1, attempt: 1, first: 2, items: ['3'], end: 'final' }]);
});

feeds('a leader that restarts goes on where the worker is, and a new attempt gets everything', () => {
  const before = new LeaderHarness();
  const client = feeder(before);
  client.submit('1');
  const first = before.worker();
  request(before, first);
  feed(client, ['1', '2', '3']);
  const harness = before.restarted();
  const worker = harness.worker({ held: [{ job: 1, attempt: 1 }] });
  request(harness, worker, 2, 1);
  assert.equal(fedTo(worker), [{ job: 1, attempt: 1, first: 2, items: ['3'], end: undefined }]);
  worker.fail({ job: 1, attempt: 1 });
  harness.advanceWithHeartbeats(60_000, worker);
  request(harness, worker, 0, 0, 2);
  const last = nth(fedTo(worker), 1);
  assert.is(last.attempt, 2);
  assert.equal(last.items, ['1', '2', '3']);
});

feeds('requests of another worker, or of an attempt that is over, get nothing', () => {
  const harness = new LeaderHarness();
  const client = feeder(harness);
  client.submit('1');
  const worker = harness.worker({ slots: 1 });
  const other = harness.worker({ name: 'other' });
  feed(client, ['1']);
  request(harness, other);
  request(harness, worker, 0, 0, 2);
  assert.equal([...fedTo(other), ...fedTo(worker)], []);
});

feeds('a handler that takes nothing closes the window; 256 KiB are on the way to it at most', () => {
  const harness = new LeaderHarness();
  const client = feeder(harness);
  client.submit('1');
  const worker = harness.worker();
  request(harness, worker);
  const item = 'x'.repeat(100_000);
  for (let i = 0; i < 12; i += 1) feed(client, [item], { first: i });
  assert.is(lastState(client).window, 0);
  const sent = fedTo(worker).flatMap(({ items }) => items);
  assert.is(sent.length, 3);
  request(harness, worker, 3, 2);
  assert.ok(lastState(client).window > 0);
  assert.is(fedTo(worker).flatMap(({ items }) => items).length, 5);
  // A client that ignores its window is refused, with nothing recorded.
  for (let i = 12; i < 60; i += 1) feed(client, [item], { first: i });
  assert.is(lastState(client).refusal?.code, 'ERR_QUEUE_FULL');
});

feeds('the feed of a running job ends after its grace without clients, by a record', () => {
  const harness = new LeaderHarness();
  const client = feeder(harness);
  client.submit('1');
  feed(client, ['1']);
  const worker = harness.worker();
  harness.advanceWithHeartbeats(2 * GRACE_MS, worker);
  assert.is(harness.leader.ledger.feeds.get(1)?.end, undefined, 'it has the feed open');
  client.write({ kind: 'close_feed', feed: 1 });
  harness.advanceWithHeartbeats(GRACE_MS / 2, worker);
  client.write({ kind: 'open_feed', feed: 2, job: 1 });
  harness.advanceWithHeartbeats(2 * GRACE_MS, worker);
  assert.is(harness.leader.ledger.feeds.get(1)?.end, undefined, 'it was opened again in time');
  harness.leader.closed(client.session);
  harness.advanceWithHeartbeats(2 * GRACE_MS, worker);
  assert.is(harness.leader.ledger.feeds.get(1)?.end, 'abandoned');
  request(harness, worker);
  assert.is(fedTo(worker)[0]?.end, 'abandoned');
  assert.is(harness.records().filter(({ type }) => type === 'feed_end').length, 1);
});

feeds('a job that waits keeps its feed open without clients; a restart begins the grace anew', () => {
  const before = new LeaderHarness();
  const client = feeder(before);
  client.submit('1');
  feed(client, ['1']);
  before.leader.closed(client.session);
  before.advance(10 * GRACE_MS);
  assert.is(before.leader.ledger.feeds.get(1)?.end, undefined);
  const first = before.worker();
  before.advanceWithHeartbeats(GRACE_MS - 200, first);
  const harness = before.restarted();
  const worker = harness.worker({ held: [{ job: 1, attempt: 1 }] });
  harness.advanceWithHeartbeats(GRACE_MS - 200, worker);
  assert.is(harness.leader.ledger.feeds.get(1)?.end, undefined);
  harness.advanceWithHeartbeats(GRACE_MS, worker);
  assert.is(harness.leader.ledger.feeds.get(1)?.end, 'abandoned');
});

feeds('beyond its bound a feed loses what was taken, and the job is not tried again', () => {
  const harness = new LeaderHarness();
  const client = feeder(harness, { policy: fedPolicy(150_000) });
  client.submit('1');
  const worker = harness.worker();
  request(harness, worker);
  const item = 'x'.repeat(50_000);
  for (let i = 0; i < 3; i += 1) feed(client, [item], { first: i });
  request(harness, worker, 3, 3);
  const { ledger } = harness.leader;
  // With 16 bytes an item it is beyond the bound by now.
  assert.is(ledger.feeds.get(1)?.base, 3);
  feed(client, [item], { first: 3 });
  assert.is(ledger.liveBytes, 50_016 + 1);
  assert.not(ledger.isReplayable(1));
  worker.report([{ outcome: 'released', job: 1, attempt: 1 }]);
  assert.is(ledger.jobs.get(1)?.end?.reason, 'feed-dropped');
  assert.is(ledger.deadBytes, 1, 'the rest of its feed is of no use');
  client.write({ kind: 'call', call: 1, request: { kind: 'redrive', jobs: [1] } });
  assert.is(ledger.jobs.get(1)?.state, 'dead');
  const restarted = harness.restarted();
  assert.not(restarted.leader.ledger.isReplayable(1));
});

feeds('a dead letter keeps its feed, and is redriven with it', () => {
  const harness = new LeaderHarness();
  const client = feeder(harness);
  client.submit('1');
  const worker = harness.worker();
  feed(client, ['1', '2'], { final: true });
  worker.failFinally({ job: 1, attempt: 1 });
  const { ledger } = harness.leader;
  assert.is(ledger.deadBytes, 1 + 2 * 17);
  assert.is(ledger.liveBytes, 0);
  client.write({ kind: 'call', call: 1, request: { kind: 'redrive', jobs: [1] } });
  assert.is(ledger.deadBytes, 0);
  assert.is(ledger.liveBytes, 1 + 2 * 17);
  request(harness, worker, 0, 0, 2);
  assert.equal(fedTo(worker).at(-1)?.items, ['1', '2']);
  worker.succeed({ job: 1, attempt: 2 });
  assert.is(ledger.liveBytes, 0);
});

// The job ran until its time was over: the feed counted as open for a client that had been refused.
feeds('a redriven job does not wait for a client that was told that its feed has ended', () => {
  for (const kind of ['open_feed', 'feed'] as const) {
    const harness = new LeaderHarness();
    const client = feeder(harness);
    client.submit('1');
    const worker = harness.worker();
    feed(client, ['1']);
    worker.failFinally({ job: 1, attempt: 1 });
    if (kind === 'feed') feed(client, ['2'], { first: 1 });
    else client.write({ kind, feed: 2, job: 1 });
    assert.is(lastState(client).phase, 'ended');
    client.write({ kind: 'call', call: 1, request: { kind: 'redrive', jobs: [1] } });
    request(harness, worker, 0, 0, 2);
    harness.advanceWithHeartbeats(2 * GRACE_MS, worker);
    assert.is(harness.leader.ledger.feeds.get(1)?.end, 'abandoned', kind);
  }
});

feeds('a client has a bounded number of open feeds', () => {
  const harness = new LeaderHarness();
  const client = feeder(harness);
  client.submit('1');
  for (let number = 1; number <= 4_096; number += 1)
    client.write({ kind: 'open_feed', feed: number, job: 1 });
  assert.is(lastState(client).refusal, undefined);
  client.write({ kind: 'open_feed', feed: 4_097, job: 1 });
  assert.is(lastState(client).refusal?.code, 'ERR_QUEUE_FULL');
  assert.ok((lastState(client).refusal?.retryAfterMs ?? 0) > 0);
});

feeds('a job is fed by a bounded number of clients', () => {
  const harness = new LeaderHarness();
  feeder(harness).submit('1');
  for (let no = 1; no <= 1_024; no += 1) {
    const client = feeder(harness, { token: `f${no}` });
    feed(client, ['1']);
    assert.is(lastState(client).accepted, 1);
  }
  const last = feeder(harness, { token: 'last' });
  feed(last, ['1']);
  assert.equal([lastState(last).accepted, lastState(last).refusal?.code], [0, 'ERR_QUEUE_FULL']);
});

feeds('items count in the bound of bytes of the leader and of the identity', () => {
  const access: PeerAccess = { identity: 'ann', permits: () => true, owns: () => true };
  const of = (limits: Partial<Record<'jobBytesMax' | 'jobBytesPerIdentityMax', number>>): FakeClient => {
    const client = new FakeClient(new LeaderHarness({ limits }), 'ann/c', 't', fedPolicy(), access);
    client.submit('1');
    return client;
  };
  for (const client of [of({ jobBytesMax: 1_000 }), of({ jobBytesPerIdentityMax: 1_000 })]) {
    feed(client, ['x'.repeat(600)]);
    assert.is(lastState(client).accepted, 1);
    feed(client, ['x'.repeat(600)], { first: 1 });
    assert.is(lastState(client).refusal?.code, 'ERR_QUEUE_FULL');
    assert.ok((lastState(client).refusal?.retryAfterMs ?? 0) > 0);
    feed(client, ['x'.repeat(300)], { first: 1 });
    assert.is(lastState(client).accepted, 2);
  }
});

feeds('a client that does not read has one state of each feed waiting, not one of each change', () => {
  const harness = new LeaderHarness();
  const client = feeder(harness);
  const other = feeder(harness, { token: 't2' });
  client.submit('1');
  client.write({ kind: 'open_feed', feed: 1, job: 1 });
  const worker = harness.worker();
  request(harness, worker);
  client.isFull = true;
  for (let i = 0; i < 50; i += 1) {
    feed(other, ['1'], { first: i });
    request(harness, worker, i + 1, i + 1);
  }
  const before = states(client).length;
  client.isFull = false;
  harness.advance(200);
  assert.ok(states(client).length - before <= 2, `${states(client).length - before} states`);
  assert.is(lastState(client).taken, 50);
});

feeds.run();
