import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { HeartbeatSession } from '#src/leader/sessions/heartbeat-session.js';
import type { ToWorker } from '#src/protocol/worker-messages.js';
import { policyOf } from '../../ledger/random-records.js';
import { FakeClient, type FakeWorker, LeaderHarness } from '../leader-harness.js';

const heartbeats = suite('heartbeats');

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
    { write: (message) => received.push(message) },
  );
  assert.instance(heartbeat, HeartbeatSession);
  return { heartbeat, received };
}

/** Time passes while the loop of the worker stands and its heartbeat says so. */
function stand(harness: LeaderHarness, heartbeat: HeartbeatSession, ms: number): void {
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

heartbeats('a lease outlives any silence of the loop while the heartbeat speaks', () => {
  const { harness, worker } = running();
  const { heartbeat } = heartbeatOf(harness);
  stand(harness, heartbeat, 20_000);
  assert.is(livenessOf(harness), 'blocked');
  assert.equal(worker.aborted(), []);
  worker.succeed({ job: 1, attempt: 1 });
  assert.is(livenessOf(harness), 'alive');
  assert.is(harness.counts()['done'], 1);
});

heartbeats('who has a heartbeat and is silent on both is gone, not blocked', () => {
  const { harness, worker } = running();
  harness.advance(3_500);
  assert.is(livenessOf(harness), 'gone');
  assert.equal(worker.aborted(), ['1.1 fenced']);
});

heartbeats('a blocked worker is given nothing, and everything again once it speaks', () => {
  const harness = new LeaderHarness();
  const client = harness.client();
  const worker = harness.worker({ slots: 1, heartbeatToken: TOKEN });
  const { heartbeat } = heartbeatOf(harness);
  stand(harness, heartbeat, 2_000);
  client.submit('x');
  assert.is(worker.assigned().length, 0);
  worker.report([]);
  assert.is(worker.assigned().length, 1);
});

// A13: who speaks for a worker must know what the worker said.
heartbeats(
  'a heartbeat with another token, or of another process, is refused and keeps nothing alive',
  () => {
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
  },
);

heartbeats('a worker that named no heartbeat cannot be spoken for', () => {
  const harness = new LeaderHarness();
  harness.client().submit('x');
  harness.worker({ slots: 1 });
  assert.is(heartbeatOf(harness, '').received[0]?.kind, 'refused');
});

heartbeats(
  'the connection of the loop may end while the heartbeat stands; the grace begins with the end of both',
  () => {
    const { harness, worker } = running();
    const { heartbeat } = heartbeatOf(harness);
    stand(harness, heartbeat, 2_000);
    worker.disconnect();
    stand(harness, heartbeat, 5_000);
    assert.is(harness.counts()['running'], 1);
    assert.is(livenessOf(harness), 'blocked');
    harness.leader.closed(heartbeat);
    harness.advance(900);
    assert.is(harness.counts()['running'], 1);
    harness.advance(400);
    assert.is(harness.counts()['running'], 0);
  },
);

heartbeats('a loop that turns again has the grace to come back, and keeps what it holds', () => {
  const { harness, worker } = running();
  const { heartbeat } = heartbeatOf(harness);
  stand(harness, heartbeat, 2_000);
  worker.disconnect();
  stand(harness, heartbeat, 3_000);
  harness.leader.fromHeartbeat(heartbeat, { blockedMs: 0 });
  harness.advance(800);
  const back = harness.worker({ slots: 1, heartbeatToken: TOKEN, held: [{ job: 1, attempt: 1 }] });
  assert.equal(back.aborted(), []);
  back.succeed({ job: 1, attempt: 1 });
  assert.is(harness.counts()['done'], 1);
});

heartbeats(
  'a blocked attempt ends at its run-time limit without a grace, and its late end is not believed',
  () => {
    const { harness, worker } = running();
    const { heartbeat } = heartbeatOf(harness);
    const { runMs } = harness.leader.ledger.jobs.get(1)?.policy.limits ?? { runMs: 0 };
    stand(harness, heartbeat, runMs - 500);
    assert.equal(worker.aborted(), []);
    stand(harness, heartbeat, 1_000);
    assert.equal(worker.aborted(), ['1.1 fenced']);
    worker.succeed({ job: 1, attempt: 1 });
    assert.is(harness.counts()['done'], 0);
  },
);

heartbeats('after a restart of the leader a heartbeat keeps what its worker cannot claim yet', () => {
  const { harness: before } = running();
  const harness = before.restarted();
  const { heartbeat, received } = heartbeatOf(harness);
  assert.equal(received, []);
  stand(harness, heartbeat, 30_000);
  assert.is(harness.counts()['running'], 1);
  harness.leader.closed(heartbeat);
  harness.advance(11_000);
  assert.is(harness.counts()['running'], 0);
});

heartbeats.run();
