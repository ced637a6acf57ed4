import { isLegalName, NAME_RULE } from '../actor-name-rule.js';
import { TreeError } from '../errors/error-classes.js';
import type { SupervisorSpec, TreeNode } from './tree-spec.js';

const DEPTH_MAX = 1_000;

export interface Visited {
  readonly node: TreeNode;
  /** Names from the root's to its own, with slashes between. */
  readonly path: string;
  readonly depth: number;
}

/** Every place of the tree, a supervisor before its children. Refuses data that could not be a tree. */
export function walkTree(tree: SupervisorSpec): Visited[] {
  const visited: Visited[] = [];
  const above = new Set<TreeNode>();
  const visit = (node: TreeNode, path: string, depth: number): void => {
    checkNode(node, path);
    if (above.has(node)) throw new TreeError(path, 'is its own ancestor: a tree cannot have circles');
    if (depth > DEPTH_MAX) throw new TreeError(path, `is deeper than ${DEPTH_MAX} levels`);
    visited.push({ node, path, depth });
    if (node.kind !== 'supervisor') return;
    above.add(node);
    const taken = new Set<string>();
    for (const below of node.children) {
      const place = `${path}/${String(below?.name)}`;
      if (taken.has(below?.name)) throw new TreeError(place, 'two siblings have this name');
      taken.add(below?.name);
      visit(below, place, depth + 1);
    }
    above.delete(node);
  };
  visit(tree, String(tree?.name), 0);
  return visited;
}

function checkNode(node: TreeNode, path: string): void {
  if (typeof node !== 'object' || node === null || !['child', 'pool', 'supervisor'].includes(node.kind))
    throw new TreeError(path, 'needed a child(…), pool(…) or supervisor(…)');
  if (!isLegalName(node.name)) throw new TreeError(path, `the name is not legal: needed ${NAME_RULE}`);
  if (node.kind === 'supervisor' ? !Array.isArray(node.children) : !('~spec' in (node.definition ?? {})))
    throw new TreeError(
      path,
      `a ${node.kind} without ${node.kind === 'supervisor' ? 'a list of children' : 'a definition'}`,
    );
}
