import { SeededRandom } from '@troupe/core/testing';
import type { Ref } from '../../../adapters/actor-system.js';
import { Deferred } from '../../deferred.js';
import { type Outcome, scaled, type Workload } from '../../workload.js';
import { busyWork } from '../busy-work.js';

const averageSteps = 500;
const deviation = 100;
const branching = 10;
const urgentPercent = 50;

/** The arguments of a node, chosen by the root. */
interface NodeArgs {
  readonly parent: Ref | undefined;
  readonly height: number;
  readonly steps: number;
  readonly urgent: boolean;
  readonly seed: number;
}

/** Limits the number of nodes and decides at random which of them branch. */
class Growth {
  private readonly max: number;
  private readonly random = new SeededRandom(17);
  size = 1;

  constructor(max: number) {
    this.max = max;
  }

  /**
   * A node below the top levels has ten children or none with equal probability, up to the limit of nodes.
   */
  mayBranch(height: number): boolean {
    if (this.size + branching > this.max) return false;
    if (height > 2 && this.random.below(2) === 0) return false;
    this.size += branching;
    return true;
  }

  nodeArgs(parent: Ref | undefined, height: number): NodeArgs {
    const random = this.random;
    const steps = Math.max(1, averageSteps + Math.round((random.next() + random.next() - 1) * deviation));
    return { parent, height, steps, urgent: random.below(100) < urgentPercent, seed: random.below(2 ** 31) };
  }
}

interface Tally {
  nodes: number;
  urgent: number;
}

interface Node extends NodeArgs {
  readonly children: Ref[];
  worked: number;
  waiting: number;
  readonly tally: Tally;
}

/** An unbalanced tree that grows at random and is then traversed. */
export const uct: Workload = {
  name: 'uct',
  unit: 'nodes',
  prepare(system, scale) {
    const max = scaled(200_000, scale, 1_000);
    const grow = system.tell('grow');
    const mayBranch = system.tell<{ from: Ref; height: number }>('mayBranch');
    const branch = system.tell<readonly NodeArgs[]>('branch');
    const leaf = system.tell('leaf');
    const count = system.tell('count');
    const counted = system.tell<Tally>('counted');
    let growth = new Growth(max);
    let open = 0;
    let grown = new Deferred();
    let tallied = new Deferred<Tally>();
    let root: Ref | undefined;
    const nodeGrown = (): void => {
      open -= 1;
      if (open === 0) grown.resolve();
    };
    const report = (node: Node): void => {
      if (node.parent === undefined) tallied.resolve(node.tally);
      else counted(node.parent, node.tally);
    };
    const Root = system.define({
      name: 'tree-root',
      state: () => ({ requests: 0 }),
      handlers: {
        mayBranch(ctx, { from, height }: { from: Ref; height: number }) {
          ctx.state.requests += 1;
          if (!growth.mayBranch(height)) {
            leaf(from);
            return;
          }
          const childArgs = Array.from({ length: branching }, () => growth.nodeArgs(from, height + 1));
          branch(from, childArgs);
        },
      },
    });
    const NodeActor = system.define({
      name: 'tree-node',
      state: (nodeArgs: NodeArgs): Node => ({
        ...nodeArgs,
        children: [],
        worked: 0,
        waiting: 0,
        tally: { nodes: 1, urgent: nodeArgs.urgent ? 1 : 0 },
      }),
      handlers: {
        grow(ctx) {
          const { state } = ctx;
          state.worked = busyWork(new SeededRandom(state.seed), state.steps);
          if (root !== undefined) mayBranch(root, { from: ctx.self, height: state.height });
        },
        branch(ctx, childArgs: readonly NodeArgs[]) {
          open += childArgs.length;
          for (const nodeArgs of childArgs) {
            const child = system.spawn(NodeActor, nodeArgs);
            ctx.state.children.push(child);
            grow(child);
          }
          nodeGrown();
        },
        leaf() {
          nodeGrown();
        },
        count(ctx) {
          const { state } = ctx;
          state.waiting = state.children.length;
          if (state.waiting === 0) {
            report(state);
            ctx.stop();
          } else for (const child of state.children) count(child);
        },
        counted(ctx, { nodes, urgent }: Tally) {
          const { state } = ctx;
          state.tally.nodes += nodes;
          state.tally.urgent += urgent;
          state.waiting -= 1;
          if (state.waiting > 0) return;
          report(state);
          ctx.stop();
        },
      },
    });
    return async (): Promise<Outcome> => {
      growth = new Growth(max);
      grown = new Deferred();
      tallied = new Deferred();
      open = 1;
      root = system.spawn(Root);
      const top = system.spawn(NodeActor, growth.nodeArgs(undefined, 0));
      grow(top);
      await grown.promise;
      count(top);
      const { nodes, urgent } = await tallied.promise;
      system.stop(root);
      const balanced = urgent > nodes * 0.4 && urgent < nodes * 0.6;
      return { attempted: growth.size, completed: nodes, oracle: balanced && nodes > max * 0.9 };
    };
  },
  plain(scale) {
    const max = scaled(200_000, scale, 1_000);
    return () => {
      const growth = new Growth(max);
      const nodes = [growth.nodeArgs(undefined, 0)];
      let worked = 0;
      for (let at = 0; at < nodes.length; at += 1) {
        const { seed, steps, height } = nodes[at] ?? growth.nodeArgs(undefined, 0);
        worked += busyWork(new SeededRandom(seed), steps);
        if (!growth.mayBranch(height)) continue;
        for (let child = 0; child < branching; child += 1) nodes.push(growth.nodeArgs(undefined, height + 1));
      }
      return {
        attempted: growth.size,
        completed: nodes.length,
        oracle: worked < 0 && nodes.length > max * 0.9,
      };
    };
  },
};
