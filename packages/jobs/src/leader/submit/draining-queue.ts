import { ALL_QUEUES, queueOf } from '../../job/queue-control.js';
import type { LeaderParts } from '../leader-context.js';

/** The queue that takes no submit of these jobs, because an operator drains it; undefined: there is none. */
export function drainingQueue(
  { ledger }: LeaderParts<'ledger'>,
  policy: { readonly group: string; readonly exec: string },
): string | undefined {
  const { queueControls } = ledger;
  if (queueControls.size === 0) return undefined;
  return [ALL_QUEUES, queueOf(policy)].find((queue) => queueControls.get(queue)?.mode === 'draining');
}
