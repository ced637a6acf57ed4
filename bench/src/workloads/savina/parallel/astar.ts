import { SeededRandom } from '@troupe/core/testing';
import type { Outcome, Workload } from '../../workload.js';
import { type MasterWorkerTask, masterWorker, runWithoutActors } from '../master-worker.js';

const workers = 20;
const threshold = 1_024;
const seed = 123_456;

/** A cube of nodes. Edges lead towards the far corner, and some are missing. */
class Grid {
  readonly size: number;
  readonly target: number;
  private readonly edges: Uint8Array;
  private readonly parent: Int32Array;
  visited = 0;

  constructor(size: number) {
    this.size = size;
    this.target = size ** 3 - 1;
    const random = new SeededRandom(seed);
    // A node has up to seven successors; the diagonal one always exists, so that there is a path.
    this.edges = Uint8Array.from({ length: size ** 3 }, () => 0x80 | random.below(128));
    this.parent = new Int32Array(size ** 3);
  }

  reset(): void {
    this.parent.fill(-1);
    this.parent[0] = 0;
    this.visited = 0;
  }

  distance(node: number): number {
    const { size } = this;
    const last = size - 1;
    const [x, y, z] = [node % size, Math.floor(node / size) % size, Math.floor(node / size / size)];
    return Math.hypot(last - x, last - y, last - z);
  }

  /** Calls back for each neighbour that was not reached before. */
  expand(node: number, reached: (neighbour: number) => void): void {
    const { size } = this;
    const [x, y, z] = [node % size, Math.floor(node / size) % size, Math.floor(node / size / size)];
    for (let step = 1; step < 8; step += 1) {
      const [dx, dy, dz] = [step & 1, (step >> 1) & 1, step >> 2];
      const outside = x + dx >= size || y + dy >= size || z + dz >= size;
      if (outside || ((this.edges[node] ?? 0) & (1 << step)) === 0) continue;
      const neighbour = node + dx + dy * size + dz * size * size;
      if (this.parent[neighbour] !== -1) continue;
      this.parent[neighbour] = node;
      reached(neighbour);
    }
  }

  /** True if the parents lead from the target back to the origin. */
  get hasPath(): boolean {
    let node = this.target;
    for (let steps = 0; steps <= 3 * this.size; steps += 1) {
      if (node === 0) return true;
      node = this.parent[node] ?? -1;
      if (node === -1) return false;
    }
    return false;
  }
}

/** A binary heap of open nodes, nearest to the target first. */
class Frontier {
  private readonly nodes: number[] = [];
  private readonly keys: number[] = [];

  get size(): number {
    return this.nodes.length;
  }

  get rest(): readonly number[] {
    return this.nodes;
  }

  push(node: number, key: number): void {
    let at = this.nodes.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if ((this.keys[above] ?? 0) <= key) break;
      this.nodes[at] = this.nodes[above] ?? 0;
      this.keys[at] = this.keys[above] ?? 0;
      at = above;
    }
    this.nodes[at] = node;
    this.keys[at] = key;
  }

  pop(): number | undefined {
    const first = this.nodes[0];
    const node = this.nodes.pop();
    const key = this.keys.pop();
    if (node === undefined || key === undefined || this.nodes.length === 0) return first;
    let at = 0;
    for (let below = 1; below < this.nodes.length; below = 2 * at + 1) {
      const right = below + 1;
      if (right < this.nodes.length && (this.keys[right] ?? 0) < (this.keys[below] ?? 0)) below = right;
      if ((this.keys[below] ?? 0) >= key) break;
      this.nodes[at] = this.nodes[below] ?? 0;
      this.keys[at] = this.keys[below] ?? 0;
      at = below;
    }
    this.nodes[at] = node;
    this.keys[at] = key;
    return first;
  }
}

function taskOf(grid: Grid): MasterWorkerTask<number, number> {
  let found = false;
  return {
    workers,
    work(start, more) {
      if (start === 0) found = false;
      const open = new Frontier();
      open.push(start, grid.distance(start));
      let visited = 0;
      while (!found && open.size > 0 && visited < threshold) {
        const node = open.pop() ?? 0;
        visited += 1;
        if (node === grid.target) found = true;
        else grid.expand(node, (neighbour) => open.push(neighbour, grid.distance(neighbour)));
      }
      if (!found) for (const node of open.rest) more(node);
      return visited;
    },
    collect(visited) {
      grid.visited += visited;
    },
  };
}

function outcomeOf(grid: Grid, items: number): Outcome {
  // The search is speculative: the number of visited nodes depends on the order, so work items are counted.
  return { attempted: items, completed: grid.visited > 0 ? items : 0, oracle: grid.hasPath };
}

const sizeOf = (scale: number): number => Math.max(4, Math.round(30 * Math.cbrt(scale)));

/** A* search in a cube of nodes, in work items of at most 1,024 steps. */
export const astar: Workload = {
  name: 'astar',
  unit: 'work items',
  note: 'speculative: the number of work items depends on the message order of the system; the adapter has no priorities',
  prepare(system, scale) {
    const grid = new Grid(sizeOf(scale));
    const run = masterWorker(system, taskOf(grid));
    return async () => {
      grid.reset();
      return outcomeOf(grid, await run([0]));
    };
  },
  plain(scale) {
    const grid = new Grid(sizeOf(scale));
    const task = taskOf(grid);
    return () => {
      grid.reset();
      return outcomeOf(grid, runWithoutActors(task, [0]));
    };
  },
};
