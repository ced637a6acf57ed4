import { defineActor } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Mailbox } from '#src/mailbox/mailbox.js';
import { Slots } from '#src/run-queue/slots.js';
import { cellOf, runtimeOf } from '../internals.js';

const slots = suite('slots');
const Actor = defineActor('actor', { handlers: { ping: () => 'pong' } });

/** A mailbox of which only the identity matters. */
function mailbox(): Mailbox {
  return {} as Mailbox;
}

slots('a freed slot gets a new generation, so an old address finds no actor', () => {
  const some = new Slots<Mailbox>();
  const slot = some.reserve();
  const first = mailbox();
  some.put(slot, first);
  const generation = some.generationOf(slot);
  assert.is(some.find(slot, generation), first);
  some.release(slot);
  assert.is(some.find(slot, generation), undefined);
  assert.is(some.reserve(), slot);
  const second = mailbox();
  some.put(slot, second);
  assert.is(some.find(slot, generation), undefined);
  assert.is(some.find(slot, generation + 1), second);
});

slots('freeing a slot moves no other actor', () => {
  const some = new Slots<Mailbox>();
  const all = Array.from({ length: 1_000 }, () => {
    const slot = some.reserve();
    const one = mailbox();
    some.put(slot, one);
    return { slot, one, generation: some.generationOf(slot) };
  });
  for (const { slot } of all.filter((_, i) => i % 3 === 0)) some.release(slot);
  for (const { slot, one, generation } of all.filter((_, i) => i % 3 !== 0)) {
    assert.is(some.find(slot, generation), one);
  }
});

slots('slot 0 is never used', () => {
  const some = new Slots<Mailbox>();
  assert.ok(some.reserve() > 0);
  assert.is(some.mailboxes[0], undefined);
});

slots('a slot whose generation would wrap is retired', () => {
  const some = new Slots<Mailbox>();
  const slot = some.reserve();
  some.release(slot);
  const { generations } = some as unknown as { generations: Int32Array };
  generations[slot] = 0x7fff_fffe;
  assert.is(some.reserve(), slot);
  some.release(slot);
  assert.is.not(some.reserve(), slot);
});

slots('handled messages are counted beyond 2^31, and from zero for the next actor in the slot', () => {
  const some = new Slots<Mailbox>();
  const slot = some.reserve();
  for (let i = 0; i < 5; i += 1) some.count(slot, 1_000_000_000);
  some.count(slot, 7);
  assert.is(some.handledBy(slot), 5_000_000_007);
  some.release(slot);
  assert.is(some.reserve(), slot);
  assert.is(some.handledBy(slot), 0);
});

slots('a message to a stopped actor never reaches the next actor in its slot', async () => {
  await using test = createTestSystem();
  const old = test.system.spawn(Actor);
  const { slot } = cellOf(old);
  await test.settle(test.system.stop(old));
  const next = test.system.spawn(Actor);
  assert.is(cellOf(next).slot, slot);
  assert.is.not(next.id, old.id);
  assert.is(
    await test.settle(old.ask.ping().catch((error: { code: string }) => error.code)),
    'ERR_UNDELIVERED',
  );
  assert.is(runtimeOf(test.system).ready.depth, 0);
});

slots.run();
