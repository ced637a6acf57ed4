import { setTimeout as sleep } from 'node:timers/promises';
import type { Ref, System } from '../../adapters/actor-system.js';
import type { Measurement } from '../../runner/suite.js';
import { Deferred } from '../deferred.js';
import { scaled } from '../workload.js';

/** Live heap after two full collections: the second frees objects released by finalisers of the first. */
function heapBytes(): number {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error('memory needs --expose-gc');
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

interface TinyState {
  touched: number;
}

const makeState = (touched: number): TinyState => ({ touched });

/** Bytes per state object of the user, measured with as many objects as there are actors. */
function stateBytes(count: number): number {
  const states: (TinyState | undefined)[] = new Array(count).fill(undefined);
  const before = heapBytes();
  for (let index = 0; index < count; index += 1) states[index] = makeState(index);
  const after = heapBytes();
  return states.length === count ? (after - before) / count : Number.NaN;
}

/**
 * V8 sometimes frees about 150 KB of its own between two readings, which would dominate with fewer actors.
 */
const actorsMin = 20_000;

export type MemoryPart = 'whole' | 'without-state' | 'after-message';

/**
 * Heap per anonymous idle actor with default options. The array of refs is allocated before and not counted.
 */
export function memory(system: System, scale: number, part: MemoryPart): () => Promise<Measurement> {
  const actors = scaled(100_000, scale, actorsMin);
  const touch = system.tell<Deferred | undefined>('touch');
  let touched = 0;
  const Idle = system.define({
    name: 'idle',
    state: makeState,
    handlers: {
      touch(ctx, done: Deferred | undefined) {
        ctx.state.touched += 1;
        touched += 1;
        done?.resolve();
      },
    },
  });
  const refs: (Ref | undefined)[] = new Array(actors).fill(undefined);
  return async () => {
    const early = Array.from({ length: 100 }, (_, index) => system.spawn(Idle, index));
    await sleep(50);
    const ofState = part === 'without-state' ? stateBytes(actors) : 0;
    const before = heapBytes();
    const started = performance.now();
    for (let index = 0; index < actors; index += 1) refs[index] = system.spawn(Idle, index);
    const seconds = (performance.now() - started) / 1_000;
    if (part === 'after-message') await touchAll(refs, touch);
    await sleep(200);
    const perActor = (heapBytes() - before) / actors - ofState;
    const completed = part === 'after-message' ? touched : refs.filter((ref) => ref !== undefined).length;
    for (const ref of [...refs, ...early]) if (ref !== undefined) system.stop(ref);
    refs.fill(undefined);
    return { attempted: actors, completed, seconds, heapBytes: perActor };
  };
}

async function touchAll(
  refs: readonly (Ref | undefined)[],
  touch: (to: Ref, done: Deferred | undefined) => void,
): Promise<void> {
  const done = new Deferred();
  refs.forEach((ref, index) => {
    if (ref !== undefined) touch(ref, index === refs.length - 1 ? done : undefined);
  });
  await done.promise;
}
