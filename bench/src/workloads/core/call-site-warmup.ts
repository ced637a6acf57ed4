import type { Ref, System } from '../../adapters/actor-system.js';
import { Deferred } from '../deferred.js';

/*
 * In a process with a single handler all call sites are monomorphic and inlined, which flatters every system.
 * Other actor types with other state shapes and handlers therefore use the runtime before a benchmark starts.
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

interface MemberState {
  received: number;
  [name: string]: unknown;
}

interface Token {
  readonly peers: readonly Ref[];
  readonly left: number;
  readonly payload: unknown;
  readonly done: Deferred;
}

/** Spawns `types` different actor types, which pass a token on for `hops` hops in all. */
export async function warmUpCallSites(system: System, types: number, hops = 20_000): Promise<void> {
  const pass = system.tell<Token>('pass');
  const note = system.tell<unknown>('note');
  const actors: Ref[] = [];
  for (let index = 0; index < types; index += 1) {
    const shape = shapes[index % shapes.length];
    const payload = payloads[(index * 3 + 1) % payloads.length];
    if (shape === undefined || payload === undefined) continue;
    const Member = system.define({
      name: `warm-up-${index}`,
      state: (): MemberState => ({ ...shape(index), [`own${index}`]: index, received: 0 }),
      handlers: {
        pass(_ctx, token: Token) {
          const next = token.peers[(token.left * 7 + index) % token.peers.length];
          if (next === undefined || token.left === 0) {
            token.done.resolve();
            return;
          }
          note(next, payload(token.left));
          pass(next, { ...token, left: token.left - 1, payload: payload(token.left) });
        },
        note(ctx, payload: unknown) {
          if (payload !== index) ctx.state.received += 1;
        },
        [`only${index}`]: (ctx: { state: MemberState }) => ctx.state.received,
      },
    });
    actors.push(system.spawn(Member));
  }
  for (const actor of actors) {
    const done = new Deferred();
    pass(actor, { peers: actors, left: Math.ceil(hops / types), payload: undefined, done });
    await done.promise;
  }
  for (const actor of actors) system.stop(actor);
}
