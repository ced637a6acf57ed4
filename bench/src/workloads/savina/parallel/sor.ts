import { SeededRandom } from '@troupe/core/testing';
import type { Ref } from '../../../adapters/actor-system.js';
import { Deferred } from '../../deferred.js';
import { type Outcome, scaled, type Workload } from '../../workload.js';

const size = 20;
const omega = 1.25;
const seed = 10_101_010;
const inner = size - 2;

function initialGrid(): Float64Array {
  const random = new SeededRandom(seed);
  return Float64Array.from({ length: size * size }, () => random.next() * 1e-6);
}

function relaxed(value: number, sum: number): number {
  return (omega / 4) * sum + (1 - omega) * value;
}

/** The inner cells in row order; the border is constant. */
const cells: readonly number[] = Array.from(
  { length: inner * inner },
  (_, at) => (Math.floor(at / inner) + 1) * size + (at % inner) + 1,
);
const isRed = (cell: number): boolean => (Math.floor(cell / size) + (cell % size)) % 2 === 0;
const around = (cell: number): readonly number[] => [cell - size, cell - 1, cell + 1, cell + size];

function relaxWithoutActors(iterations: number): number {
  const grid = initialGrid();
  for (let count = 0; count < iterations; count += 1) {
    for (const red of [true, false]) {
      for (const cell of cells) {
        if (isRed(cell) !== red) continue;
        const sum = around(cell).reduce((total, other) => total + (grid[other] ?? 0), 0);
        grid[cell] = relaxed(grid[cell] ?? 0, sum);
      }
    }
  }
  return cells.reduce((total, cell) => total + (grid[cell] ?? 0), 0);
}

interface Neighbour {
  readonly cell: number;
  readonly value: number;
}

interface Cell {
  readonly cell: number;
  readonly values: Map<number, number>;
  peers: readonly Ref[];
  value: number;
  received: number;
  left: number;
}

/** A stencil: red and black cells alternate, each waiting for its neighbours. */
export const sor: Workload = {
  name: 'sor',
  unit: 'updates',
  note: 'a grid of 20 by 20, one actor per inner cell; the reference total is that of the plain version',
  prepare(system, scale) {
    const iterations = scaled(100, scale);
    const expected = relaxWithoutActors(iterations);
    const start = system.tell<readonly Ref[]>('start');
    const neighbour = system.tell<Neighbour>('neighbour');
    let done = new Deferred();
    let updates = 0;
    let total = 0;
    let finished = 0;
    const share = ({ peers, cell, value }: Cell): void => {
      for (const peer of peers) neighbour(peer, { cell, value });
    };
    const update = (state: Cell): void => {
      state.received = 0;
      state.left -= 1;
      updates += 1;
      state.value = relaxed(
        state.value,
        around(state.cell).reduce((sum, other) => sum + (state.values.get(other) ?? 0), 0),
      );
      // The last black values have no reader.
      if (state.left > 0 || isRed(state.cell)) share(state);
      if (state.left > 0) return;
      total += state.value;
      finished += 1;
      if (finished === cells.length) done.resolve();
    };
    const CellActor = system.define({
      name: 'cell',
      state: ({ cell, grid }: { cell: number; grid: Float64Array }): Cell => ({
        cell,
        values: new Map(around(cell).map((other) => [other, grid[other] ?? 0])),
        peers: [],
        value: grid[cell] ?? 0,
        received: 0,
        left: iterations,
      }),
      handlers: {
        start(ctx, peers: readonly Ref[]) {
          ctx.state.peers = peers;
          if (!isRed(ctx.state.cell)) share(ctx.state);
        },
        neighbour(ctx, { cell, value }: Neighbour) {
          const { state } = ctx;
          state.values.set(cell, value);
          state.received += 1;
          if (state.received === state.peers.length) update(state);
        },
      },
    });
    return async (): Promise<Outcome> => {
      done = new Deferred();
      updates = 0;
      total = 0;
      finished = 0;
      const grid = initialGrid();
      const refs = new Map(cells.map((cell) => [cell, system.spawn(CellActor, { cell, grid })]));
      const begin = (cell: number, ref: Ref): void => {
        start(
          ref,
          around(cell).flatMap((other) => refs.get(other) ?? []),
        );
      };
      // Red cells start first, because black cells send their values immediately.
      for (const [cell, ref] of refs) if (isRed(cell)) begin(cell, ref);
      for (const [cell, ref] of refs) if (!isRed(cell)) begin(cell, ref);
      await done.promise;
      for (const ref of refs.values()) system.stop(ref);
      return {
        attempted: cells.length * iterations,
        completed: updates,
        oracle: Math.abs(total - expected) < 1e-12,
      };
    };
  },
  plain(scale) {
    const iterations = scaled(100, scale);
    const expected = relaxWithoutActors(iterations);
    const updates = cells.length * iterations;
    return () => ({
      attempted: updates,
      completed: updates,
      oracle: relaxWithoutActors(iterations) === expected,
    });
  },
};
