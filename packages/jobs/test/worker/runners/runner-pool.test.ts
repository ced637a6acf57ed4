import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Attempt } from '#src/worker/attempt/attempt.js';
import type { RunnerPlan } from '#src/worker/runners/runner-plan.js';
import { RunnerPool } from '#src/worker/runners/runner-pool.js';
import { ManualTime } from '../../manual-time.js';

const pools = suite('runner pool');

const PLAN: RunnerPlan = {
  runner: 'llm',
  execs: ['llm.complete'],
  served: ['llm/llm.complete'],
  size: 2,
  warm: false,
  runsMax: Number.POSITIVE_INFINITY,
  keepAfterError: false,
  checkMs: Number.POSITIVE_INFINITY,
};
const FAILURE = { failure: { name: 'Error', message: 'no memory' }, isFinal: false };
const WELL = { isError: false };

/** A pool whose functions the test settles. */
class PoolRig {
  readonly time = new ManualTime();
  readonly log: string[] = [];
  readonly busyPlaces = new Set<number>();
  readonly pool: RunnerPool;
  private lastId = 0;
  private lastJob = 0;

  constructor(plan: Partial<RunnerPlan> = {}) {
    this.pool = new RunnerPool({
      plan: { ...PLAN, ...plan },
      port: {
        placeToLoad: () => 0,
        isFree: (place) => !this.busyPlaces.has(place),
        load: ({ id }) => void this.log.push(`load ${id}`),
        check: ({ id }) => void this.log.push(`check ${id}`),
        unload: ({ id }) => void this.log.push(`unload ${id}`),
      },
      timers: this.time.host,
      nextId: () => {
        this.lastId += 1;
        return this.lastId;
      },
      onReady: () => undefined,
      onChange: () => undefined,
      onEmpty: () => this.log.push('empty'),
      onLoadFailed: ({ job }) => void this.log.push(`failed job ${job}`),
    });
    this.pool.grow();
  }

  attempt(): Attempt {
    this.lastJob += 1;
    const rest = { exec: 'llm.complete', payload: '1', client: 'c', runMs: 1_000, outputBytes: 1_000 };
    return new Attempt({ ...rest, job: this.lastJob, attempt: 1 }, this.time.now);
  }

  /** An attempt that waits. */
  wait(): Attempt {
    const attempt = this.attempt();
    this.pool.wait(attempt);
    return attempt;
  }

  /** The first that waits begins; the number of its instance. */
  begin(): number {
    const attempt = this.pool.firstReady();
    if (attempt === undefined) throw new Error('none is ready');
    return this.pool.take(attempt).id;
  }

  loaded(instance: number, failure?: typeof FAILURE): void {
    this.pool.reported({ kind: 'loaded', instance, failure });
  }

  checked(instance: number, failure?: typeof FAILURE): void {
    this.pool.reported({ kind: 'checked', instance, failure });
  }

  unloaded(instance: number): void {
    this.pool.reported({ kind: 'unloaded', instance });
  }

  take(): string[] {
    return this.log.splice(0);
  }

  get uses(): string {
    const { loading, idle, held, waiting } = this.pool.use;
    return `${loading} loading, ${idle} idle, ${held} held, ${waiting} waiting`;
  }
}

pools('an instance is loaded for the first attempts, up to the size, and used again', () => {
  const rig = new PoolRig();
  assert.equal(rig.take(), []);
  rig.wait();
  rig.wait();
  rig.wait();
  assert.equal(rig.take(), ['load 1', 'load 2']);
  assert.is(rig.uses, '2 loading, 0 idle, 0 held, 3 waiting');
  assert.is(rig.pool.firstReady(), undefined);
  rig.loaded(1);
  rig.loaded(2);
  rig.begin();
  rig.begin();
  assert.is(rig.uses, '0 loading, 0 idle, 2 held, 1 waiting');
  assert.is(rig.pool.firstReady(), undefined);
  rig.pool.release(1, WELL);
  assert.is(rig.begin(), 1);
  assert.equal(rig.take(), []);
  assert.is(rig.pool.use.loads, 2);
});

pools('a warm pool loads every instance at the start, and again after a recycle', () => {
  const rig = new PoolRig({ warm: true, runsMax: 1 });
  assert.equal(rig.take(), ['load 1', 'load 2']);
  rig.loaded(1);
  assert.ok(rig.pool.isReady);
  rig.wait();
  rig.begin();
  rig.pool.release(1, WELL);
  assert.equal(rig.take(), ['unload 1']);
  // The next one is loaded when this one is gone.
  rig.unloaded(1);
  assert.equal(rig.take(), ['load 3']);
});

pools('an instance is recycled after so many runs', () => {
  const rig = new PoolRig({ size: 1, runsMax: 2 });
  for (const expected of [[], ['unload 1']]) {
    rig.wait();
    rig.loaded(1);
    rig.take();
    rig.begin();
    rig.pool.release(1, WELL);
    assert.equal(rig.take(), expected);
  }
});

pools('an instance is recycled after an error, unless it is to be kept', () => {
  for (const keepAfterError of [false, true]) {
    const rig = new PoolRig({ size: 1, keepAfterError });
    rig.wait();
    rig.loaded(1);
    rig.begin();
    rig.pool.release(1, { isError: true });
    assert.equal(rig.take(), keepAfterError ? ['load 1'] : ['load 1', 'unload 1']);
  }
});

pools('the instance used last is used first', () => {
  const rig = new PoolRig();
  for (const instance of [1, 2]) {
    rig.wait();
    rig.loaded(instance);
  }
  const held = [rig.begin(), rig.begin()];
  assert.equal(held.sort(), [1, 2]);
  rig.time.advance(1);
  rig.pool.release(2, WELL);
  rig.time.advance(1);
  rig.pool.release(1, WELL);
  rig.wait();
  assert.is(rig.begin(), 1);
});

pools('a failed load fails the attempt that waits first; the next load waits longer and longer', () => {
  const rig = new PoolRig({ size: 1 });
  for (let i = 0; i < 4; i += 1) rig.wait();
  rig.take();
  let instance = 1;
  for (const [job, waitMs] of [
    [1, 100],
    [2, 200],
    [3, 400],
  ] as const) {
    rig.loaded(instance, FAILURE);
    assert.equal(rig.take(), ['empty', `failed job ${job}`]);
    rig.time.advance(waitMs - 1);
    assert.equal(rig.take(), []);
    rig.time.advance(1);
    instance += 1;
    assert.equal(rig.take(), [`load ${instance}`]);
  }
  rig.loaded(instance);
  assert.ok(rig.pool.firstReady());
  assert.equal([rig.pool.use.loads, rig.pool.use.loadFailures], [1, 3]);
});

pools('an idle instance is checked; one that is not healthy is recycled', () => {
  const rig = new PoolRig({ size: 1, warm: true, checkMs: 100 });
  rig.loaded(1);
  rig.take();
  rig.time.advance(100);
  assert.equal(rig.take(), ['check 1']);
  // It serves no attempt meanwhile.
  rig.wait();
  assert.is(rig.pool.firstReady(), undefined);
  rig.checked(1);
  assert.is(rig.begin(), 1);
  rig.time.advance(1_000);
  assert.equal(rig.take(), []);
  rig.pool.release(1, WELL);
  rig.time.advance(100);
  rig.checked(1, FAILURE);
  assert.equal(rig.take(), ['check 1', 'unload 1']);
});

pools('a check without an answer recycles, and an unload without one is given up', () => {
  const rig = new PoolRig({ size: 1, warm: true, checkMs: 100 });
  rig.loaded(1);
  rig.time.advance(100);
  rig.take();
  rig.time.advance(5_000);
  assert.equal(rig.take(), ['unload 1']);
  rig.time.advance(10_000);
  assert.equal(rig.take(), ['empty', 'load 2']);
  // Both answers come after all.
  rig.checked(1);
  rig.unloaded(1);
  assert.equal(rig.take(), []);
  assert.is(rig.uses, '1 loading, 0 idle, 0 held, 0 waiting');
});

pools('an instance on a busy thread is not checked, and does not serve', () => {
  const rig = new PoolRig({ size: 2, checkMs: 100 });
  rig.wait();
  rig.loaded(1);
  rig.begin();
  rig.pool.release(1, WELL);
  rig.busyPlaces.add(0);
  rig.time.advance(200);
  rig.take();
  rig.wait();
  assert.is(rig.pool.firstReady(), undefined);
  assert.equal(rig.take(), ['load 2']);
});

pools('a replaced plan recycles idle instances now, others when their attempt has ended', () => {
  const rig = new PoolRig({ warm: true, size: 3 });
  rig.loaded(1);
  rig.wait();
  rig.begin();
  rig.loaded(2);
  rig.take();
  rig.pool.replace({ ...PLAN, warm: true, size: 3 });
  assert.equal(rig.take(), ['unload 2']);
  // The third was still loading.
  rig.loaded(3);
  assert.equal(rig.take(), ['unload 3']);
  rig.unloaded(2);
  assert.equal(rig.take(), ['load 4']);
  rig.pool.release(1, WELL);
  assert.equal(rig.take(), ['unload 1']);
});

pools('a closed pool unloads every instance once it is not held, and loads none', () => {
  const rig = new PoolRig({ warm: true });
  rig.loaded(1);
  rig.wait();
  rig.begin();
  rig.take();
  rig.pool.close();
  rig.loaded(2);
  assert.equal(rig.take(), ['unload 2']);
  rig.unloaded(2);
  rig.pool.release(1, WELL);
  rig.unloaded(1);
  assert.equal(rig.take(), ['unload 1', 'empty']);
});

pools('instances of an ended thread are gone', () => {
  const rig = new PoolRig({ size: 1 });
  rig.wait();
  rig.loaded(1);
  rig.begin();
  rig.take();
  rig.pool.lost(0);
  rig.pool.release(1, WELL);
  assert.equal(rig.take(), ['empty']);
  rig.wait();
  assert.equal(rig.take(), ['load 2']);
});

pools('credit is one attempt for each instance, over sessions and attempts under way', () => {
  const rig = new PoolRig({ size: 2 });
  const { credit } = rig.pool;
  credit.restart();
  assert.is(credit.granted, 2);
  credit.take();
  credit.take();
  assert.is(credit.granted, 2);
  credit.release();
  assert.is(credit.granted, 3);
  credit.restart();
  assert.is(credit.granted, 1);
  // A leader that assigns more is no reason to grant less later.
  for (let i = 0; i < 3; i += 1) credit.take();
  for (let i = 0; i < 4; i += 1) credit.release();
  assert.is(credit.granted, 3);
  credit.close();
  credit.take();
  credit.release();
  assert.is(credit.granted, 3);
});

// The model is the list of instances as the port sees them.
pools('any order of events keeps instances within the size, and its counters add up', () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 7 }), fc.nat(4)), { maxLength: 120 });
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 3 }), fc.boolean(), (all, size, warm) => {
      const rig = new PoolRig({ size, warm, runsMax: 3, checkMs: 50 });
      const alive = new Map<number, string>();
      const held: number[] = [];
      let ends = 0;
      let failures = 0;
      const follow = (): void => {
        for (const line of rig.take()) {
          const [verb = '', id = ''] = line.split(' ');
          if (verb === 'load') assert.ok(!alive.has(Number(id)));
          if (verb === 'check' || verb === 'unload')
            assert.ok(!held.includes(Number(id)), `${line} while held`);
          if (verb !== 'empty' && verb !== 'failed') alive.set(Number(id), verb);
        }
        assert.ok(alive.size <= size, `${alive.size} instances, at most ${size}`);
      };
      const pick = (stage: string, n: number): number | undefined => {
        const found = [...alive].filter(([, one]) => one === stage);
        return found[n % Math.max(1, found.length)]?.[0];
      };
      follow();
      for (const [step, n] of all) {
        const loading = pick('load', n);
        const checking = pick('check', n);
        const unloading = pick('unload', n);
        if (step === 0) rig.wait();
        else if (step <= 2 && loading !== undefined) {
          const isFailure = step === 2;
          failures += isFailure ? 1 : 0;
          if (isFailure) alive.delete(loading);
          else alive.set(loading, 'idle');
          rig.loaded(loading, isFailure ? FAILURE : undefined);
        } else if (step === 3 && rig.pool.firstReady() !== undefined) {
          const instance = rig.begin();
          assert.ok(!held.includes(instance), 'held twice');
          held.push(instance);
        } else if (step === 4 && held.length > 0) {
          rig.pool.release(held.splice(n % held.length, 1)[0] as number, { isError: n === 0 });
          ends += 1;
        } else if (step === 5 && checking !== undefined) {
          alive.set(checking, 'idle');
          rig.checked(checking, n === 0 ? FAILURE : undefined);
        } else if (step === 6 && unloading !== undefined) {
          alive.delete(unloading);
          rig.unloaded(unloading);
        } else if (step === 7) rig.time.advance(60);
        follow();
      }
      const { loading, idle, held: inUse, loads, loadFailures, recycled, runs } = rig.pool.use;
      assert.equal([inUse, runs, loadFailures], [held.length, ends + held.length, failures]);
      // An instance that was loaded is idle, held, or recycled.
      assert.is(loads, idle + inUse + recycled);
      assert.ok(loading + idle + inUse <= size);
    }),
    { numRuns: 500 },
  );
});

pools.run();
