import { describeNode } from './describe-node.js';
import type { SupervisorSpec, TreeNode } from './tree-spec.js';
import { type Visited, walkTree } from './walk-tree.js';

/** One difference between two trees. Paths are names from the root's down. */
export type TreeChange =
  | { readonly kind: 'added'; readonly path: string; readonly what: string }
  | { readonly kind: 'removed'; readonly path: string; readonly what: string }
  | {
      readonly kind: 'changed';
      readonly path: string;
      readonly property: string;
      readonly before: string | undefined;
      readonly after: string | undefined;
    }
  /** The order of siblings decides which restart together, and which stops first. */
  | {
      readonly kind: 'reordered';
      readonly path: string;
      readonly before: readonly string[];
      readonly after: readonly string[];
    };

/** The changes from `before` to `after`. Arguments and functions are not compared. */
export function diffTrees(before: SupervisorSpec, after: SupervisorSpec): readonly TreeChange[] {
  const old = byPath(walkTree(before));
  const now = byPath(walkTree(after));
  const removed = [...old].flatMap(([path, node]) =>
    now.has(path) ? [] : [{ kind: 'removed' as const, path, what: what(node) }],
  );
  const others = [...now].flatMap(([path, node]): readonly TreeChange[] => {
    const known = old.get(path);
    if (known === undefined) return [{ kind: 'added', path, what: what(node) }];
    return [...changesOf(path, known, node), ...reorderOf(path, known, node)];
  });
  return [...removed, ...others];
}

function byPath(visited: readonly Visited[]): Map<string, TreeNode> {
  return new Map(visited.map(({ path, node }) => [path, node]));
}

function what(node: TreeNode): string {
  return Object.values(describeNode(node)).join(', ');
}

function changesOf(path: string, before: TreeNode, after: TreeNode): readonly TreeChange[] {
  const [old, now] = [describeNode(before), describeNode(after)];
  const properties = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  return properties
    .filter((property) => old[property] !== now[property])
    .map((property) => ({ kind: 'changed', path, property, before: old[property], after: now[property] }));
}

/** Only siblings that both trees have; others are added or removed. */
function reorderOf(path: string, before: TreeNode, after: TreeNode): readonly TreeChange[] {
  if (before.kind !== 'supervisor' || after.kind !== 'supervisor') return [];
  const names = (node: typeof before, other: typeof before): string[] =>
    node.children
      .map(({ name }) => name)
      .filter((name) => other.children.some((known) => known.name === name));
  const [old, now] = [names(before, after), names(after, before)];
  return old.join('/') === now.join('/') ? [] : [{ kind: 'reordered', path, before: old, after: now }];
}
