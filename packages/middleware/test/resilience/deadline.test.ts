import { createMiddlewareRig } from '@troupe/core/testing';
import { deadline } from '@troupe/middleware';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const deadlines = suite('deadline');

deadlines('a message that waited longer than `withinMs` is refused, a later one is not', async () => {
  const late = deadline({ withinMs: 100 });
  await using rig = createMiddlewareRig(late, { handle: () => undefined });
  const token = rig.system.suspend(rig.ref);
  rig.ref.tell.work('old');
  await rig.advance(60);
  rig.ref.tell.work('recent');
  await rig.advance(60);
  token.resume();
  await rig.settle();
  assert.equal(rig.ran, ['recent']);
  assert.equal(
    rig.deadLetters.map(({ reason, payload }) => [reason, payload]),
    [['refused', 'old']],
  );
  assert.is(late.refused, 1);
});

deadlines('an ask with less time left than `remainingMsMin` is refused', async () => {
  await using rig = createMiddlewareRig(deadline({ remainingMsMin: 50 }));
  const token = rig.system.suspend(rig.ref);
  const hopeless = rig.system
    .ask(rig.ref, { withinMs: 100 })
    .work('hopeless')
    .catch((error: Error) => error);
  const hopeful = rig.system.ask(rig.ref, { withinMs: 200 }).work('hopeful');
  await rig.advance(60);
  token.resume();
  await rig.settle();
  assert.is(await hopeful, 'hopeful');
  const error = (await hopeless) as Error & { code?: string };
  assert.is(error.code, 'ERR_UNDELIVERED');
  assert.match(error.message, /40 of 50 ms left/);
});

deadlines('a message without a deadline is handled', async () => {
  await using rig = createMiddlewareRig(deadline());
  await rig.tell(rig.ref).work(1);
  assert.equal(rig.ran, [1]);
});

deadlines('negative and impossible deadlines are refused', () => {
  for (const ms of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => deadline({ withinMs: ms }), /withinMs/);
    assert.throws(() => deadline({ remainingMsMin: ms }), /remainingMsMin/);
  }
});

deadlines.run();
