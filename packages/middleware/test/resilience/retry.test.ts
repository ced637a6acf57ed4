import { defineActor } from '@troupe/core';
import { createMiddlewareRig, createTestSystem } from '@troupe/core/testing';
import { retry } from '@troupe/middleware';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const retries = suite('retry');

retries('a failed handler runs again with growing delays, and no message overtakes it', async () => {
  const again = retry({ attempts: 5, fromMs: 100, toMs: 300, jitter: 0 });
  const at: number[] = [];
  let failing = 4;
  await using rig = createMiddlewareRig(again, {
    handle: (payload) => {
      at.push(rig.host.now());
      if (payload === 'hard' && failing > 0) {
        failing -= 1;
        throw new Error('not yet');
      }
      return payload;
    },
  });
  const asked = rig.system.ask(rig.ref, { withinMs: 60_000 }).work('hard');
  rig.ref.tell.work('next');
  await rig.advance(1_000);
  assert.is(await asked, 'hard');
  assert.equal(at, [0, 100, 300, 600, 900, 900]);
  assert.equal(rig.ran, ['hard', 'hard', 'hard', 'hard', 'hard', 'next']);
  assert.equal(rig.failures, []);
  assert.is(again.retried, 4);
});

retries('a failure of the last attempt goes to the supervisor', async () => {
  const again = retry({ attempts: 3, fromMs: 10, jitter: 0 });
  const handle = (): never => {
    throw new Error('never');
  };
  await using rig = createMiddlewareRig(again, { handle });
  rig.ref.tell.work(1);
  await rig.advance(1_000);
  assert.equal(rig.ran, [1, 1, 1]);
  assert.is(rig.failures.length, 1);
  assert.is(again.exhausted, 1);
  rig.ref.tell.work(2);
  await rig.advance(1_000);
  assert.equal(rig.ran, [1, 1, 1, 2, 2, 2]);
});

retries('an error with `retryable: false` is not retried', async () => {
  const handle = (payload: unknown): never => {
    throw Object.assign(new Error('no'), { retryable: payload });
  };
  await using rig = createMiddlewareRig(retry({ attempts: 2, fromMs: 10, jitter: 0 }), { handle });
  rig.ref.tell.work(false);
  rig.ref.tell.work(true);
  await rig.advance(100);
  assert.equal(rig.ran, [false, true, true]);
});

retries('a handler that is not declared retryable does not run again', async () => {
  let runs = 0;
  const Fragile = defineActor('fragile', {
    handlers: {
      once() {
        runs += 1;
        throw new Error('no');
      },
    },
  });
  await using test = createTestSystem({ middleware: [retry({ fromMs: 1 })] });
  test.system.spawn(Fragile).tell.once();
  await test.advance(1_000);
  assert.is(runs, 1);
});

retries('delays are jittered by the given share and bounded by `toMs`', async () => {
  const delays: number[] = [];
  const chance = [0, 0.999, 0.5];
  let call = 0;
  const again = retry({
    attempts: 2_000,
    fromMs: 100,
    toMs: 1_000,
    jitter: 0.5,
    random: () => chance[call++ % 3] as number,
  });
  const view = (count: number) => ({ retryable: true, retries: count }) as never;
  for (const count of [0, 0, 0, 1_500]) {
    const request = again.afterMessage?.(view(count), { kind: 'failed', error: new Error('x'), ms: 0 });
    delays.push(Math.round(request?.retryAfterMs ?? -1));
  }
  assert.equal(delays, [50, 150, 100, 500]);
});

retries('impossible options are refused', () => {
  assert.throws(() => retry({ attempts: 0 }), /attempts/);
  assert.throws(() => retry({ fromMs: -1 }), /fromMs/);
  assert.throws(() => retry({ fromMs: 100, toMs: 50 }), /toMs/);
  assert.throws(() => retry({ jitter: 1.1 }), /jitter/);
});

retries.run();
