import { createTestSystem, type TestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { defineJob } from '#src/job/definition/define-job.js';
import type { PeerPort } from '#src/protocol/leader-interface.js';
import type {
  AttemptEnd,
  ToWorker,
  WorkerHello,
  WorkerMessage,
} from '#src/protocol/worker/worker-messages.js';
import { handle } from '#src/worker/handlers/handler.js';
import { WorkerActor, type WorkerArgs } from '#src/worker/worker-actor.js';
import { DEFAULT_WORKER_SETTINGS } from '#src/worker/worker-options.js';
import { anything } from '../plain-schema.js';

const actors = suite('worker actor');

const job = defineJob('some.job', { input: anything, output: anything });

/** A worker in virtual time. Its leader is the test. */
class ActorRig {
  readonly hellos: WorkerHello[] = [];
  readonly written: WorkerMessage[] = [];
  readonly args: WorkerArgs;
  finish: (value: unknown) => void = () => undefined;
  port: PeerPort<ToWorker> | undefined;

  constructor(world: TestSystem) {
    this.args = {
      worker: 'w',
      handlers: { current: [handle(job, () => new Promise((resolve) => (this.finish = resolve)))] },
      settings: { ...DEFAULT_WORKER_SETTINGS, cpuCap: 1 },
      load: { cpu: () => 0, lagMs: () => 0 },
      host: world.host,
      leader: {
        helloWorker: ({ hello, port }) => {
          this.hellos.push(hello);
          this.port = port;
          port.offer({ kind: 'welcome', tag: 'tag', heartbeatMs: 1_000 });
        },
        fromWorker: ({ message }) => void this.written.push(message),
      },
    };
  }

  assign(no: number): void {
    const item = { exec: job.exec, payload: '1', client: 'c', runMs: 1e6, outputBytes: 100 };
    this.port?.offer({ kind: 'assign', items: [{ ...item, job: no, attempt: 1 }] });
  }

  ends(): AttemptEnd[] {
    return this.written.flatMap((message) => (message.kind === 'report' ? message.ends : []));
  }
}

actors('the promise of a handler ends its attempt by a message', async () => {
  await using world = createTestSystem();
  const rig = new ActorRig(world);
  const seen: string[] = [];
  world.system.spawn(WorkerActor, {
    args: rig.args,
    middleware: [{ name: 'names', afterMessage: ({ message }) => void seen.push(message) }],
  });
  await world.settle();
  rig.assign(7);
  await world.settle();
  rig.finish('out');
  await world.settle();
  assert.equal(
    rig.ends().map(({ outcome }) => outcome),
    ['ok'],
  );
  assert.equal(seen, ['welcome', 'assign', 'attemptEnded', 'report']);
});

actors('heartbeats come by ticks of virtual time', async () => {
  await using world = createTestSystem();
  const rig = new ActorRig(world);
  world.system.spawn(WorkerActor, { args: rig.args });
  await world.advance(3_500);
  assert.is(rig.written.filter(({ kind }) => kind === 'report').length, 4);
});

actors('a handler that ends after its worker has stopped or restarted changes nothing', async () => {
  await using world = createTestSystem({ supervise: { decide: () => 'restart' } });
  const rig = new ActorRig(world);
  const ref = world.system.spawn(WorkerActor, { args: rig.args });
  await world.settle();
  rig.assign(7);
  await world.settle();
  const finishFirst = rig.finish;
  // More jobs than credit: the worker fails.
  for (let no = 100; no < 300; no += 1) rig.assign(no);
  await world.advance(10_000);
  assert.ok(rig.hellos.length >= 2, 'a new incarnation');
  assert.ok(rig.hellos[0]?.incarnation !== rig.hellos.at(-1)?.incarnation);
  rig.written.length = 0;
  finishFirst('late');
  await world.settle();
  assert.equal(rig.ends(), []);
  rig.assign(8);
  await world.settle();
  const finishLast = rig.finish;
  const stopped = world.system.stop(ref);
  await world.settle();
  await stopped;
  finishLast('late');
  await world.advance(10_000);
  assert.equal(
    world.eventsOf('dead-letter').filter(({ letter }) => letter.message === 'attemptEnded'),
    [],
  );
});

actors.run();
