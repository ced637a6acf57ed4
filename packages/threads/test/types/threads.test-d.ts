// Options of threads, of spawns on them, and payloads that move.
import { createSystem, defineActor } from '@troupe/core';
import { threads, transfer } from '@troupe/threads';

const Hasher = defineActor('hasher', {
  state: (salt: string) => ({ salt }),
  module: import.meta.url,
  handlers: { hash: (ctx, bytes: Uint8Array) => `${ctx.state.salt}${bytes.length}` },
});

export function uses(): void {
  const system = createSystem({
    threads: threads({ count: 2, name: 'cpu', resourceLimits: { stackSizeMb: 4 } }),
  });
  const ref = system.spawn(Hasher, { args: 'salt', on: 'any-thread' });
  system.spawnPool(Hasher, { size: 4, on: 'each-thread', args: (index) => String(index) });
  const bytes = new Uint8Array(8);
  void (ref.ask.hash(transfer(bytes, [bytes.buffer])) satisfies Promise<string>);
  // @ts-expect-error a number of threads is no name
  system.spawn(Hasher, { args: 'salt', on: 1 });
  // @ts-expect-error there is no such option
  threads({ size: 2 });
  // @ts-expect-error only the values of threads()
  createSystem({ threads: 2 });
  // @ts-expect-error a primitive value has nothing to move
  transfer(5, []);
}
