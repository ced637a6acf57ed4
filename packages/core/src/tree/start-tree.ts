import type { ActorCell } from '../actor/actor-cell.js';
import type { AnyDefinition } from '../define/actor-definition.js';
import { defineActor } from '../define/define-actor.js';
import { checkSpawnOptions, type SpawnOptionsWithArgs } from '../define/spawn-options.js';
import { supervisionPolicy } from '../define/supervision-policy.js';
import { TreeError } from '../errors/error-classes.js';
import { checkOption } from '../option-check.js';
import type { ActorRef, AnyRef } from '../ref/actor-ref.js';
import type { CellRef } from '../ref/cell-ref.js';
import { checkPool } from '../routing/pool.js';
import { PoolState } from '../routing/pool-state.js';
import type { PoolRef } from '../routing/router-ref.js';
import type { ChildSpec, PoolSpec, SupervisorSpec, TreeNode } from './tree-spec.js';
import { walkTree } from './walk-tree.js';

/** A started tree. Its refs stay valid as long as the tree runs, over all restarts. */
export interface RunningTree<D extends AnyDefinition = AnyDefinition> {
  /** The tree as it was declared. */
  readonly spec: SupervisorSpec<D>;
  /** The supervisor at the root: stop it to stop the tree. */
  readonly ref: AnyRef;
  /** The child of that definition; `path` chooses among several: `jobs/wal`. */
  get<K extends D>(definition: K, path?: string): ActorRef<K>;
  /** The pool of that definition; `path` as of `get`. */
  pool<K extends D>(definition: K, path?: string): PoolRef<K>;
}

/** Starts the tree under an actor: every supervisor before its children, siblings in order. */
export function startTree<D extends AnyDefinition>(
  parent: ActorCell,
  tree: SupervisorSpec<D>,
): RunningTree<D> {
  for (const { node } of walkTree(tree)) checkOptions(node);
  const branch = new Branch(tree);
  const root = parent.type.runtime.spawner.spawn(parent, Supervisor, branch.options());
  fillOrKill(branch, root);
  return new Running(tree, root.ref, branch) as unknown as RunningTree<D>;
}

function checkOptions(node: TreeNode): void {
  const { restart, significant } = node;
  checkSpawnOptions({ restart, significant });
  if (node.kind === 'supervisor') checkOption('supervise', node.policy, supervisionPolicy);
  if (node.kind === 'pool') checkPool(node.definition, node.options);
}

/** A tree that cannot be filled is killed. */
function fillOrKill(branch: Branch, root: ActorCell): void {
  try {
    branch.fill(root);
  } catch (error) {
    root.markReleased();
    root.requestKill();
    throw error;
  }
}

/** Its children are started with it; when it is restarted, they are started again under the refs they had. */
const Supervisor = defineActor('supervisor', {
  state: (branch: Branch) => branch,
  handlers: {},
  started: (ctx) => ctx.state.fill(ctx as unknown as ActorCell),
});

/**
 * A supervisor of the tree and the actors at the places below it, over all its restarts. User code runs when
 * it is made, before any actor is started: the arguments of pools.
 */
class Branch {
  readonly spec: SupervisorSpec;
  readonly refs = new Map<TreeNode, CellRef>();
  readonly branches = new Map<TreeNode, Branch>();
  readonly pools = new Map<TreeNode, PoolState>();
  /** The last incarnation that was filled. */
  private filled: unknown = undefined;

  constructor(spec: SupervisorSpec) {
    this.spec = spec;
    for (const node of spec.children) {
      if (node.kind === 'supervisor') this.branches.set(node, new Branch(node));
      if (node.kind === 'pool')
        this.pools.set(node, new PoolState(node.definition, { ...node.options, name: node.name }));
    }
  }

  options(): SpawnOptionsWithArgs {
    const { name, restart, significant, policy } = this.spec;
    return { args: this, name, restart, significant, supervise: policy };
  }

  fill(cell: ActorCell): void {
    if (this.filled === cell) return;
    this.filled = cell;
    for (const node of this.spec.children) this.refs.set(node, this.start(cell, node));
  }

  private start(parent: ActorCell, node: TreeNode): CellRef {
    switch (node.kind) {
      case 'child':
        return this.startChild(parent, node);
      case 'pool':
        return this.startPool(parent, node);
      case 'supervisor':
        return this.startBranch(parent, node);
      default:
        return node satisfies never;
    }
  }

  private startChild(parent: ActorCell, node: ChildSpec): CellRef {
    const { name, restart, significant, definition, args, on } = node;
    const options = { args, name, restart, significant, on };
    return parent.type.runtime.spawner.spawn(parent, definition, options, this.refs.get(node)).ref;
  }

  /** The ref of a pool is its router; behind it is the pool's supervisor. */
  private startPool(parent: ActorCell, node: PoolSpec): CellRef {
    const pool = this.pools.get(node) as PoolState;
    return pool.open(
      parent.type.runtime.spawner.spawn(
        parent,
        pool.supervisor,
        pool.supervisorOptions(),
        pool.supervisorRef,
      ),
    );
  }

  private startBranch(parent: ActorCell, node: SupervisorSpec): CellRef {
    const branch = this.branches.get(node) as Branch;
    const cell = parent.type.runtime.spawner.spawn(parent, Supervisor, branch.options(), this.refs.get(node));
    branch.fill(cell);
    return cell.ref;
  }

  /** All places below, with their paths from the root. */
  *places(
    path: string,
  ): Generator<{ readonly path: string; readonly node: TreeNode; readonly ref: CellRef }> {
    for (const [node, ref] of this.refs) {
      const place = `${path}/${node.name}`;
      yield { path: place, node, ref };
      const branch = this.branches.get(node);
      if (branch !== undefined) yield* branch.places(place);
    }
  }
}

class Running {
  readonly spec: SupervisorSpec;
  readonly ref: AnyRef;
  private readonly branch: Branch;

  constructor(spec: SupervisorSpec, ref: AnyRef, branch: Branch) {
    this.spec = spec;
    this.ref = ref;
    this.branch = branch;
  }

  get(definition: AnyDefinition, path?: string): CellRef {
    return this.find('child', definition, path);
  }

  pool(definition: AnyDefinition, path?: string): CellRef {
    return this.find('pool', definition, path);
  }

  private find(kind: 'child' | 'pool', definition: AnyDefinition, path: string | undefined): CellRef {
    const found = [...this.branch.places(this.spec.name)].filter(
      ({ node, path: place }) =>
        node.kind === kind && node.definition === definition && (path === undefined || isAt(place, path)),
    );
    const [first, second] = found;
    const wanted = `${kind} ${definition.name}${path === undefined ? '' : ` at ${path}`}`;
    if (first === undefined) throw new TreeError(this.spec.name, `there is no ${wanted}`);
    if (second !== undefined)
      throw new TreeError(this.spec.name, `${wanted} could be ${found.map((one) => one.path).join(' or ')}`);
    return first.ref;
  }
}

/** `wal` and `jobs/wal` both name `app/jobs/wal`; the whole path always does. */
function isAt(place: string, path: string): boolean {
  return place === path || place.endsWith(`/${path}`);
}
