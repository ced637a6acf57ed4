import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { HeartbeatSession } from '#src/leader/sessions/heartbeat-session.js';
import type { ToWorker } from '#src/protocol/worker-messages.js';
import { policyOf } from '../../ledger/legal-history.js';
import { LeaderRig, PlayedClient, type PlayedWorker } from '../leader-rig.js';

const heartbeats = suite('heartbeats');

const TOKEN = 'a'.repeat(32);
const RUN_MS = 40_000;

function heartbeatOf(
  rig: LeaderRig,
  token = TOKEN,
  incarnation = '1',
): { heartbeat: HeartbeatSession; heard: ToWorker[] } {
  const heard: ToWorker[] = [];
  const heartbeat = rig.leader.openHeartbeat(
    { worker: 'w', incarnation, token },
    { write: (message) => heard.push(message) },
  );
  assert.instance(heartbeat, HeartbeatSession);
  return { heartbeat, heard };
}

/** Time passes while the loop of the worker stands and its heartbeat says so. */
function stand(rig: LeaderRig, heartbeat: HeartbeatSession, ms: number): void {
  for (let passed = 0; passed < ms; passed += 500) {
    rig.advance(500);
    rig.leader.fromHeartbeat(heartbeat, { blockedMs: passed + 500 });
    rig.settle();
  }
}

function running(): { rig: LeaderRig; worker: PlayedWorker } {
  const rig = new LeaderRig();
  const policy = { ...policyOf('one'), limits: { runMs: RUN_MS, outputBytes: 1_000 } };
  new PlayedClient(rig, 'ann', 't1', policy).submit('x');
  const worker = rig.worker({ slots: 1, heartbeatToken: TOKEN });
  assert.is(worker.assigned().length, 1);
  return { rig, worker };
}

const livenessOf = (rig: LeaderRig): string | undefined => rig.leader.overview().workers[0]?.liveness;

heartbeats('a lease outlives any silence of the loop while the heartbeat speaks', () => {
  const { rig, worker } = running();
  const { heartbeat } = heartbeatOf(rig);
  stand(rig, heartbeat, 20_000);
  assert.is(livenessOf(rig), 'blocked');
  assert.equal(worker.aborted(), []);
  worker.ok({ job: 1, attempt: 1 });
  assert.is(livenessOf(rig), 'alive');
  assert.is(rig.counts()['done'], 1);
});

heartbeats('who has a heartbeat and is silent on both is gone, not blocked', () => {
  const { rig, worker } = running();
  rig.advance(3_500);
  assert.is(livenessOf(rig), 'gone');
  assert.equal(worker.aborted(), ['1.1 fenced']);
});

heartbeats('a blocked worker is given nothing, and everything again once it speaks', () => {
  const rig = new LeaderRig();
  const client = rig.client();
  const worker = rig.worker({ slots: 1, heartbeatToken: TOKEN });
  const { heartbeat } = heartbeatOf(rig);
  stand(rig, heartbeat, 2_000);
  client.submit('x');
  assert.is(worker.assigned().length, 0);
  worker.report([]);
  assert.is(worker.assigned().length, 1);
});

// A13: who speaks for a worker must know what the worker said.
heartbeats(
  'a heartbeat with another token, or of another process, is refused and keeps nothing alive',
  () => {
    const { rig, worker } = running();
    for (const [token, incarnation] of [
      ['b'.repeat(32), '1'],
      ['', '1'],
      [TOKEN, '2'],
    ]) {
      const { heartbeat, heard } = heartbeatOf(rig, token, incarnation);
      assert.is(heard[0]?.kind, 'refused');
      rig.leader.fromHeartbeat(heartbeat, { blockedMs: 500 });
    }
    rig.advance(3_500);
    assert.equal(worker.aborted(), ['1.1 fenced']);
  },
);

heartbeats('a worker that named no heartbeat cannot be spoken for', () => {
  const rig = new LeaderRig();
  rig.client().submit('x');
  rig.worker({ slots: 1 });
  assert.is(heartbeatOf(rig, '').heard[0]?.kind, 'refused');
});

heartbeats(
  'the connection of the loop may end while the heartbeat stands; the grace begins with the end of both',
  () => {
    const { rig, worker } = running();
    const { heartbeat } = heartbeatOf(rig);
    stand(rig, heartbeat, 2_000);
    worker.lose();
    stand(rig, heartbeat, 5_000);
    assert.is(rig.counts()['running'], 1);
    assert.is(livenessOf(rig), 'blocked');
    rig.leader.closed(heartbeat);
    rig.advance(900);
    assert.is(rig.counts()['running'], 1);
    rig.advance(400);
    assert.is(rig.counts()['running'], 0);
  },
);

heartbeats('a loop that turns again has the grace to come back, and keeps what it holds', () => {
  const { rig, worker } = running();
  const { heartbeat } = heartbeatOf(rig);
  stand(rig, heartbeat, 2_000);
  worker.lose();
  stand(rig, heartbeat, 3_000);
  rig.leader.fromHeartbeat(heartbeat, { blockedMs: 0 });
  rig.advance(800);
  const back = rig.worker({ slots: 1, heartbeatToken: TOKEN, held: [{ job: 1, attempt: 1 }] });
  assert.equal(back.aborted(), []);
  back.ok({ job: 1, attempt: 1 });
  assert.is(rig.counts()['done'], 1);
});

heartbeats(
  'a blocked attempt ends at its run-time limit without a grace, and its late end is not believed',
  () => {
    const { rig, worker } = running();
    const { heartbeat } = heartbeatOf(rig);
    const { runMs } = rig.leader.ledger.jobs.get(1)?.policy.limits ?? { runMs: 0 };
    stand(rig, heartbeat, runMs - 500);
    assert.equal(worker.aborted(), []);
    stand(rig, heartbeat, 1_000);
    assert.equal(worker.aborted(), ['1.1 fenced']);
    worker.ok({ job: 1, attempt: 1 });
    assert.is(rig.counts()['done'], 0);
  },
);

heartbeats('after a restart of the leader a heartbeat keeps what its worker cannot claim yet', () => {
  const { rig: before } = running();
  const rig = before.restarted();
  const { heartbeat, heard } = heartbeatOf(rig);
  assert.equal(heard, []);
  stand(rig, heartbeat, 30_000);
  assert.is(rig.counts()['running'], 1);
  rig.leader.closed(heartbeat);
  rig.advance(11_000);
  assert.is(rig.counts()['running'], 0);
});

heartbeats.run();
