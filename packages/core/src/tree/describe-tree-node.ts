import {
  type Backoff,
  RESTARTS_DEFAULT,
  type SupervisionPolicy,
  WITHIN_MS_DEFAULT,
} from '../define/supervision-policy.js';
import { nameOfRouting } from '../routing/routing-option.js';
import type { TreeNode } from './tree-spec.js';

/** A place in a tree without its name and the places below it: one entry per property. */
export type NodeDescription = Readonly<Record<string, string>>;

export function describeTreeNode(node: TreeNode): NodeDescription {
  const place = { restart: node.restart, ...(node.significant ? { significant: 'significant' } : {}) };
  switch (node.kind) {
    case 'child':
      return { kind: `child ${node.definition.name}`, ...place };
    case 'pool': {
      const { size, routing = 'round-robin', restart = 'permanent', supervise = {} } = node.options;
      const kind = `pool of ${size} ${node.definition.name}`;
      return { kind, routing: nameOfRouting(routing), restart, ...describePolicy(supervise) };
    }
    case 'supervisor':
      return { kind: 'supervisor', ...describePolicy(node.policy), ...place };
    default:
      return node satisfies never;
  }
}

function describePolicy(policy: SupervisionPolicy): NodeDescription {
  const { restarts = RESTARTS_DEFAULT, withinMs = WITHIN_MS_DEFAULT, restartsTotal, backoff } = policy;
  return {
    strategy: policy.strategy ?? 'one-for-one',
    limit: `${restarts} restarts in ${withinMs} ms`,
    ...(restartsTotal === undefined ? {} : { total: `${restartsTotal} of all children` }),
    ...(backoff === undefined ? {} : { backoff: textOfBackoff(backoff) }),
    ...(policy.decide === undefined ? {} : { decide: 'by a function' }),
  };
}

function textOfBackoff({ fromMs, toMs, jitter = 0 }: Backoff): string {
  return `back-off ${fromMs} to ${toMs} ms${jitter > 0 ? ` ± ${Math.round(100 * jitter)} %` : ''}`;
}
