// A state machine with timers, in virtual time: an hour of traffic in a moment.
import assert from 'node:assert/strict';
import { defineActor } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';

const Light = defineActor('light', {
  state: () => ({ greens: 0 }),
  handlers: { greens: (ctx) => ctx.state.greens },
  phases: {
    red: {
      turn(ctx) {
        ctx.state.greens += 1;
        ctx.become('green');
        ctx.after(30_000, Light.self(ctx), { key: 'turn' }).turn();
      },
    },
    green: {
      turn(ctx) {
        ctx.become('red');
        ctx.after(60_000, Light.self(ctx), { key: 'turn' }).turn();
      },
      pedestrian(ctx) {
        ctx.after(5_000, Light.self(ctx), { key: 'turn' }).turn(); // replaces the armed timer
      },
    },
  },
  started(ctx) {
    ctx.after(60_000, Light.self(ctx), { key: 'turn' }).turn();
  },
});

await using world = createTestSystem();
const light = world.system.spawn(Light, { name: 'light' });
await world.advance(60 * 60_000);
const hour = light.ask.greens();
await world.settle();
assert.equal(await hour, 40);
console.log(`${await hour} times green in an hour\n${world.system.tree()}`);
