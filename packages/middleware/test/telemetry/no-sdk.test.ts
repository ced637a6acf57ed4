import { createSystem, defineActor } from '@troupe/core';
import { telemetry } from '@troupe/middleware';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const absent = suite('telemetry without an SDK');

absent('telemetry has no hooks, so an actor is as fast as one without middleware', async () => {
  const none = telemetry();
  assert.equal(Object.keys(none), ['name']);
  const Actor = defineActor('actor', { handlers: { ping: () => 'pong' } });
  const system = createSystem({ middleware: [none] });
  const ref = system.spawn(Actor);
  assert.is(await ref.ask.ping(), 'pong');
  const { type } = (ref as unknown as { cell: { type: { hasPipeline: boolean } } }).cell;
  assert.is(type.hasPipeline, false);
  await system.shutdown();
});

absent('`required: true` throws ERR_NO_TELEMETRY_SDK', () => {
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
