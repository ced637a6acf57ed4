// A state machine with timers, in virtual time: an hour of traffic in a moment.
import assert from 'node:assert/strict';
import { defineActor } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';

const Light = defineActor('light', {
  state: () => ({ greens: 0 }),
  handlers: { greens: (ctx) => ctx.state.greens },
  phases: {
    red: {
      enter: (ctx) => void ctx.after(60_000, Light.self(ctx)).turn(),
      turn: (ctx) => ctx.become('green'),
    },
    green: {
      enter(ctx) {
        ctx.state.greens += 1;
        ctx.after(30_000, Light.self(ctx), { key: 'turn' }).turn(); // ends with the phase
      },
      pedestrian(ctx) {
        ctx.after(5_000, Light.self(ctx), { key: 'turn' }).turn(); // replaces the armed timer
      },
      turn: (ctx) => ctx.become('red'),
    },
  },
});

await using world = createTestSystem();
const light = world.system.spawn(Light, { name: 'light' });
await world.advance(60 * 60_000);
const greens = await world.ask(light).greens();
assert.equal(greens, 40);
console.log(`${greens} times green in an hour\n${world.system.tree()}`);
