// Hot path: one look-up for every job.

import { ALL_QUEUES, queueOf } from '../../job/queue-control.js';
import { ExecQueue, type QueueName } from './exec-queue.js';
import type { QueueGates } from './limits/queue-gates.js';

/** The queues, by group, then by exec and all that its jobs need. */
export class ExecQueues {
  private readonly groups = new Map<string, Map<string, ExecQueue>>();
  private readonly gates: Pick<QueueGates, 'of'>;
  private count = 0;
  private lastName: QueueName | undefined = undefined;
  private lastQueue: ExecQueue | undefined = undefined;

  constructor(gates: Pick<QueueGates, 'of'>) {
    this.gates = gates;
  }

  /** Empty ones included. */
  get size(): number {
    return this.count;
  }

  *values(): Generator<ExecQueue, void, void> {
    for (const queues of this.groups.values()) yield* queues.values();
  }

  /** All queues, or the ones of a `group/exec`. */
  named(name: string): readonly ExecQueue[] {
    const [group = '', exec = ''] = name.split('/');
    const queues: ExecQueue[] = [];
    for (const [inGroup, byVariant] of this.groups) {
      if (name !== ALL_QUEUES && inGroup !== group) continue;
      for (const queue of byVariant.values())
        if (name === ALL_QUEUES || queue.exec === exec) queues.push(queue);
    }
    return queues;
  }

  find(name: QueueName): ExecQueue | undefined {
    return this.groups.get(name.group)?.get(name.variant ?? name.exec);
  }

  /** Makes it where there is none. Jobs mostly come and end in runs of one policy. */
  get(name: QueueName): ExecQueue {
    if (name === this.lastName) return this.lastQueue as ExecQueue;
    const queue = this.find(name) ?? this.make(name);
    this.lastName = name;
    this.lastQueue = queue;
    return queue;
  }

  remove({ group, variant }: ExecQueue): void {
    const queues = this.groups.get(group);
    queues?.delete(variant);
    if (queues?.size === 0) this.groups.delete(group);
    this.count -= 1;
    this.lastName = undefined;
  }

  private make(name: QueueName): ExecQueue {
    const queue = new ExecQueue(name);
    this.count += 1;
    queue.gate = this.gates.of(queueOf(queue));
    const queues = this.groups.get(name.group);
    if (queues === undefined) this.groups.set(name.group, new Map([[queue.variant, queue]]));
    else queues.set(queue.variant, queue);
    return queue;
  }
}
