// A test program that awaits an ask in a world that it does not run.
import { defineActor } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';

const Store = defineActor('store', { handlers: { read: () => 5 } });

const world = createTestSystem();
const store = world.system.spawn(Store, { name: 'store' });
console.log(await store.ask.read());
