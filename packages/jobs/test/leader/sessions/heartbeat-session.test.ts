import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { HeartbeatSession } from '#src/leader/sessions/heartbeat-session.js';
import type { ToWorker } from '#src/protocol/worker/worker-messages.js';
import { policyOf } from '../../ledger/random-records.js';
import { FakeClient, type FakeWorker, LeaderHarness } from '../leader-harness.js';

const heartbeats = suite('heartbeat session');

const TOKEN = 'a'.repeat(32);
const RUN_MS = 40_000;

function heartbeatOf(
  harness: LeaderHarness,
  token = TOKEN,
  incarnation = '1',
): { heartbeat: HeartbeatSession; received: ToWorker[] } {
  const received: ToWorker[] = [];
  const heartbeat = harness.leader.openHeartbeat(
    { worker: 'w', incarnation, token },
    {
      offer: (message) => {
        received.push(message);
        return 'accepted';
      },
    },
  );
  assert.instance(heartbeat, HeartbeatSession);
  return { heartbeat, received };
}

/** Time passes while the event loop of the worker is blocked and its heartbeat thread reports so. */
function advanceBlocked(harness: LeaderHarness, heartbeat: HeartbeatSession, ms: number): void {
  for (let passed = 0; passed < ms; passed += 500) {
    harness.advance(500);
    harness.leader.fromHeartbeat(heartbeat, { blockedMs: passed + 500 });
    harness.settle();
  }
}

function running(): { harness: LeaderHarness; worker: FakeWorker } {
  const harness = new LeaderHarness();
  const policy = { ...policyOf('one'), limits: { runMs: RUN_MS, outputBytes: 1_000 } };
  new FakeClient(harness, 'ann', 't1', policy).submit('x');
  const worker = harness.worker({ slots: 1, heartbeatToken: TOKEN });
  assert.is(worker.assigned().length, 1);
  return { harness, worker };
}

const livenessOf = (harness: LeaderHarness): string | undefined =>
  harness.leader.overview().workers[0]?.liveness;

heartbeats('a lease does not expire while the heartbeat reports a blocked event loop', () => {
  const { harness, worker } = running();
  const { heartbeat } = heartbeatOf(harness);
  advanceBlocked(harness, heartbeat, 20_000);
  assert.is(livenessOf(harness), 'blocked');
  assert.equal(worker.aborted(), []);
  worker.succeed({ job: 1, attempt: 1 });
  assert.is(livenessOf(harness), 'alive');
  assert.is(harness.counts()['done'], 1);
});

heartbeats('a worker with a heartbeat that is silent on both connections is gone, not blocked', () => {
  const { harness, worker } = running();
  harness.advance(3_500);
  assert.is(livenessOf(harness), 'gone');
  assert.equal(worker.aborted(), ['1.1 fenced']);
});

heartbeats('a blocked worker gets no jobs until it reports again', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  const worker = harness.worker({ slots: 1, heartbeatToken: TOKEN });
  const { heartbeat } = heartbeatOf(harness);
  advanceBlocked(harness, heartbeat, 2_000);
  client.submit('x');
  assert.is(worker.assigned().length, 0);
  worker.report([]);
  assert.is(worker.assigned().length, 1);
});

// A heartbeat must present the token from the hello of its worker.
heartbeats('a heartbeat with another token, or of another process, is refused and renews no lease', () => {
  const { harness, worker } = running();
  for (const [token, incarnation] of [
    ['b'.repeat(32), '1'],
    ['', '1'],
    [TOKEN, '2'],
  ]) {
    const { heartbeat, received } = heartbeatOf(harness, token, incarnation);
    assert.is(received[0]?.kind, 'refused');
    harness.leader.fromHeartbeat(heartbeat, { blockedMs: 500 });
  }
  harness.advance(3_500);
  assert.equal(worker.aborted(), ['1.1 fenced']);
});

heartbeats('a heartbeat for a worker that named no token is refused', () => {
  const harness = new LeaderHarness();
  harness.client().submit('x');
  harness.worker({ slots: 1 });
  assert.is(heartbeatOf(harness, '').received[0]?.kind, 'refused');
});

heartbeats('the grace period begins when both the worker and its heartbeat have disconnected', () => {
  const { harness, worker } = running();
  const { heartbeat } = heartbeatOf(harness);
  advanceBlocked(harness, heartbeat, 2_000);
  worker.disconnect();
  advanceBlocked(harness, heartbeat, 5_000);
  assert.is(harness.counts()['running'], 1);
  assert.is(livenessOf(harness), 'blocked');
  harness.leader.closed(heartbeat);
  harness.advance(900);
  assert.is(harness.counts()['running'], 1);
  harness.advance(400);
  assert.is(harness.counts()['running'], 0);
});

heartbeats(
  'a worker whose event loop runs again may reconnect within the grace period and keeps its attempts',
  () => {
    const { harness, worker } = running();
    const { heartbeat } = heartbeatOf(harness);
    advanceBlocked(harness, heartbeat, 2_000);
    worker.disconnect();
    advanceBlocked(harness, heartbeat, 3_000);
    harness.leader.fromHeartbeat(heartbeat, { blockedMs: 0 });
    harness.advance(800);
    const back = harness.worker({ slots: 1, heartbeatToken: TOKEN, held: [{ job: 1, attempt: 1 }] });
    assert.equal(back.aborted(), []);
    back.succeed({ job: 1, attempt: 1 });
    assert.is(harness.counts()['done'], 1);
  },
);

heartbeats(
  'a blocked attempt ends at its run-time limit without a grace period, and its late end is fenced',
  () => {
    const { harness, worker } = running();
    const { heartbeat } = heartbeatOf(harness);
    const { runMs } = harness.leader.ledger.jobs.get(1)?.policy.limits ?? { runMs: 0 };
    advanceBlocked(harness, heartbeat, runMs - 500);
    assert.equal(worker.aborted(), []);
    advanceBlocked(harness, heartbeat, 1_000);
    assert.equal(worker.aborted(), ['1.1 fenced']);
    worker.succeed({ job: 1, attempt: 1 });
    assert.is(harness.counts()['done'], 0);
  },
);

heartbeats('after a restart of the leader a heartbeat keeps the leases of its blocked worker', () => {
  const { harness: before } = running();
  const harness = before.restarted();
  const { heartbeat, received } = heartbeatOf(harness);
  assert.equal(received, []);
  advanceBlocked(harness, heartbeat, 30_000);
  assert.is(harness.counts()['running'], 1);
  harness.leader.closed(heartbeat);
  harness.advance(11_000);
  assert.is(harness.counts()['running'], 0);
});

heartbeats.run();
