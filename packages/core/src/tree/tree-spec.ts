import { isLegalName, NAME_RULE } from '../actor-name-rule.js';
import type { AnyDefinition, SpawnParameters } from '../define/actor-definition.js';
import { POLICY_OPTIONS, type RestartType, type SupervisionPolicy } from '../define/supervision-policy.js';
import { TreeError } from '../errors/error-classes.js';
import { anything, checkOptions } from '../option-check.js';
import { checkPoolOptions, type PoolOptions } from '../routing/pool.js';

export interface ChildOptions {
  /** Unique among its siblings. Default: the name of the definition. */
  readonly name?: string | undefined;
  /** Whether its supervisor starts it again when it ends. Default `transient`. */
  readonly restart?: RestartType | undefined;
  /** When it ends for good, its supervisor ends too. Default false. */
  readonly significant?: boolean | undefined;
  /** The thread on which it runs, as for `spawn`. Default: that of its supervisor. */
  readonly on?: string | undefined;
}

export interface SupervisorOptions extends SupervisionPolicy {
  /** Whether its parent starts it again when it ends. Default `transient`. */
  readonly restart?: RestartType | undefined;
  /** When it ends for good, its own supervisor ends too. Default false. */
  readonly significant?: boolean | undefined;
}

/** The settings that all nodes of a tree have. */
export interface NodeSettings {
  readonly name: string;
  readonly restart: RestartType;
  readonly significant: boolean;
}

export interface ChildSpec<D extends AnyDefinition = AnyDefinition> extends NodeSettings {
  readonly kind: 'child';
  readonly definition: D;
  readonly args: unknown;
  readonly on?: string | undefined;
}

export interface PoolSpec<D extends AnyDefinition = AnyDefinition> extends NodeSettings {
  readonly kind: 'pool';
  readonly definition: D;
  readonly options: PoolOptions<D>;
}

/** D: all definitions below it, so that a lookup of a missing one does not compile. */
export interface SupervisorSpec<D extends AnyDefinition = AnyDefinition> extends NodeSettings {
  readonly kind: 'supervisor';
  readonly policy: SupervisionPolicy;
  readonly children: readonly TreeNode[];
  /** Type carrier: never present at run time. */
  readonly '~definitions'?: D;
}

export type TreeNode = ChildSpec | PoolSpec | SupervisorSpec;

/** The definitions of the actors in a tree. */
export type DefinitionsIn<N> =
  N extends ChildSpec<infer D>
    ? D
    : N extends PoolSpec<infer D>
      ? D
      : N extends { readonly kind: 'supervisor'; readonly '~definitions'?: infer D }
        ? Extract<D, AnyDefinition>
        : never;

/** The values are checked when the tree is started. */
const SUPERVISOR_RULES = {
  restart: anything,
  significant: anything,
  ...Object.fromEntries(POLICY_OPTIONS.map((option) => [option, anything])),
};
const CHILD_RULES = {
  args: anything,
  name: anything,
  restart: anything,
  significant: anything,
  on: anything,
};

/** An actor at a place in the tree. */
export function child<D extends AnyDefinition>(
  definition: D,
  ...[options]: SpawnParameters<D, ChildOptions>
): ChildSpec<D> {
  checkOptions('child', options ?? {}, CHILD_RULES);
  const place = placeOf(options ?? {}, definition.name, 'transient');
  const on = options?.on === undefined ? {} : { on: options.on };
  return Object.freeze({ kind: 'child', definition, args: options?.args, ...on, ...place });
}

/**
 * Several actors of one definition behind one ref. Its `restart` is that of its routees, `permanent` by
 * default.
 */
export function pool<D extends AnyDefinition>(definition: D, options: PoolOptions<D>): PoolSpec<D> {
  checkPoolOptions(options);
  const place = placeOf({ name: options.name ?? definition.name }, definition.name, 'transient');
  return Object.freeze({ kind: 'pool', definition, options, ...place });
}

/** A supervisor and its children in start order. Nothing runs yet: the tree is data. */
export function supervisor<const C extends readonly TreeNode[]>(
  name: string,
  options: SupervisorOptions,
  children: C,
): SupervisorSpec<DefinitionsIn<C[number]>> {
  checkOptions('supervisor', options, SUPERVISOR_RULES);
  const { restart, significant, ...policy } = options;
  const place = placeOf({ name, restart, significant }, name, 'transient');
  const taken = new Set<string>();
  for (const node of children) {
    if (taken.has(node.name)) throw new TreeError(`${name}/${node.name}`, 'two siblings have this name');
    taken.add(node.name);
  }
  return Object.freeze({ kind: 'supervisor', policy, children: Object.freeze([...children]), ...place });
}

function placeOf(options: ChildOptions, name: string, restart: RestartType): NodeSettings {
  const place = {
    name: options.name ?? name,
    restart: options.restart ?? restart,
    significant: options.significant ?? false,
  };
  if (!isLegalName(place.name))
    throw new TreeError(String(place.name).slice(0, 200), `the name is not legal: needed ${NAME_RULE}`);
  return place;
}
