import { defineActor } from '@troupe/core';
import { createEquippedSystem, telemetry, withHooks } from '@troupe/middleware';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const absent = suite('telemetry without an SDK');

absent('it has no hooks, so an actor is as fast as one without middleware', async () => {
  const none = telemetry();
  assert.equal(withHooks([none]), []);
  assert.equal(Object.keys(none), ['name']);
  const Actor = defineActor('actor', { handlers: { ping: () => 'pong' } });
  const system = createEquippedSystem({ middleware: [none] });
  assert.is(await system.spawn(Actor).ask.ping(), 'pong');
  await system.shutdown();
});

absent('it refuses to be silent where that was asked for', () => {
  assert.throws(
    () => telemetry({ required: true }),
    (error: { code?: string }) => error.code === 'ERR_NO_TELEMETRY_SDK',
  );
});

absent('bad options are refused', () => {
  assert.throws(() => telemetry({ labelsMax: 0 }), /labelsMax/);
  assert.throws(() => telemetry({ name: '' }), /name/);
  assert.throws(() => telemetry({ tracer: 1 } as never), /no such option/);
});

absent.run();
