import { SeededRandom } from '@troupe/core/testing';
import type { Ref } from '../../../adapters/actor-system.js';
import { Deferred } from '../../deferred.js';
import { type Outcome, scaled, type Workload } from '../../workload.js';

const threshold = 2_048;
const seed = 1_024;
/** JavaScript numbers are exact up to 2^53; Savina uses 2^60. */
const valueMax = 2 ** 53;

function randomValues(count: number): Float64Array {
  const random = new SeededRandom(seed);
  return Float64Array.from({ length: count }, () => Math.floor(random.next() * valueMax));
}

function checksum(values: Float64Array): number {
  let sum = 0;
  for (const value of values) sum = (sum + (value % 65_521)) % 2 ** 40;
  return sum;
}

function isSorted(values: Float64Array): boolean {
  return values.every((value, at) => at === 0 || (values[at - 1] ?? 0) <= value);
}

interface Parts {
  readonly left: Float64Array;
  readonly pivots: Float64Array;
  readonly right: Float64Array;
}

function partition(values: Float64Array): Parts {
  const pivot = values[values.length >> 1] ?? 0;
  return {
    left: values.filter((value) => value < pivot),
    pivots: values.filter((value) => value === pivot),
    right: values.filter((value) => value > pivot),
  };
}

function join(...parts: readonly Float64Array[]): Float64Array {
  const whole = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function sortWithoutActors(values: Float64Array): Float64Array {
  if (values.length < threshold) return values.slice().sort();
  const { left, pivots, right } = partition(values);
  return join(sortWithoutActors(left), pivots, sortWithoutActors(right));
}

function outcomeOf(input: Float64Array, output: Float64Array): Outcome {
  return {
    attempted: input.length,
    completed: output.length,
    oracle: isSorted(output) && checksum(output) === checksum(input),
  };
}

interface Sorted {
  readonly side: 'left' | 'right';
  readonly values: Float64Array;
}

interface Sorter {
  readonly parent: Ref | undefined;
  readonly side: 'left' | 'right';
  readonly done: Deferred<Float64Array> | undefined;
  pivots: Float64Array;
  left: Float64Array | undefined;
  right: Float64Array | undefined;
}

/** A tree of actors with large payloads. */
export const quicksort: Workload = {
  name: 'quicksort',
  unit: 'values',
  note: 'values below 2^53 instead of 2^60',
  prepare(system, scale) {
    const input = randomValues(scaled(1_000_000, scale));
    const sort = system.tell<Float64Array>('sort');
    const sorted = system.tell<Sorted>('sorted');
    const finish = ({ parent, done, side }: Sorter, values: Float64Array): void => {
      if (parent === undefined) done?.resolve(values);
      else sorted(parent, { side, values });
    };
    const SorterActor = system.define({
      name: 'sorter',
      state: ({ parent, side, done }: Partial<Pick<Sorter, 'parent' | 'side' | 'done'>>): Sorter => ({
        parent,
        side: side ?? 'left',
        done,
        pivots: new Float64Array(0),
        left: undefined,
        right: undefined,
      }),
      handlers: {
        sort(ctx, values: Float64Array) {
          if (values.length < threshold) {
            finish(ctx.state, values.slice().sort());
            ctx.stop();
            return;
          }
          const { left, pivots, right } = partition(values);
          ctx.state.pivots = pivots;
          sort(system.spawn(SorterActor, { parent: ctx.self, side: 'left' }), left);
          sort(system.spawn(SorterActor, { parent: ctx.self, side: 'right' }), right);
        },
        sorted(ctx, { side, values }: Sorted) {
          const { state } = ctx;
          state[side] = values;
          if (state.left === undefined || state.right === undefined) return;
          finish(state, join(state.left, state.pivots, state.right));
          ctx.stop();
        },
      },
    });
    return async () => {
      const done = new Deferred<Float64Array>();
      sort(system.spawn(SorterActor, { done }), input);
      return outcomeOf(input, await done.promise);
    };
  },
  plain(scale) {
    const input = randomValues(scaled(1_000_000, scale));
    return () => outcomeOf(input, sortWithoutActors(input));
  },
};
