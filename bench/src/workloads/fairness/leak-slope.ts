import { setTimeout as sleep } from 'node:timers/promises';
import type { System } from '../../adapters/actor-system.js';
import type { Measurement } from '../../runner/suite.js';
import { Deferred } from '../deferred.js';
import { scaled } from '../workload.js';

const cycles = 12;
/** A smaller slope is noise of the allocator. */
const noiseBytes = 0.1;

/** The slope of the least-squares line through equally spaced values. */
export function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let above = 0;
  let below = 0;
  values.forEach((value, at) => {
    above += (at - middle) * (value - mean);
    below += (at - middle) ** 2;
  });
  return above / below;
}

/** Live heap after cycles of spawning, messaging and stopping actors; the slope is the leak per actor. */
export function leakSlope(system: System, scale: number): () => Promise<Measurement> {
  const actors = scaled(20_000, scale, 500);
  const touch = system.tell<number>('touch');
  let done = new Deferred();
  let touched = 0;
  const ShortLived = system.define({
    name: 'leak-short-lived',
    state: (age: number) => ({ age }),
    handlers: {
      touch(ctx, by: number) {
        ctx.state.age += by;
        ctx.stop();
        touched += 1;
        if (touched % actors === 0) done.resolve();
      },
    },
  });
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error('leakSlope needs --expose-gc');
  const cycle = async (): Promise<number> => {
    done = new Deferred();
    for (let index = 0; index < actors; index += 1) touch(system.spawn(ShortLived, index), 1);
    await done.promise;
    await sleep(20);
    collect();
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  return async () => {
    touched = 0;
    // The first cycles grow tables and compile code.
    await cycle();
    await cycle();
    const started = performance.now();
    const heap: number[] = [];
    for (let count = 0; count < cycles; count += 1) heap.push(await cycle());
    const seconds = (performance.now() - started) / 1_000;
    const leaked = Math.max(noiseBytes, slope(heap) / actors);
    return { attempted: actors * (cycles + 2), completed: touched, seconds, heapBytes: leaked };
  };
}
