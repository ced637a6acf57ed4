import { describeTreeNode } from './describe-tree-node.js';
import type { SupervisorSpec, TreeNode } from './tree-spec.js';
import { walkTree } from './walk-tree.js';

/** The tree as text, one line per place. */
export function printTree(tree: SupervisorSpec): string {
  walkTree(tree);
  return linesOf(tree, '', '').join('\n');
}

/** `first` stands before the node's own line, `further` before those of its children. */
function linesOf(node: TreeNode, first: string, further: string): string[] {
  const own = `${first}${node.name}: ${Object.values(describeTreeNode(node)).join(', ')}`;
  const children = node.kind === 'supervisor' ? node.children : [];
  return [
    own,
    ...children.flatMap((below, at) => {
      const last = at === children.length - 1;
      return linesOf(below, `${further}${last ? '└─ ' : '├─ '}`, `${further}${last ? '   ' : '│  '}`);
    }),
  ];
}
