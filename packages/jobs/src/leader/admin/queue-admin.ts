import {
  ALL_QUEUES,
  limitsProblem,
  type QueueLimits,
  type QueueMode,
  queueNameOf,
  queueOf,
} from '../../job/queue-control.js';
import type { AdminAnswer, QueueView } from '../../protocol/client/admin-messages.js';
import type { ForPrincipal } from '../../protocol/client/for-principal.js';
import type { LeaderParts } from '../leader-context.js';
import type { ClientSession } from '../sessions/client-session.js';

/** Queues for which operators may set something. */
const CONTROLS_MAX = 1_024;

type Change = ForPrincipal & ({ readonly limits: QueueLimits } | { readonly mode: QueueMode });

/** Queues as operators see and change them. A change is a record; a bad one is refused before that. */
export class QueueAdmin {
  private readonly context: LeaderParts<'ledger' | 'queues' | 'recordTime' | 'stage'>;

  constructor(context: QueueAdmin['context']) {
    this.context = context;
  }

  /** The queues that this client may see. */
  list(session: ClientSession): AdminAnswer {
    const names = new Set<string>();
    for (const queue of this.context.queues.queuesOf(ALL_QUEUES)) names.add(queueOf(queue));
    for (const { queue } of this.context.ledger.queueControls.values()) names.add(queue);
    const queues = [...names]
      .filter((name) => session.permitsQueue('observe', name))
      .sort()
      .map((name) => this.view(name));
    return { kind: 'queues', queues };
  }

  /** Stages the record of a change. An answer: there is none, for this reason. */
  change(session: ClientSession, call: number, given: string, change: Change): AdminAnswer | undefined {
    const { queueControls } = this.context.ledger;
    const queue = queueNameOf(given);
    if (queue === undefined)
      return {
        kind: 'refused',
        code: 'ERR_QUEUE_INVALID',
        problem: `'${given}' is not an exec, group/exec or ${ALL_QUEUES}`,
      };
    if (!session.permitsQueue('admin', queue))
      return { kind: 'forbidden', needed: `admin on ${adminSubject(queue)}` };
    const problem = 'limits' in change ? limitsProblem(change.limits, queue) : undefined;
    if (problem !== undefined) return { kind: 'refused', code: 'ERR_QUEUE_INVALID', problem };
    if (queueControls.get(queue) === undefined && queueControls.size >= CONTROLS_MAX)
      return {
        kind: 'refused',
        code: 'ERR_QUEUES_FULL',
        problem: `limits and modes are set for ${queueControls.size} queues, the most`,
      };
    const record = { at: this.context.recordTime, queue, by: session.authorOf(change) };
    if ('limits' in change)
      this.context.stage({ type: 'queue_limits', ...record, limits: change.limits }, session, call);
    else this.context.stage({ type: 'queue_mode', ...record, mode: change.mode }, session, call);
    return undefined;
  }

  view(name: string): QueueView {
    const { queues, ledger } = this.context;
    const { mode = 'open', limits = {}, changedAt = 0, by = '' } = ledger.queueControls.get(name) ?? {};
    const behindKeys = queues.orderGates.waitingIn(name);
    let waiting = behindKeys;
    let running = 0;
    for (const queue of queues.queuesOf(name)) {
      waiting += queue.size;
      running += queue.running;
    }
    return { queue: name, mode, limits, changedAt, by, waiting, behindKeys, running };
  }
}

/** The subject of the rule that allows to change a queue. */
function adminSubject(queue: string): string {
  return queue === ALL_QUEUES ? 'leader.admin' : `job.admin.${queue.split('/')[0]}`;
}
