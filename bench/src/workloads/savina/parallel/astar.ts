import { SeededRandom } from '@troupe/core/testing';
import type { Outcome, Workload } from '../../workload.js';
import { assembleCrew, type Crew, workAlone } from '../master-worker.js';

const workers = 20;
const threshold = 1_024;
const seed = 123_456;

/** A cube of nodes; edges lead only towards the far corner, some are missing. */
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
    // Seven neighbours are ahead of a node; the diagonal one is always there, so that a path exists.
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

  /** Calls back for each neighbour that nobody has reached yet. */
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

  /** Whether the parents lead from the target back to the origin. */
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

/** The open node nearest to the target first: a binary heap. */
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

function crewFor(grid: Grid): Crew<number, number> {
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
  // The search is speculative: how much is visited depends on the order, so work items are what is counted.
  return { attempted: items, completed: grid.visited > 0 ? items : 0, oracle: grid.hasPath };
}

const sizeOf = (scale: number): number => Math.max(4, Math.round(30 * Math.cbrt(scale)));

/** A guided search through a cube of nodes, cut into pieces of at most a thousand steps. */
export const astar: Workload = {
  name: 'astar',
  unit: 'work items',
  note: 'speculative: the number of work items depends on the system’s order; the adapter has no priorities',
  prepare(system, scale) {
    const grid = new Grid(sizeOf(scale));
    const run = assembleCrew(system, crewFor(grid));
    return async () => {
      grid.reset();
      return outcomeOf(grid, await run([0]));
    };
  },
  plain(scale) {
    const grid = new Grid(sizeOf(scale));
    const crew = crewFor(grid);
    return () => {
      grid.reset();
      return outcomeOf(grid, workAlone(crew, [0]));
    };
  },
};
