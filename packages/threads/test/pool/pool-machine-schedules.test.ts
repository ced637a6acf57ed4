import { SeededRandom } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { PoolMachine } from '#src/pool/machine/pool-machine.js';
import { PoolTask } from '#src/pool/task/pool-task.js';
import { FakePoolThreads } from './fake-pool-threads.js';

const schedules = suite('pool machine under seeded schedules');

const SEEDS = 400;
const STEPS = 300;

/** One pool under a schedule: every action is drawn from the seed, and the invariants are checked after each. */
class Schedule {
  private readonly random: SeededRandom;
  readonly threads = new FakePoolThreads();
  private readonly machine: PoolMachine;
  private readonly open = new Set<PoolTask>();
  private now = 0;
  private accepted = 0;
  private ended = 0;

  constructor(seed: number) {
    const random = new SeededRandom(seed);
    this.random = random;
    const minThreads = random.below(3);
    const settings = {
      name: `s${seed}`,
      minThreads,
      maxThreads: Math.max(1, minThreads + random.below(3)),
      maxQueue: random.below(5),
      maxWaiting: random.below(4),
      idleMs: 10,
    };
    this.machine = new PoolMachine(settings, this.threads, {
      threadStartFailed: () => undefined,
      taskLost: (task) => this.end(task),
      terminated: () => undefined,
    });
  }

  run(): void {
    for (let step = 0; step < STEPS; step += 1) {
      this.act(this.random.below(17));
      this.machine.check();
    }
    this.threads.startsFail = false;
    this.machine.shutdown();
    this.machine.check();
    for (let step = 0; this.machine.state !== 'shut-down'; step += 1) {
      assert.ok(step < 10_000, `the pool never ends: ${JSON.stringify(this.machine.counters)}`);
      this.act(6 + this.random.below(6));
      this.machine.check();
    }
    assert.is(this.open.size, 0, 'every accepted task ends');
    assert.is(this.ended, this.accepted, 'every accepted task ends once');
    assert.is(this.threads.threads.size, 0);
  }

  /** The caller of an abandoned task had its answer before. */
  private end(task: PoolTask): void {
    if (task.abandoned !== undefined && !this.open.has(task)) return;
    assert.ok(this.open.delete(task), `${task.name} ended twice`);
    this.ended += 1;
  }

  private act(kind: number): void {
    const { random, threads, machine } = this;
    this.now += random.chance(0.1) ? 20 : random.next() * 0.02;
    switch (kind) {
      case 0:
      case 1:
      case 2:
      case 3:
        return this.submit();
      case 4:
        return machine.stageAhead();
      case 5:
        return machine.prune(this.now);
      case 6: {
        const worker = threads.pick(random, (thread) => !thread.isUp && !thread.isEnding);
        if (worker !== undefined) threads.up(worker, machine, this.now);
        return;
      }
      case 7: {
        const worker = threads.pick(random, (thread) => thread.inbox.length > 0);
        if (worker !== undefined) threads.claim(worker);
        return;
      }
      case 8: {
        const worker = threads.pick(random, (thread) => thread.atWork !== undefined);
        if (worker !== undefined) threads.complete(worker, random.chance(0.2) ? 'failed' : 'completed');
        return;
      }
      case 9:
      case 10: {
        const worker = threads.pick(random, (thread) => thread.reports.length > 0);
        if (worker === undefined) return;
        const task = threads.deliver(worker, machine, this.now);
        if (task !== undefined) this.end(task);
        return;
      }
      case 11: {
        const worker = threads.pick(random, (thread) => thread.isEnding);
        if (worker !== undefined) threads.die(worker, machine, this.now, (task) => this.end(task));
        return;
      }
      case 12:
        return this.cancel();
      case 13: {
        const worker = random.chance(0.3) ? threads.pick(random, () => true) : undefined;
        if (worker !== undefined) threads.die(worker, machine, this.now, (task) => this.end(task));
        return;
      }
      case 14: {
        const minThreads = random.below(3);
        const maxThreads = Math.max(1, minThreads + random.below(3));
        if (random.chance(0.2)) machine.resize({ minThreads, maxThreads }, this.now);
        return;
      }
      case 15:
        threads.startsFail = random.chance(0.1);
        return;
      default:
        if (random.chance(0.01)) machine.shutdown();
        if (random.chance(0.01)) for (const task of machine.kill()) this.end(task);
    }
  }

  private submit(): void {
    const { random, machine } = this;
    if (machine.state !== 'running') return;
    const transfer = random.chance(0.1) ? [new ArrayBuffer(1)] : undefined;
    const priority = random.chance(0.2) ? random.between(-1, 2) : undefined;
    const name = `t${this.accepted}`;
    const task = new PoolTask({ module: 'file:///m.js', export: name }, [], { transfer, priority });
    const admission = machine.admit(task, this.now);
    const isIn = admission === 'full' ? machine.admitWaiting(task) : admission !== 'no-thread';
    if (!isIn) return;
    this.accepted += 1;
    this.open.add(task);
  }

  private cancel(): void {
    const tasks = [...this.open];
    const task = tasks[this.random.below(tasks.length)];
    if (task === undefined) return;
    const isOut = this.machine.cancel(task, 'cancelled');
    this.end(task);
    if (!isOut && this.random.chance(0.5)) this.machine.endThreadOf(task);
  }
}

schedules('ready set or queue is empty, and the counters add up, after every step of every schedule', () => {
  let withdrawn = 0;
  let takenUp = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const schedule = new Schedule(seed);
    try {
      schedule.run();
      withdrawn += schedule.threads.withdrawn;
      takenUp += schedule.threads.takenUp;
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
    }
  }
  assert.ok(withdrawn > SEEDS && takenUp > SEEDS / 10, 'both outcomes of taking a task back were met');
});

schedules.run();
