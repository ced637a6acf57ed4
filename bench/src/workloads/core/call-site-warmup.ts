import type { Ref, System } from '../../adapters/actor-system.js';
import { Deferred } from '../deferred.js';

/*
 * A process with one handler in it flatters every system: all call sites are monomorphic and inlined. Before a
 * benchmark runs, a crowd of other actor kinds with other state shapes and handlers has used the same runtime.
 */
const shapes: readonly ((at: number) => Record<string, unknown>)[] = [
  (at) => ({ at }),
  (at) => ({ at, seen: new Set<number>() }),
  (at) => ({ name: `n${at}`, at, list: [] as number[] }),
  (at) => ({ at: at * 0.5, when: at, ok: true }),
  (at) => ({ deep: { at }, at }),
  (at) => ({ a: 1, b: 2, c: 3, at }),
  (at) => ({ text: 'x'.repeat(at % 7), at }),
  (at) => ({ at, fn: () => at }),
];

const payloads: readonly ((at: number) => unknown)[] = [
  (at) => at,
  (at) => ({ at }),
  (at) => `p${at}`,
  (at) => [at, at + 1],
  () => undefined,
  (at) => ({ kind: 'k', at, more: { at } }),
  (at) => at + 0.5,
  () => null,
];

interface Extra {
  noted: number;
  [name: string]: unknown;
}

interface Passed {
  readonly peers: readonly Ref[];
  readonly left: number;
  readonly payload: unknown;
  readonly done: Deferred;
}

/** Spawns `kinds` different kinds and lets them talk to each other for `hops` messages each. */
export async function crowd(system: System, kinds: number, hops = 20_000): Promise<void> {
  const pass = system.tell<Passed>('pass');
  const note = system.tell<unknown>('note');
  const actors: Ref[] = [];
  for (let index = 0; index < kinds; index += 1) {
    const shape = shapes[index % shapes.length];
    const payload = payloads[(index * 3 + 1) % payloads.length];
    if (shape === undefined || payload === undefined) continue;
    const Member = system.define({
      name: `crowd-${index}`,
      state: (): Extra => ({ ...shape(index), [`own${index}`]: index, noted: 0 }),
      handlers: {
        pass(_ctx, passed: Passed) {
          const next = passed.peers[(passed.left * 7 + index) % passed.peers.length];
          if (next === undefined || passed.left === 0) {
            passed.done.resolve();
            return;
          }
          note(next, payload(passed.left));
          pass(next, { ...passed, left: passed.left - 1, payload: payload(passed.left) });
        },
        note(ctx, about: unknown) {
          if (about !== index) ctx.state.noted += 1;
        },
        [`only${index}`]: (ctx: { state: Extra }) => ctx.state.noted,
      },
    });
    actors.push(system.spawn(Member));
  }
  for (const actor of actors) {
    const done = new Deferred();
    pass(actor, { peers: actors, left: Math.ceil(hops / kinds), payload: undefined, done });
    await done.promise;
  }
  for (const actor of actors) system.stop(actor);
}
