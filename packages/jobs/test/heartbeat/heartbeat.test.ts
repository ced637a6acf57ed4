// timeout: 180s
import { createSystem } from '@troupe/core';
import type { JobHandle, JobsEvent, LeaderServer, LeaderServerOptions } from '@troupe/jobs';
import { type DialerAuth, IdentityStore } from '@troupe/transport';
import { CertificateAuthority } from '@troupe/transport/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type {
  AttemptEnd,
  HeartbeatHello,
  ToWorker,
  WorkerMessage,
} from '#src/protocol/worker/worker-messages.js';
import { LeaderConnection } from '#src/remote/leader-connection.js';
import type { RoleCodec } from '#src/remote/leader-session.js';
import { encodeHeartbeatHello, encodeWorker, readToWorker } from '#src/wire/worker/worker-codec.js';
import { connectClient, startLeader } from '../checked-processes.js';
import { workerProcess } from '../remote/role-process.js';
import { BriefSpin, LongSpin, Nap, Spin } from '../remote/sample-jobs.js';
import { tempFolder } from '../temp-folder.js';

const heartbeat = suite('heartbeat');

/** Three of them are shorter than the leases of the jobs. */
const HEARTBEAT_MS = 200;
const LEASE_MS = Spin.policy.leaseMs;

interface ObservedLeader extends AsyncDisposable {
  readonly leader: LeaderServer;
  readonly port: number;
  readonly events: JobsEvent[];
  seen(fits: (event: JobsEvent) => boolean): Promise<JobsEvent>;
}

/** A leader in this process, with its events. */
async function observedLeader(
  dir: string,
  options: Partial<LeaderServerOptions> = {},
): Promise<ObservedLeader> {
  const events: JobsEvent[] = [];
  const waiting = new Set<() => void>();
  const leader = await startLeader({
    dir,
    times: { heartbeatMs: HEARTBEAT_MS },
    onFatal: (error) => {
      throw error;
    },
    observe: (event) => {
      events.push(event);
      for (const wake of waiting) wake();
    },
    ...options,
  });
  return {
    leader,
    events,
    port: 'port' in leader.address ? leader.address.port : 0,
    seen: async (fits) => {
      for (;;) {
        const found = events.find(fits);
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => waiting.add(resolve));
      }
    },
    [Symbol.asyncDispose]: () => leader.close({ withinMs: 0 }),
  };
}

const isBlocked = (event: JobsEvent): boolean => event.kind === 'worker' && event.liveness === 'blocked';

async function ranOnce(handle: JobHandle<typeof Spin>, events: readonly JobsEvent[]): Promise<void> {
  const view = await handle.inspect();
  assert.equal([view.attempt, view.failures, view.crashes], [1, 0, 0]);
  assert.is(events.filter((event) => event.kind === 'requeued').length, 0);
}

// A lease is not a run-time limit, and a busy worker is not a dead one.
heartbeat(
  'a handler that computes for three leases keeps its job, and the leader shows it as blocked',
  async () => {
    await using folder = await tempFolder();
    await using at = await observedLeader(folder.path);
    await using worker = await workerProcess(at.port, 'w1');
    await using client = await connectClient({ address: at.leader.address });
    const handle = await client.submit(Spin, 3 * LEASE_MS);
    await worker.event((event) => event['exec'] === 'spin');
    await at.seen(isBlocked);
    const [view] = (await client.overview()).workers;
    assert.is(view?.liveness, 'blocked');
    assert.ok((view?.blockedMs ?? 0) >= HEARTBEAT_MS, `blocked for ${view?.blockedMs} ms`);
    assert.is(view?.credit, 0, 'a blocked worker gets no more work');
    const running = await handle.inspect();
    assert.is(running.liveness, 'blocked');
    assert.ok((running.blockedMs ?? 0) > 0);
    assert.is(await handle.result(), 'w1');
    await at.seen((event) => event.kind === 'worker' && event.liveness === 'alive');
    await ranOnce(handle, at.events);
    assert.is(await client.run(Spin, 0), 'w1', 'it gets work again');
  },
);

heartbeat('without a heartbeat thread the same handler loses its job', async () => {
  await using folder = await tempFolder();
  await using at = await observedLeader(folder.path);
  await using worker = await workerProcess(at.port, 'w1', 4, { heartbeatThread: false });
  await using client = await connectClient({ address: at.leader.address });
  const handle = await client.submit(Spin, 3 * LEASE_MS);
  await worker.event((event) => event['exec'] === 'spin');
  await at.seen((event) => event.kind === 'requeued');
  await handle.result();
  assert.is((await handle.inspect()).attempt, 2);
});

heartbeat('a handler that never returns ends at its run-time limit, and the job runs elsewhere', async () => {
  await using folder = await tempFolder();
  await using at = await observedLeader(folder.path);
  await using first = await workerProcess(at.port, 'w1');
  await using client = await connectClient({ address: at.leader.address });
  const handle = await client.submit(BriefSpin, 3_600_000);
  await first.event((event) => event['exec'] === 'brief-spin');
  const startedAt = performance.now();
  await using _second = await workerProcess(at.port, 'w2');
  assert.is(await handle.result(), 'w2');
  const view = await handle.inspect();
  assert.equal([view.attempt, view.failures, view.crashes], [2, 1, 0]);
  const requeued = await at.seen((event) => event.kind === 'requeued');
  assert.is(requeued.kind === 'requeued' ? requeued.cause : '', 'timeout_requeue');
  const tookMs = performance.now() - startedAt;
  // No grace on top: an abort cannot reach a blocked loop.
  assert.ok(tookMs > 1_000 && tookMs < 5_000, `ended elsewhere after ${Math.round(tookMs)} ms`);
  // It still computes, and gets nothing more to do.
  assert.is(await client.run(Spin, 0), 'w2');
});

heartbeat(
  'a blocked worker that is killed counts as gone: its job runs elsewhere within two seconds',
  async () => {
    await using folder = await tempFolder();
    await using at = await observedLeader(folder.path);
    await using first = await workerProcess(at.port, 'w1');
    await using client = await connectClient({ address: at.leader.address });
    const handle = await client.submit(LongSpin, 3_600_000);
    await at.seen(isBlocked);
    await using second = await workerProcess(at.port, 'w2');
    const killedAt = performance.now();
    await first.kill();
    await second.event((event) => event['exec'] === 'long-spin');
    const tookMs = performance.now() - killedAt;
    assert.ok(tookMs < 2_000, `started elsewhere after ${Math.round(tookMs)} ms`);
    assert.is(await handle.result(), 'w2');
    assert.is((await handle.inspect()).crashes, 1);
  },
);

// Both threads are stopped, so there is no heartbeat; the late report of the process is stale. On a busy machine
// the process is slow to stop and to go on; a longer heartbeat leaves time for that.
heartbeat(
  'a stopped process counts as gone; its job runs elsewhere, and its late ack is fenced',
  async () => {
    await using folder = await tempFolder();
    await using at = await observedLeader(folder.path, { times: { heartbeatMs: 320 } });
    await using first = await workerProcess(at.port, 'w1');
    await using client = await connectClient({ address: at.leader.address });
    const handle = await client.submit(Spin, 200);
    await first.event((event) => event['exec'] === 'spin');
    first.signal('SIGSTOP');
    try {
      await using _second = await workerProcess(at.port, 'w2');
      await at.seen((event) => event.kind === 'worker' && event.liveness === 'silent');
      assert.is(await handle.result(), 'w2');
      first.signal('SIGCONT');
      await at.seen((event) => event.kind === 'stale' && event.attempt === 1);
      assert.is(await client.open(Spin, handle.id).result(), 'w2');
      assert.equal(at.events.filter(isBlocked), [], 'it was never reported as blocked');
    } finally {
      first.signal('SIGCONT');
    }
  },
);

heartbeat('a blocked worker keeps its job after its main connection was cut', async () => {
  await using folder = await tempFolder();
  await using at = await observedLeader(folder.path, { transportLimits: { pingMs: 200, deadMs: 900 } });
  await using worker = await workerProcess(at.port, 'w1');
  await using client = await connectClient({ address: at.leader.address });
  const handle = await client.submit(Spin, 3 * LEASE_MS);
  await worker.event((event) => event['exec'] === 'spin');
  await at.seen((event) => event.kind === 'worker' && event.liveness === 'lost');
  assert.is(await handle.result(), 'w1');
  await ranOnce(handle, at.events);
});

heartbeat('a restarted leader learns that the holder of a lease is blocked', async () => {
  await using folder = await tempFolder();
  const times = { heartbeatMs: HEARTBEAT_MS, reclaimMs: 1_500 };
  const before = await observedLeader(folder.path, { times });
  await using worker = await workerProcess(before.port, 'w1');
  await using client = await connectClient({ address: before.leader.address });
  const handle = await client.submit(Spin, 5 * LEASE_MS);
  await worker.event((event) => event['exec'] === 'spin');
  await before.seen(isBlocked);
  await before.leader.close({ withinMs: 0 });
  await using after = await observedLeader(folder.path, { times, address: { port: before.port } });
  await after.seen(isBlocked);
  assert.is(await handle.result(), 'w1');
  await ranOnce(handle, after.events);
});

heartbeat('a heartbeat thread dials with the key and the certificates of its worker', async () => {
  await using folder = await tempFolder();
  const authority = new CertificateAuthority('root');
  const { key, cert } = authority.issue({ name: 'leader', hosts: ['127.0.0.1'] });
  const secret = 'd'.repeat(64);
  const identities = new IdentityStore([
    { name: 'crew', keys: [{ id: 'k-crew', key: secret }], work: ['>'], submit: ['>'] },
  ]);
  const auth = { kind: 'hmac', keyId: 'k-crew', key: secret } as const;
  const tls = { ca: authority.cert };
  await using at = await observedLeader(folder.path, {
    tls: { key, cert },
    auth: { kind: 'hmac', identities },
  });
  await using worker = await workerProcess(at.port, 'w1', 4, { tls, auth });
  await using client = await connectClient({ address: at.leader.address, tls, auth });
  const handle = await client.submit(Spin, 3 * LEASE_MS);
  await worker.event((event) => event['exec'] === 'spin');
  const blocked = await at.seen(isBlocked);
  assert.match(blocked.kind === 'worker' ? blocked.worker : '', /^crew\/w1~/);
  assert.is(await handle.result(), 'w1');
  await ranOnce(handle, at.events);
});

/** A heartbeat hello, then a report that only a worker may send; resolves with the answer. */
async function impostor(at: ObservedLeader, auth: DialerAuth, hello: HeartbeatHello): Promise<ToWorker> {
  const codec: RoleCodec<HeartbeatHello, WorkerMessage, ToWorker> = {
    role: 'worker',
    hello: encodeHeartbeatHello,
    message: encodeWorker,
    answer: (type, from) => readToWorker(type, from),
  };
  await using system = createSystem({ name: 'impostor' });
  return await new Promise((resolve) => {
    const dial = { address: at.leader.address, auth };
    const connection = new LeaderConnection(system, dial, 'impostor', codec, {
      onUp: () => {
        const port = {
          ref: undefined as never,
          offer: (answer: ToWorker) => {
            connection.close();
            resolve(answer);
            return 'accepted' as const;
          },
        };
        connection.open(hello, port);
        const ends: AttemptEnd[] = [{ outcome: 'ok', job: 1, attempt: 1, result: '"forged"' }];
        const credit = { jobs: 1, bytes: 1 };
        connection.write({ kind: 'report', ends, credit, cpu: 0, lagMs: 0, runMs: 0 }, port);
      },
      onDown: () => undefined,
    });
  });
}

// Name and incarnation of a worker are no secrets; its identity and its token are.
heartbeat(
  'another identity cannot send heartbeats for a worker, and a heartbeat thread cannot report like one',
  async () => {
    await using folder = await tempFolder();
    const keyOf = (digit: string): string => digit.repeat(64);
    const rules = { work: ['>'], submit: ['>'], observe: ['>'] };
    const identities = new IdentityStore([
      { name: 'crew', keys: [{ id: 'k-crew', key: keyOf('d') }], ...rules },
      { name: 'eve', keys: [{ id: 'k-eve', key: keyOf('e') }], ...rules },
    ]);
    const crew = { kind: 'hmac', keyId: 'k-crew', key: keyOf('d') } as const;
    const eve = { kind: 'hmac', keyId: 'k-eve', key: keyOf('e') } as const;
    await using at = await observedLeader(folder.path, { auth: { kind: 'hmac', identities } });
    await using worker = await workerProcess(at.port, 'w1', 4, { auth: crew });
    await using client = await connectClient({ address: at.leader.address, auth: crew });
    const handle = await client.submit(Nap, 1_500);
    await worker.event((event) => event['exec'] === 'nap');
    const incarnation = (await client.overview()).workers[0]?.worker.split('~')[1] ?? '';
    for (const auth of [crew, eve]) {
      const answer = await impostor(at, auth, { worker: 'w1', incarnation, token: 'f'.repeat(32) });
      assert.is(answer.kind, 'refused');
    }
    assert.is(await handle.result(), 'w1', 'the forged report had no effect');
  },
);

heartbeat('a process whose worker has closed ends by itself', async () => {
  await using folder = await tempFolder();
  await using at = await observedLeader(folder.path);
  await using worker = await workerProcess(at.port, 'w1');
  worker.signal('SIGUSR2');
  assert.is(await worker.exited, 0);
});

heartbeat.run();
