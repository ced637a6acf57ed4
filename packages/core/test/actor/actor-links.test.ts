import { type AnyRef, defineActor, MisuseError } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const links = suite('links');

const Peer = defineActor('peer', {
  handlers: {
    link(ctx, other: AnyRef) {
      ctx.link(other);
    },
    unlink(ctx, other: AnyRef) {
      ctx.unlink(other);
    },
    linkSelf: (ctx) => {
      try {
        ctx.link(ctx.self);
        return undefined;
      } catch (error) {
        return error;
      }
    },
    crash() {
      throw new Error('crash');
    },
    ping() {},
  },
});

async function pair() {
  const world = createTestSystem();
  const [a, b] = [world.system.spawn(Peer), world.system.spawn(Peer)];
  await world.tell(a).link(b);
  return { world, a, b };
}

links('when one of two linked actors ends, the other is stopped', async () => {
  for (const victim of ['a', 'b'] as const) {
    for (const verb of ['stop', 'drain', 'kill'] as const) {
      const made = await pair();
      await using _ = made.world;
      await made.world.settle(made.world.system[verb](made[victim]));
      assert.is(made.a.offer.ping(), 'closed');
      assert.is(made.b.offer.ping(), 'closed');
    }
  }
});

links('a restart does not end linked actors', async () => {
  const { world, a, b } = await pair();
  await using _ = world;
  await world.tell(a).crash();
  assert.is(b.offer.ping(), 'accepted');
  await world.settle(world.system.stop(b));
  assert.is(a.offer.ping(), 'closed');
});

links('the end of an unlinked actor does not stop the other', async () => {
  const { world, a, b } = await pair();
  await using _ = world;
  await world.tell(b).unlink(a);
  await world.settle(world.system.stop(a));
  assert.is(b.offer.ping(), 'accepted');
});

links('a link to an actor that has ended stops the linking actor', async () => {
  const { world, a, b } = await pair();
  await using _ = world;
  await world.tell(a).unlink(b);
  await world.settle(world.system.stop(b));
  await world.tell(a).link(b);
  assert.is(a.offer.ping(), 'closed');
});

links('an actor cannot be linked to itself', async () => {
  const { world, a } = await pair();
  await using _ = world;
  assert.instance(await world.ask(a).linkSelf(), MisuseError);
});

links('a chain of linked actors ends as a whole', async () => {
  await using world = createTestSystem();
  const peers = Array.from({ length: 50 }, () => world.system.spawn(Peer));
  peers.forEach((peer, at) => {
    const next = peers[at + 1];
    if (next !== undefined) peer.tell.link(next);
  });
  await world.settle();
  await world.settle(world.system.stop(peers[25] as (typeof peers)[number]));
  assert.is(world.system.stats().actors, 1);
});

links('a name can be watched', async () => {
  await using world = createTestSystem();
  const seen: string[] = [];
  const end = world.system.watchName(Peer, 'p', (ref) => {
    seen.push(ref === undefined ? 'none' : ref.path);
    if (seen.length === 2) throw new Error('a watcher that throws delays no other');
  });
  const first = world.system.spawn(Peer, { name: 'p' });
  await world.settle(world.system.stop(first));
  world.system.spawn(defineActor('other', { handlers: {} }), { name: 'p' });
  end();
  assert.equal(seen, ['none', '/p', 'none', 'none']);
});

links('the watcher of a name knows its current actor, whatever other watchers do', async () => {
  await using world = createTestSystem();
  const { system } = world;
  const respawn = (): unknown => system.spawn(Peer, { name: 'p' });
  let spawned = 0;
  system.watchName(Peer, 'p', (ref) => {
    if (ref !== undefined || spawned === 2) return;
    spawned += 1;
    respawn();
  });
  const seen: (string | undefined)[] = [];
  const late: (string | undefined)[] = [];
  system.watchName(Peer, 'p', (ref) => {
    seen.push(ref?.id);
    if (seen.length === 2) system.watchName(Peer, 'p', (now) => late.push(now?.id));
  });
  const first = system.lookup(Peer, 'p');
  assert.ok(first);
  void system.kill(first);
  await world.settle();
  const id = system.lookup(Peer, 'p')?.id;
  assert.ok(id !== undefined && id !== first.id);
  assert.is(seen.at(-1), id);
  assert.equal(late, [id], 'a new watcher is notified once');
});

links.run();
