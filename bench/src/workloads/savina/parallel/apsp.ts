import { SeededRandom } from '@troupe/core/testing';
import type { Ref } from '../../../adapters/actor-system.js';
import { Deferred } from '../../deferred.js';
import type { Outcome, Workload } from '../../workload.js';

const blockSize = 50;
const weightMax = 100;

function randomGraph(size: number): Float64Array {
  const random = new SeededRandom(42);
  return Float64Array.from({ length: size * size }, (_, at) =>
    Math.floor(at / size) === at % size ? 0 : 1 + random.below(weightMax),
  );
}

function floydWarshall(graph: Float64Array, size: number): Float64Array {
  const distance = graph.slice();
  for (let via = 0; via < size; via += 1) {
    for (let from = 0; from < size; from += 1) {
      const first = distance[from * size + via] ?? 0;
      for (let to = 0; to < size; to += 1) {
        const detour = first + (distance[via * size + to] ?? 0);
        if (detour < (distance[from * size + to] ?? 0)) distance[from * size + to] = detour;
      }
    }
  }
  return distance;
}

/** The state of a block before a round, sent to its row and column. */
interface Share {
  readonly round: number;
  readonly block: number;
  readonly data: Float64Array;
}

interface Block {
  readonly index: number;
  data: Float64Array;
  round: number;
  neighbours: readonly Ref[];
  /** By round parity: a neighbour is at most one round ahead. */
  readonly received: readonly [Map<number, Float64Array>, Map<number, Float64Array>];
}

/** One round of the algorithm on one block, with the blocks of its row and column. */
function relax(state: Block, blocks: number): void {
  const { index, round, received } = state;
  const [row, column] = [Math.floor(index / blocks), index % blocks];
  const [pivot, inside] = [Math.floor(round / blockSize), round % blockSize];
  const shares = received[round % 2 === 0 ? 0 : 1];
  const left = pivot === column ? state.data : shares.get(row * blocks + pivot);
  const above = pivot === row ? state.data : shares.get(pivot * blocks + column);
  if (left === undefined || above === undefined) throw new RangeError('a neighbour’s block is missing');
  const next = state.data.slice();
  for (let from = 0; from < blockSize; from += 1) {
    const first = left[from * blockSize + inside] ?? 0;
    for (let to = 0; to < blockSize; to += 1) {
      const detour = first + (above[inside * blockSize + to] ?? 0);
      if (detour < (next[from * blockSize + to] ?? 0)) next[from * blockSize + to] = detour;
    }
  }
  state.data = next;
}

function cutBlock(graph: Float64Array, size: number, index: number): Float64Array {
  const blocks = size / blockSize;
  const [top, left] = [Math.floor(index / blocks) * blockSize, (index % blocks) * blockSize];
  return Float64Array.from(
    { length: blockSize * blockSize },
    (_, at) => graph[(top + Math.floor(at / blockSize)) * size + left + (at % blockSize)] ?? 0,
  );
}

const sizeOf = (scale: number): number =>
  blockSize * Math.max(2, Math.round((300 * Math.cbrt(scale)) / blockSize));

/** Shortest paths between all pairs: blocks of the matrix exchange their state every round. */
export const apsp: Workload = {
  name: 'apsp',
  unit: 'messages',
  prepare(system, scale) {
    const size = sizeOf(scale);
    const blocks = size / blockSize;
    const graph = randomGraph(size);
    const expected = floydWarshall(graph, size);
    const count = blocks * blocks;
    const perRound = 2 * (blocks - 1);
    const start = system.tell<readonly Ref[]>('start');
    const share = system.tell<Share>('share');
    let done = new Deferred();
    let finished = 0;
    let received = 0;
    let correct = true;
    const shareBlock = (state: Block): void => {
      const message = { round: state.round, block: state.index, data: state.data };
      for (const neighbour of state.neighbours) share(neighbour, message);
    };
    const advance = (state: Block): void => {
      const shares = state.received[state.round % 2 === 0 ? 0 : 1];
      if (state.neighbours.length === 0 || shares.size < perRound || state.round === size) return;
      relax(state, blocks);
      shares.clear();
      state.round += 1;
      if (state.round < size) {
        shareBlock(state);
        return;
      }
      const expectedBlock = cutBlock(expected, size, state.index);
      if (!state.data.every((value, at) => value === expectedBlock[at])) correct = false;
      finished += 1;
      if (finished === count) done.resolve();
    };
    const BlockActor = system.define({
      name: 'block',
      state: (index: number): Block => ({
        index,
        data: cutBlock(graph, size, index),
        round: 0,
        neighbours: [],
        received: [new Map(), new Map()],
      }),
      handlers: {
        start(ctx, neighbours: readonly Ref[]) {
          ctx.state.neighbours = neighbours;
          shareBlock(ctx.state);
          advance(ctx.state);
        },
        share(ctx, { round, block, data }: Share) {
          received += 1;
          ctx.state.received[round % 2 === 0 ? 0 : 1].set(block, data);
          advance(ctx.state);
        },
      },
    });
    return async (): Promise<Outcome> => {
      done = new Deferred();
      finished = 0;
      received = 0;
      correct = true;
      const refs = Array.from({ length: count }, (_, index) => system.spawn(BlockActor, index));
      refs.forEach((ref, index) => {
        const [row, column] = [Math.floor(index / blocks), index % blocks];
        const sharesRowOrColumn = (other: number): boolean =>
          other !== index && (Math.floor(other / blocks) === row || other % blocks === column);
        start(
          ref,
          refs.filter((_, other) => sharesRowOrColumn(other)),
        );
      });
      await done.promise;
      for (const ref of refs) system.stop(ref);
      return { attempted: count * perRound * size, completed: received, oracle: correct };
    };
  },
  plain(scale) {
    const size = sizeOf(scale);
    const blocks = size / blockSize;
    const graph = randomGraph(size);
    const messages = blocks * blocks * 2 * (blocks - 1) * size;
    return () => {
      const distance = floydWarshall(graph, size);
      return {
        attempted: messages,
        completed: messages,
        oracle: distance.every((value) => value <= weightMax),
      };
    };
  },
};
